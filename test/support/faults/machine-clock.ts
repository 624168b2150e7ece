import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'
import { type Clock } from '../../../src/lib/clock.ts'

/** The clock of our machine: ahead of the exchange's by something, too quick or too slow, and set now and then. */
export class MachineClock implements Clock {
  readonly #time: VirtualTime
  readonly #startAt: number
  readonly #rate: number
  #aheadMs: number

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
    return Math.round(this.#startAt + this.monotonic() + this.#aheadMs)
  }

  monotonic(): number {
    return (this.#time.now - this.#startAt) * (1 + this.#rate)
  }

  /** Somebody sets it. */
  step(byMs: number): void {
    this.#aheadMs += byMs
  }
}
