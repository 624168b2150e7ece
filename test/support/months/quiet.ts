import { type VirtualTime } from '../../../src/backtest/virtual-time.ts'

/** How a process spends a quiet time. */
export const QUIET_WAYS = ['trading', 'idle', 'asleep', 'down', 'stopped'] as const
export type QuietWay = (typeof QUIET_WAYS)[number]

export interface Stillness {
  readonly forMs: number
  /** So often is looked, as long as it lasts. */
  readonly looks: number
  readonly way: QuietWay
}

/** So long a look lasts: all that goes on ordinarily goes on for that long. */
const LOOK_MS = 2000
/** So long after its begin everything of a look has come to its end, and so long before the next nothing begins. */
const [IDLE_AFTER_MS, IDLE_BEFORE_MS] = [10_000, 5000]
/** The market moves so often between two looks. */
const MOVES_A_LOOK = 2

/** Where time is slowed down, the daemon looks so much more rarely: time passes for it every 2 s, less than it takes for a sleep. */
const SLOWED = 20
/** And the market moves every 20 s. */
const SLOWED_MARKET = 200

/** Hours and days in which nothing goes wrong: whatever happens on a grid happens a few times, and not millions. */
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

  /** For so long nothing goes wrong on a grid, and whatever goes on goes on more slowly, but never stands still. */
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

  /** Whether strategies want nothing just now. */
  get isSilent(): boolean {
    return this.#way === 'idle' && this.isOn
  }

  /** Nothing of the daemon's is on its way, and nothing will be soon. */
  get isBetweenLooks(): boolean {
    const intoMs = (this.#time.now - this.#beganAt) % this.#lookMs
    return this.isOn && intoMs > IDLE_AFTER_MS && this.#lookMs - intoMs > IDLE_BEFORE_MS
  }

  /** How long to wait for what comes every so many ms. */
  stretch(ms: number): number {
    if (!this.isOn) return ms
    if (this.#isSlow) return Math.max(1, Math.min(ms * SLOWED, this.#untilAt - this.#time.now))
    const intoMs = (this.#time.now - this.#beganAt) % this.#lookMs
    const waitMs = intoMs + ms < LOOK_MS ? ms : this.#lookMs - intoMs
    return Math.max(1, Math.min(Math.max(ms, waitMs), this.#untilAt - this.#time.now))
  }

  /** The same of the market's steps, which are played later than they happen: `at` is Unix ms. */
  stretchStep(ms: number, at: number): number {
    if (at < this.#beganAt || at >= this.#untilAt) return ms
    const stepMs = this.#isSlow
      ? ms * SLOWED_MARKET
      : Math.max(ms, Math.ceil(this.#lookMs / MOVES_A_LOOK))
    return Math.max(1, Math.min(stepMs, this.#untilAt - at))
  }
}
