interface AnsweredCall {
  readonly requestTime: number
  readonly sentAt: number
  readonly receivedAt: number
}

/** 500 ppm, the fastest correction that Linux makes. */
export const DRIFT = 5e-4

/** The exchange truncates to ms. */
const ROUNDING_MS = 1

/**
 * A call counts as taken this share of the way back from the latest possible moment to the
 * earliest. docs/limits.md ("The figures behind it") has the measurements.
 */
const BELIEVED_SHARE = 1 / 3
const ANSWERS_MIN = 8

/**
 * Each answer bounds the exchange's lead over our monotonic clock: at least `requestTime -
 * receivedAt`, at most `requestTime - sentAt`. The bounds are intersected.
 */
export class ArrivalBounds {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY
  #learnedAt = 0
  #answers = 0

  /** @returns when the exchange took the call, monotonic ms: rather too late than too early */
  observe({ requestTime, sentAt, receivedAt }: AnsweredCall): number {
    const least = requestTime - receivedAt
    const most = requestTime + ROUNDING_MS - sentAt
    const driftMs = DRIFT * (receivedAt - this.#learnedAt)
    this.#learnedAt = receivedAt
    // After so long a pause this answer alone is more precise.
    if (driftMs > most - least) this.#answers = 0
    this.#least = Math.max(least, this.#least - driftMs)
    this.#most = Math.min(most, this.#most + driftMs)
    this.#answers++
    if (this.#least > this.#most) {
      // A clock was set, or the time is wrong; only the end of the call is known.
      this.#least = least
      this.#most = most
      this.#answers = 1
      return receivedAt
    }
    const believedMs = this.#answers < ANSWERS_MIN ? 0 : BELIEVED_SHARE * (this.#most - this.#least)
    return requestTime + ROUNDING_MS - this.#least - believedMs
  }
}
