import { SupervisedThread, type ThreadEnd } from '../lib/supervised-thread.ts'
import { CandleTapes, type FinishedTape } from '../simulator/market/recorded/candle-tape.ts'
import { withoutPlace } from '../lib/without-place.ts'
import { showDuration } from '../lib/text/show-duration.ts'
import { HEAP_MB_MAX, SEMI_SPACE_MB } from '../backtest/playing/watched-play.ts'
import type { TrialAnswer, TrialOrder } from './play-trial.ts'
import { inParallel } from '../lib/in-parallel.ts'
import type { Trial, TrialOutcome } from '../sweep/trial.ts'

export interface TrialTask {
  readonly order: TrialOrder
  readonly tapes: readonly FinishedTape[]
}

/**
 * The outcome as JSON, and drawn candles for later trials. `isClean`: the next trial sees nothing
 * of this one.
 */
export type TrialNews =
  | { readonly kind: 'outcome'; readonly text: string; readonly isClean: boolean }
  | { readonly kind: 'tape'; readonly tape: FinishedTape }

/** Each trial leaves its strategies' code behind, since Node forgets no module. */
const TRIALS_OF_THREAD_MAX = 100

/**
 * Threads share the candles that the first drew. A clean thread plays the next trial of its sweep:
 * compiling the program again takes a second and more.
 */
export class TrialPool {
  readonly #tapes = new CandleTapes()
  readonly #idle: TrialThread[] = []
  #started = 0

  /** The candles that trials have drawn and later ones read. */
  get tapes(): readonly FinishedTape[] {
    return this.#tapes.finished
  }

  get started(): number {
    return this.#started
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
    const trial = { order, limitMs, stop }
    const known = this.#takeIdle(sweepOf(order))
    const answer = known && (await this.#play(known, trial))
    // Earlier trials may cause a failure, so it is believed only of a fresh thread.
    const isBelieved = answer !== undefined && ('figures' in answer || 'isTimeOut' in answer)
    if (isBelieved || stop.aborted) return answer
    return this.#play(this.#start(sweepOf(order)), trial)
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((thread) => thread.end()))
  }

  #start(sweep: string): TrialThread {
    this.#started += 1
    return new TrialThread(sweep, (tape) => this.#tapes.add(tape))
  }

  /** A thread of another sweep could not read this one's files. */
  #takeIdle(sweep: string): TrialThread | undefined {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      if (thread.sweep === sweep && !thread.isEnding) return thread
      void thread.end()
    }
    return undefined
  }

  async #play(
    thread: TrialThread,
    { order, limitMs, stop }: PlayedTrial,
  ): Promise<TrialAnswer | undefined> {
    const abort = (): void => void thread.end()
    stop.addEventListener('abort', abort)
    const played = await thread.play({ order, tapes: this.#tapes.finished }, limitMs)
    stop.removeEventListener('abort', abort)
    if ('isClean' in played) {
      if (played.isClean && thread.played < TRIALS_OF_THREAD_MAX && !stop.aborted)
        this.#idle.push(thread)
      else void thread.end()
    } else if (played.kind === 'stopped') return undefined
    const answer =
      'isClean' in played ? (JSON.parse(played.text) as TrialAnswer) : describeEnd(played, limitMs)
    return 'failed' in answer ? withoutPlaces(answer) : answer
  }
}

interface PlayedTrial {
  readonly order: TrialOrder
  readonly limitMs: number
  readonly stop: AbortSignal
}

type TrialText = Extract<TrialNews, { kind: 'outcome' }>

/** Trials of a sweep differ by these options alone. */
function sweepOf({ options, ...order }: TrialOrder): string {
  const { param: _param, from: _from, to: _to, ...shared } = options
  return JSON.stringify([order, shared])
}

/** The thread plays the trials of one sweep, one at a time, until it is ended. */
class TrialThread {
  readonly sweep: string
  played = 0
  readonly #thread: SupervisedThread<TrialNews>
  #settle: (outcome: TrialText) => void = () => undefined

  constructor(sweep: string, onTape: (tape: FinishedTape) => void) {
    this.sweep = sweep
    this.#thread = new SupervisedThread<TrialNews>({
      file: './trial-thread',
      askedBy: import.meta.url,
      task: {},
      heapMb: HEAP_MB_MAX,
      semiSpaceMb: SEMI_SPACE_MB,
      onNews: (news) => (news.kind === 'tape' ? onTape(news.tape) : this.#settle(news)),
    })
  }

  get isEnding(): boolean {
    return this.#thread.isEnding
  }

  async play(task: TrialTask, limitMs: number): Promise<TrialText | ThreadEnd> {
    this.played += 1
    const outcome = new Promise<TrialText>((resolve) => {
      this.#settle = resolve
    })
    this.#thread.wait(limitMs)
    this.#thread.post(task)
    const first = await Promise.race([outcome, this.#thread.ended])
    this.#thread.wait(undefined)
    return first
  }

  end(): Promise<void> {
    return this.#thread.end()
  }
}

function describeEnd(end: ThreadEnd, limitMs: number): Extract<TrialAnswer, { failed: string }> {
  if (end.kind === 'late')
    return { failed: `not done after ${showDuration(limitMs)} (--trial-limit)`, isTimeOut: true }
  return { failed: end.kind === 'failed' ? end.error.message : 'the thread ended by itself' }
}

/** The table must not depend on the machine where a trial failed. */
function withoutPlaces<Failed extends { readonly failed: string }>(outcome: Failed): Failed {
  return { ...outcome, failed: withoutPlace(outcome.failed, process.cwd()) }
}

/** So many trials can run at a time. */
export interface TrialRound {
  readonly trials: readonly Trial[]
  readonly orderOf: (trial: Trial) => TrialOrder
  readonly hear: (trial: Trial, outcome: TrialOutcome) => void
  readonly stop: AbortSignal
}

export interface TrialRunner {
  /** Resolves when each was reported, or the round was ended. */
  run(round: TrialRound): Promise<void>
  /** Names the workers beside the progress; empty for this process. */
  describe(): string
  close(): Promise<void>
}

/**
 * @param jobs concurrent trials
 * @param limitMs real time of one
 */
export function runHere(jobs: number, limitMs: number): TrialRunner {
  const pool = new TrialPool()
  return {
    run: ({ trials, orderOf, hear, stop }) =>
      inParallel(trials, jobs, async (trial) => {
        if (stop.aborted) return
        const answer = await pool.run(orderOf(trial), limitMs, stop)
        if (answer === undefined) return
        hear(trial, 'refused' in answer ? { failed: answer.refused } : answer)
      }),
    describe: () => '',
    close: () => pool.close(),
  }
}
