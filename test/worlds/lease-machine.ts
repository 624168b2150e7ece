import { type Clock } from '../../src/lib/clock.ts'
import { type Random } from '../../src/lib/random.ts'
import { type Timers } from '../../src/lib/timers.ts'
import { type ManualTime } from '../support/manual-time.ts'

/** How long one stands still at most, and how far its clock is set, ms: several leases. */
const STILL_MS_MAX = 12_000
const STEP_MS_MAX = 60_000
/** Two clocks are apart by so much at the beginning, and one gains so many millionths. */
const AHEAD_MS_MAX = 8000
const DRIFT_PPM_MAX = 200

/**
 * A machine whose process stands still now and then: either asleep with all of it, or stopped, and then its clock is set
 * too. Of a machine that has slept and whose clock is set back within one lease, nobody could notice how long it slept.
 */
export class LeaseMachine implements Clock, Timers {
  readonly #time: ManualTime
  readonly #startAt: number
  readonly #rate: number
  readonly #sleeps: boolean
  #aheadMs: number
  #stillUntil = 0
  #cutUntil = 0
  /** What its monotonic clock has missed asleep, ms. */
  #missedMs = 0

  constructor(time: ManualTime, random: Random) {
    this.#time = time
    this.#startAt = time.now()
    this.#aheadMs = random.integer(2 * AHEAD_MS_MAX) - AHEAD_MS_MAX
    this.#rate = (random.integer(2 * DRIFT_PPM_MAX) - DRIFT_PPM_MAX) / 1e6
    this.#sleeps = random.integer(2) === 0
  }

  now(): number {
    return Math.floor(this.#startAt + this.#time.monotonic() * (1 + this.#rate) + this.#aheadMs)
  }

  monotonic(): number {
    return (this.#time.monotonic() - this.#missedMs) * (1 + this.#rate)
  }

  /** Whether it cannot ask for its lease, while what it writes and sends comes through. */
  get isCut(): boolean {
    return this.#time.monotonic() < this.#cutUntil
  }

  /** What comes due while it stands still comes when it goes on. */
  after(delayMs: number, callback: () => void): () => void {
    let cancel = (): void => undefined
    const wait = (ms: number): void => {
      cancel = this.#time.after(ms, () => {
        const leftMs = this.#stillUntil - this.#time.monotonic()
        if (leftMs > 0) wait(leftMs)
        else callback()
      })
    }
    wait(delayMs)
    return () => cancel()
  }

  disturb(random: Random): void {
    const now = this.#time.monotonic()
    if (now < this.#stillUntil) return
    const ms = random.integer(STILL_MS_MAX)
    if (random.integer(3) === 0) {
      this.#cutUntil = now + ms
      return
    }
    if (this.#sleeps) this.#missedMs += ms
    else this.#aheadMs += random.integer(2 * STEP_MS_MAX) - STEP_MS_MAX
    if (this.#sleeps || random.integer(4) > 0) this.#stillUntil = now + ms
  }
}
