/** Services answer 429 at 20 to 30 messages a minute. */
const BURST = 5
const EVERY_MS = 3000

/** Unix ms. */
export class SendRate {
  #calls = BURST
  #filledAt = 0

  /** False if it is too early. */
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
