import type { StrategyId } from '../../domain/ids.ts'
import { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { Patience, SupervisedThread } from '../../lib/supervised-thread.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { WatchedLoop } from '../../lib/poller.ts'

const BEAT_MS = 250
const END_MS = 2000
const CHECKS = 10

export interface WatchdogOptions extends Pick<WatchdogData, 'strategies' | 'logName' | 'noteFile'> {
  /** A longer standstill ends the process; zero: it never does. */
  readonly hungAfterMs: number
  readonly requestTimeoutMs: number
  readonly stopTimeoutMs: number
  readonly logger: Pick<DaemonLogger, 'log' | 'descriptor'>
  readonly timers: Timers
}

/** @param strategyId the strategy that runs from now on; undefined: none */
export type StrategyWatch = (strategyId: StrategyId | undefined) => void

export interface WatchedLoops {
  readonly loops: readonly WatchedLoop[]
  readonly onHung: (failure: Failure) => void
  /** Called if the run does not end in time, because it waits for the loop that hangs. */
  readonly onGivenUp: (failure: Failure) => void
}

/**
 * Ends the process if its event loop is stuck (SIGABRT) or another loop hangs (exit code of
 * LOOP_HUNG). The supervisor starts it again.
 */
export class Watchdog {
  readonly #view = new Int32Array(new SharedArrayBuffer(8))
  readonly #options: WatchdogOptions
  #thread: SupervisedThread | undefined
  #isStopped = false
  #cancel = (): void => undefined

  constructor(options: WatchdogOptions) {
    this.#options = options
  }

  start(watched: WatchedLoops): void {
    const { hungAfterMs, requestTimeoutMs, strategies, logName, noteFile } = this.#options
    const { descriptor } = this.#options.logger
    if (hungAfterMs === 0) return
    const task: WatchdogData = {
      shared: this.#view.buffer,
      strategies,
      descriptor,
      logName,
      noteFile,
      checkMs: Math.ceil(hungAfterMs / CHECKS),
      checksMax: CHECKS,
    }
    // If the thread cannot start, such as for lack of memory, the process trades unwatched.
    this.#thread = new SupervisedThread({
      file: './watchdog-thread',
      askedBy: import.meta.url,
      task,
      heapMb: 16,
      youngHeapMb: 2,
      isBackground: true,
    })
    const { loops } = watched
    const deadlines = new LoopDeadlines({ loops, hungAfterMs, requestTimeoutMs, stepMs: BEAT_MS })
    this.#beat(deadlines, watched)
  }

  /** @param before strategies of the accounts before this one, which has `ids` */
  watchOf(ids: readonly StrategyId[], before: number): StrategyWatch {
    return (id) => {
      this.#view[RUNNING] = id === undefined ? 0 : before + 1 + ids.indexOf(id)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#thread?.end()
  }

  #beat(deadlines: LoopDeadlines | undefined, watched: WatchedLoops): void {
    if (this.#isStopped) return
    Atomics.add(this.#view, BEAT, 1)
    const hung = deadlines?.check()
    if (hung !== undefined) this.#endRun(hung, watched)
    this.#options.timers.after(BEAT_MS, () => this.#beat(hung ? undefined : deadlines, watched))
  }

  #endRun(hung: HungLoop, { onHung, onGivenUp }: WatchedLoops): void {
    const { logger, timers, stopTimeoutMs } = this.#options
    const failure = new Failure({
      code: 'LOOP_HUNG',
      sentence: 'a loop of the daemon hangs',
      facts: { ...hung },
      hint: 'the next start recovers; report the defect, with the log before it',
    })
    logger.log('fatal', 'loop.hung', { loop: hung.loop, hungMs: hung.hungMs })
    this.#cancel = timers.after(stopTimeoutMs + END_MS, () => onGivenUp(failure))
    onHung(failure)
  }
}

interface HungLoop {
  readonly loop: string
  readonly hungMs: number
}

interface LoopDeadlinesOptions {
  readonly loops: readonly WatchedLoop[]
  readonly hungAfterMs: number
  readonly requestTimeoutMs: number
  readonly stepMs: number
}

interface LoopWatch {
  readonly loop: WatchedLoop
  readonly deadlineMs: number
  readonly patience: Patience
}

/**
 * A loop may take its interval, two request timeouts if it calls the exchange, and `hungAfterMs`.
 * Time is counted in checks ({@link Patience}).
 */
export class LoopDeadlines {
  readonly #watching: readonly LoopWatch[]

  constructor({ loops, hungAfterMs, requestTimeoutMs, stepMs }: LoopDeadlinesOptions) {
    this.#watching = loops.map((loop) => {
      const deadlineMs = loop.intervalMs + hungAfterMs + (loop.isCalling ? 2 * requestTimeoutMs : 0)
      return { loop, deadlineMs, patience: new Patience(stepMs) }
    })
  }

  check(): HungLoop | undefined {
    const silent = this.#watching.map(({ loop, deadlineMs, patience }) => {
      const hungMs = patience.check(loop.turn())
      return { loop: loop.name, hungMs, isHung: hungMs >= deadlineMs }
    })
    const hung = silent.find(({ isHung }) => isHung)
    return hung && { loop: hung.loop, hungMs: hung.hungMs }
  }
}

/** Indexes of the shared numbers: turns of the event loop, and the running strategy (0: none). */
export const BEAT = 0
export const RUNNING = 1

export interface WatchdogData {
  readonly shared: SharedArrayBuffer
  readonly checkMs: number
  readonly checksMax: number
  /** Strategies are numbered from 1. Each account has its own notes. */
  readonly strategies: readonly { readonly id: string; readonly noteFile: string }[]
  readonly descriptor: 1 | 2
  readonly logName: string
  readonly noteFile: string
}
