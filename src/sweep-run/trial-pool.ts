import { SupervisedThread, type ThreadEnd } from '../lib/supervised-thread.ts'
import { CandleTapes, type FinishedTape } from '../simulator/market/recorded/candle-tape.ts'
import { withoutPlace } from '../lib/without-place.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { HEAP_MB_MAX } from '../backtest/playing/watched-play.ts'
import type { TrialAnswer, TrialOrder } from './play-trial.ts'

export interface TrialTask {
  readonly order: TrialOrder
  readonly tapes: readonly FinishedTape[]
}

/** A trial's thread reports its outcome as JSON, and the candles that it has drawn, for later trials. */
export type TrialNews =
  | { readonly kind: 'outcome'; readonly text: string }
  | { readonly kind: 'tape'; readonly tape: FinishedTape }

/** Runs trials in threads that share the candles which the first of them have drawn. */
export class TrialPool {
  readonly #tapes = new CandleTapes()

  /** The candles that trials have drawn and later ones read. */
  get tapes(): readonly FinishedTape[] {
    return this.#tapes.finished
  }

  /**
   * Never throws. @param limitMs real time of the whole trial
   * @param stop aborts it
   */
  async run(
    order: TrialOrder,
    limitMs: number,
    stop: AbortSignal,
  ): Promise<TrialAnswer | undefined> {
    let outcome: TrialAnswer | undefined
    const task: TrialTask = { order, tapes: this.#tapes.finished }
    const thread = new SupervisedThread<TrialNews>({
      file: './trial-thread',
      askedBy: import.meta.url,
      task,
      heapMb: HEAP_MB_MAX,
      patienceMs: limitMs,
      onNews: (news) => {
        if (news.kind === 'tape') this.#tapes.add(news.tape)
        else outcome = JSON.parse(news.text) as TrialAnswer
      },
    })
    const abort = (): void => void thread.end()
    stop.addEventListener('abort', abort)
    const end = await thread.ended
    stop.removeEventListener('abort', abort)
    if (end.kind === 'stopped') return undefined
    const answer = outcome ?? describeEnd(end, limitMs)
    return 'failed' in answer ? withoutPlaces(answer) : answer
  }
}

function describeEnd(end: ThreadEnd, limitMs: number): Extract<TrialAnswer, { failed: string }> {
  if (end.kind === 'late')
    return { failed: `not done after ${showDuration(limitMs)} (--trial-limit)`, isTimeOut: true }
  return { failed: end.kind === 'failed' ? end.error.message : 'the thread ended by itself' }
}

/** The table of a sweep must not depend on the machine where a trial failed. */
function withoutPlaces<Failed extends { readonly failed: string }>(outcome: Failed): Failed {
  return { ...outcome, failed: withoutPlace(outcome.failed, process.cwd()) }
}
