import { type Worker } from 'node:worker_threads'
import { type Timers } from '../../lib/timers.ts'
import { openProgramThread } from '../../lib/program-thread.ts'
import { BEAT, RUNNING, type WatchdogData } from './watchdog-data.ts'

const BEAT_MS = 250
/** The other thread looks so often in the time after which the process counts as hung. */
const CHECKS = 10

export interface WatchdogOptions extends Pick<
  WatchdogData,
  'strategies' | 'descriptor' | 'logName' | 'noteFile'
> {
  /** The event loop stood still for so long, ms: the process ends. 0: it is not watched. */
  readonly hungAfterMs: number
  readonly timers: Timers
}

/**
 * Ends a process whose event loop does not turn any more, by SIGABRT: a strategy that loops for ever, or a defect. The
 * supervisor starts it again, and it recovers.
 */
export class Watchdog {
  readonly #view = new Int32Array(new SharedArrayBuffer(8))
  readonly #options: WatchdogOptions
  #worker: Worker | undefined
  #isStopped = false

  constructor(options: WatchdogOptions) {
    this.#options = options
  }

  start(): void {
    const { hungAfterMs, strategies, descriptor, logName, noteFile } = this.#options
    if (hungAfterMs === 0) return
    const workerData: WatchdogData = {
      ...{ shared: this.#view.buffer, strategies, descriptor, logName, noteFile },
      checkMs: Math.ceil(hungAfterMs / CHECKS),
      checksMax: CHECKS,
    }
    this.#worker = openProgramThread('./watchdog-thread', import.meta.url, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    })
    this.#worker.unref()
    // A machine without memory for it trades unwatched.
    this.#worker.on('error', () => undefined)
    this.#beat()
  }

  /** @param number Of the strategy that runs from now on; 0 for none. */
  running(number: number): void {
    this.#view[RUNNING] = number
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#worker?.terminate()
  }

  #beat(): void {
    if (this.#isStopped) return
    Atomics.add(this.#view, BEAT, 1)
    this.#options.timers.after(BEAT_MS, () => this.#beat())
  }
}
