const MINUTE_MS = 60_000

/** At most so many at once after a quiet minute. */
export class RateBucket {
  readonly #perMinute: number
  readonly #monotonic: () => number
  #left: number
  #at: number

  constructor(perMinute: number, monotonic: () => number) {
    this.#perMinute = perMinute
    this.#monotonic = monotonic
    this.#left = perMinute
    this.#at = monotonic()
  }

  /** False: none is left. */
  take(): boolean {
    const now = this.#monotonic()
    const gained = ((now - this.#at) / MINUTE_MS) * this.#perMinute
    this.#left = Math.min(this.#perMinute, this.#left + gained)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
