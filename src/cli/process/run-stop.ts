import type { Daemon } from '../../daemon/daemon.ts'
import type { StopPolicy } from '../../engine/event.ts'
import type { Timers } from '../../lib/timers.ts'

/** The longest that a reloaded run takes to cancel what rests. */
const RELOADED_WITHIN_MS = 30_000

export interface RunStopOptions {
  readonly daemon: Pick<Daemon, 'stop'>
  readonly policies: readonly StopPolicy[]
  readonly isReloaded: boolean
  readonly timers: Timers
}

/**
 * Stops each account as its `onStop` says. A reloaded run first cancels or closes what the old one
 * left; if it does not begin in time, orders stay.
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

  noteBegun(hasBegun: boolean): void {
    this.#hasBegun = hasBegun
    if (this.#isDue) this.#options.daemon.stop()
  }

  close(): void {
    this.#forget()
  }
}
