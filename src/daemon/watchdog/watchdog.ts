import { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { SupervisedThread } from '../../lib/supervised-thread.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { WatchedLoop } from '../../market/poll-grids.ts'
import { type HungLoop, LoopDeadlines } from './loop-deadlines.ts'
import { BEAT, RUNNING, type WatchdogData } from './watchdog-data.ts'

const BEAT_MS = 250
/** After what rests was taken away: for the summary and the journal. */
const END_MS = 2000
/** The other thread looks so often in the time after which the process counts as hung. */
const CHECKS = 10

export interface WatchdogOptions extends Pick<WatchdogData, 'strategies' | 'logName' | 'noteFile'> {
  /** The event loop, or a loop that waits for nobody, stood still for so long, ms: the process ends. 0: never. */
  readonly hungAfterMs: number
  readonly requestTimeoutMs: number
  /** How long a process whose loop hangs may take away what rests, ms. */
  readonly stopTimeoutMs: number
  readonly logger: Pick<DaemonLogger, 'log' | 'descriptor'>
  readonly timers: Timers
}

/** What is watched, and who hears of a loop that hangs. */
export interface Watched {
  readonly loops: readonly WatchedLoop[]
  /** It is to end the run. */
  readonly onHung: (failure: Failure) => void
  /** The run has not ended in time: it waits for that loop. */
  readonly onGivenUp: (failure: Failure) => void
}

/**
 * Ends a process whose event loop does not turn any more, by SIGABRT: a strategy that loops for ever, or a defect. One
 * of whose other loops does not come back ends as broken, with an exit code of its own (LOOP_HUNG). The supervisor
 * starts it again, and it recovers.
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

  start(watched: Watched): void {
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
    // Where it ends, as on a machine without memory for it, the process trades unwatched.
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

  /** @param number Of the strategy that runs from now on; 0 for none. */
  running(number: number): void {
    this.#view[RUNNING] = number
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#thread?.end()
  }

  /** The event loop is watched to the end, the others until one of them hangs. */
  #beat(deadlines: LoopDeadlines | undefined, watched: Watched): void {
    if (this.#isStopped) return
    Atomics.add(this.#view, BEAT, 1)
    const hung = deadlines?.check()
    if (hung !== undefined) this.#endRun(hung, watched)
    this.#options.timers.after(BEAT_MS, () => this.#beat(hung ? undefined : deadlines, watched))
  }

  #endRun(hung: HungLoop, { onHung, onGivenUp }: Watched): void {
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
