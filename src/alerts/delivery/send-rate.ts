/**
 * This many calls at once, then one per interval: services answer 429 at 20 to 30 messages a
 * minute.
 */
const BURST = 5
const EVERY_MS = 3000

/** Limits how often a target is called. Times are Unix ms. */
export class SendRate {
  #calls = BURST
  #filledAt = 0

  /** Takes a call; false if it is too early. */
  take(now: number): boolean {
    const earned = Math.floor((now - this.#filledAt) / EVERY_MS)
    if (earned > 0) {
      this.#calls = Math.min(BURST, this.#calls + earned)
      this.#filledAt = this.#calls === BURST ? now : this.#filledAt + earned * EVERY_MS
    }
    if (this.#calls === 0) return false
    this.#calls -= 1
    return true
  }
}
