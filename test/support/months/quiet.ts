import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'

export const QUIET_WAYS = ['trading', 'idle', 'asleep', 'down', 'stopped'] as const
export type QuietWay = (typeof QUIET_WAYS)[number]

export interface Stillness {
  readonly forMs: number
  readonly looks: number
  readonly way: QuietWay
}

/** Duration of a look: everything ordinary goes on meanwhile. */
const LOOK_MS = 2000
/** Everything of a look ends within this time, and nothing begins so long before the next. */
const [IDLE_AFTER_MS, IDLE_BEFORE_MS] = [10_000, 5000]
const MOVES_A_LOOK = 2

/**
 * With slow time the daemon looks this many times more rarely: time passes in steps of 2 s, less
 * than a sleep.
 */
const SLOWED = 20
/** The market then moves every 20 s. */
const SLOWED_MARKET = 200

/**
 * Hours and days without faults, in which events on a grid happen a few times instead of millions.
 */
export class Quiet {
  readonly #time: VirtualTime
  #beganAt = 0
  #untilAt = 0
  #lookMs = 0
  #way: QuietWay = 'trading'
  #isSlow = false

  constructor(time: VirtualTime) {
    this.#time = time
  }

  begin({ forMs, looks, way }: Stillness): void {
    this.#beganAt = this.#time.now
    this.#untilAt = this.#time.now + forMs
    this.#lookMs = Math.ceil(forMs / looks)
    this.#way = way
    this.#isSlow = false
  }

  /** Suspends faults on a grid, and slows everything else down without stopping it. */
  slowDown(forMs: number): void {
    this.begin({ forMs, looks: 1, way: 'trading' })
    this.#isSlow = true
  }

  get isOn(): boolean {
    return this.#time.now < this.#untilAt
  }

  /** Unix ms, exchange clock. */
  get untilAt(): number {
    return this.#untilAt
  }

  get isSilent(): boolean {
    return this.#way === 'idle' && this.isOn
  }

  /** Nothing of the daemon is in flight, or will be soon. */
  get isBetweenLooks(): boolean {
    const intoMs = (this.#time.now - this.#beganAt) % this.#lookMs
    return this.isOn && intoMs > IDLE_AFTER_MS && this.#lookMs - intoMs > IDLE_BEFORE_MS
  }

  /** Stretches an interval. */
  stretch(ms: number): number {
    if (!this.isOn) return ms
    if (this.#isSlow) return Math.max(1, Math.min(ms * SLOWED, this.#untilAt - this.#time.now))
    const intoMs = (this.#time.now - this.#beganAt) % this.#lookMs
    const waitMs = intoMs + ms < LOOK_MS ? ms : this.#lookMs - intoMs
    return Math.max(1, Math.min(Math.max(ms, waitMs), this.#untilAt - this.#time.now))
  }

  /** Stretches the market's steps, which are played later than they happen; `at`: Unix ms. */
  stretchStep(ms: number, at: number): number {
    if (at < this.#beganAt || at >= this.#untilAt) return ms
    const stepMs = this.#isSlow
      ? ms * SLOWED_MARKET
      : Math.max(ms, Math.ceil(this.#lookMs / MOVES_A_LOOK))
    return Math.max(1, Math.min(stepMs, this.#untilAt - at))
  }
}
