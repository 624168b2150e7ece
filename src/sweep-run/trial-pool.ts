import { SupervisedThread, type ThreadEnd } from '../lib/supervised-thread.ts'
import { withoutPlace } from '../lib/without-place.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { HEAP_MB_MAX } from '../backtest/playing/watched-play.ts'
import type { TrialAnswer, TrialOrder } from './play-trial.ts'

/**
 * Never throws. @param limitMs real time of the whole trial
 * @param stop aborts it
 */
export async function runTrial(
  order: TrialOrder,
  limitMs: number,
  stop: AbortSignal,
): Promise<TrialAnswer | undefined> {
  let outcome: TrialAnswer | undefined
  const thread = new SupervisedThread<string>({
    file: './trial-thread',
    askedBy: import.meta.url,
    task: { order },
    heapMb: HEAP_MB_MAX,
    patienceMs: limitMs,
    onNews(text) {
      outcome = JSON.parse(text) as TrialAnswer
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

function describeEnd(end: ThreadEnd, limitMs: number): Extract<TrialAnswer, { failed: string }> {
  if (end.kind === 'late')
    return { failed: `not done after ${showDuration(limitMs)} (--trial-limit)`, isTimeOut: true }
  return { failed: end.kind === 'failed' ? end.error.message : 'the thread ended by itself' }
}

/** The table of a sweep must not depend on the machine where a trial failed. */
function withoutPlaces<Failed extends { readonly failed: string }>(outcome: Failed): Failed {
  return { ...outcome, failed: withoutPlace(outcome.failed, process.cwd()) }
}
