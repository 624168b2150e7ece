import type { Daemon } from '../../daemon/daemon.ts'
import type { Timers } from '../../lib/timers.ts'

/** So long a stop waits for a run to begin. */
const BEGIN_WITHIN_MS = 30_000

export interface RunStopOptions {
  readonly daemon: Pick<Daemon, 'stop' | 'hasToBegin'>
  readonly timers: Timers
}

/**
 * Stops each account as its `onStop` says. Where that means to cancel or close what an earlier run
 * left, the run begins first; if it does not begin in time, the accounts say what they leave.
 */
export class RunStop {
  readonly #options: RunStopOptions
  #isDue = false
  #forget = (): void => undefined

  constructor(options: RunStopOptions) {
    this.#options = options
  }

  get waitsForStart(): boolean {
    return this.#options.daemon.hasToBegin()
  }

  ask(): void {
    const { daemon, timers } = this.#options
    if (!this.waitsForStart) return daemon.stop()
    if (this.#isDue) return
    this.#isDue = true
    this.#forget = timers.after(BEGIN_WITHIN_MS, () => daemon.stop())
  }

  noteStarted(): void {
    if (this.#isDue) this.#options.daemon.stop()
  }

  close(): void {
    this.#forget()
  }
}
