const MINUTE_MS = 60_000

/** So many may be taken in a minute, and at most `burst` at once: by default all. */
export class RateBucket {
  readonly #perMinute: number
  readonly #burst: number
  readonly #monotonic: () => number
  #left: number
  #at: number

  constructor(perMinute: number, monotonic: () => number, burst = perMinute) {
    this.#perMinute = perMinute
    this.#burst = burst
    this.#monotonic = monotonic
    this.#left = burst
    this.#at = monotonic()
  }

  /** False if none is left. */
  take(): boolean {
    const now = this.#monotonic()
    const gained = ((now - this.#at) / MINUTE_MS) * this.#perMinute
    this.#left = Math.min(this.#burst, this.#left + gained)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }

  /** Since the last take; 0: one is left. */
  get waitMs(): number {
    return Math.max(0, ((1 - this.#left) / this.#perMinute) * MINUTE_MS)
  }
}
