import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type Clock } from '../../../src/lib/clock.ts'

/** Longer than a lease of the worlds. */
const SET_LATELY_MS = 3000

/** While the machine is suspended the monotonic time stands still. */
export class MachineClock implements Clock {
  readonly #time: VirtualTime
  readonly #startAt: number
  readonly #rate: number
  #aheadMs: number
  /** Last sleep, Unix ms on the exchange's clock; and the total of earlier ones. */
  #asleep = { from: 0, until: 0 }
  #sleptMs = 0
  /** Unix ms on the exchange's clock. */
  #steppedAt = 0

  constructor(
    time: VirtualTime,
    { aheadMs, driftPpm }: { readonly aheadMs: number; readonly driftPpm: number },
  ) {
    this.#time = time
    this.#startAt = time.now
    this.#rate = driftPpm / 1e6
    this.#aheadMs = aheadMs
  }

  now(): number {
    return Math.round(
      this.#startAt + (this.#time.now - this.#startAt) * (1 + this.#rate) + this.#aheadMs,
    )
  }

  monotonic(): number {
    const { from, until } = this.#asleep
    const sleptMs = this.#sleptMs + Math.min(this.#time.now, until) - from
    return (this.#time.now - this.#startAt - sleptMs) * (1 + this.#rate)
  }

  get isAsleep(): boolean {
    return this.#time.now < this.#asleep.until
  }

  /** Sets the clock, but not during a sleep. */
  step(byMs: number): void {
    if (this.isAsleep) return
    this.#aheadMs += byMs
    this.#steppedAt = this.#time.now
  }

  /**
   * Suspends the machine, without ending an earlier sleep. Right after the clock was set back the
   * length of a sleep could not be noticed.
   */
  sleep(forMs: number): void {
    const { now } = this.#time
    const { from, until } = this.#asleep
    if (now < until || now - this.#steppedAt < SET_LATELY_MS) return
    this.#sleptMs += until - from
    this.#asleep = { from: now, until: now + forMs }
  }
}
