import type { Daemon } from '../../daemon/daemon.ts'
import type { StopPolicy } from '../../engine/event.ts'
import type { Timers } from '../../lib/timers.ts'

/** How long a stop waits for a reload to come up, ms: what rests must be cancelled by somebody. */
const RELOADED_WITHIN_MS = 30_000

export interface RunStopOptions {
  readonly daemon: Pick<Daemon, 'stop'>
  /** `onStop` of each account. */
  readonly policies: readonly StopPolicy[]
  /** A run of this process was before it, and may have left orders to it. */
  readonly isReloaded: boolean
  readonly timers: Timers
}

/**
 * The stop of one run, as each account's `onStop` says. What the run before a reload has left is cancelled or closed
 * by this one, as soon as it has begun; one that does not begin in time ends, and leaves it.
 */
export class RunStop {
  readonly #options: RunStopOptions
  #hasBegun = false
  #isDue = false
  #forget = (): void => undefined

  constructor(options: RunStopOptions) {
    this.#options = options
  }

  ask(): void {
    const { daemon, policies, isReloaded, timers } = this.#options
    const leavesAll = policies.every((policy) => policy === 'leave')
    if (leavesAll || this.#hasBegun || !isReloaded) return daemon.stop()
    if (this.#isDue) return
    this.#isDue = true
    this.#forget = timers.after(RELOADED_WITHIN_MS, () => daemon.stop())
  }

  /** The run has begun, or has ended before. */
  noteBegun(hasBegun: boolean): void {
    this.#hasBegun = hasBegun
    if (this.#isDue) this.#options.daemon.stop()
  }

  close(): void {
    this.#forget()
  }
}
