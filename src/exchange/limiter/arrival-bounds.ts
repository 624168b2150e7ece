export interface AnsweredCall {
  /** Unix ms, exchange clock, cut to whole ms: `requestTime` of the answer. */
  readonly requestTime: number
  /** Monotonic ms, our clock. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** How fast two clocks drift apart at most: as fast as Linux lets a clock be corrected, 500 in a million. */
export const DRIFT = 5e-4

/** The exchange states whole milliseconds, so it took a call up to this much later than it says. */
const ROUNDING_MS = 1

/**
 * How much of what lies between the bounds is believed, once so many answers have narrowed them. It costs a 429
 * only where a call travels for less than a third of the shortest way there. Measured, with 5 to 25 ms each way:
 * 98.2 % of 1, 5, 10 and 20 calls a second used (of half: 98.4 %, of none: 97.8 %), and no 429 on 3000 networks
 * whose ways scatter up to twentyfold. One offset alone, of the best of 64 answers, drifts away under its age:
 * 98.2 % and LIM1 in 4 of 500 worlds.
 */
const BELIEVED_SHARE = 1 / 3
const ANSWERS_MIN = 8

/**
 * When the exchange took a call, by our monotonic clock. Its clock is ahead of ours by `requestTime - receivedAt`
 * of each answer at least, and by `requestTime - sentAt` at most; how far exactly follows from all answers.
 */
export class ArrivalBounds {
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY
  #learnedAt = 0
  #answers = 0

  /** Learns from a call; answers when it was taken, monotonic ms: rather too late than too early. */
  observe({ requestTime, sentAt, receivedAt }: AnsweredCall): number {
    const least = requestTime - receivedAt
    const most = requestTime + ROUNDING_MS - sentAt
    const driftMs = DRIFT * (receivedAt - this.#learnedAt)
    this.#learnedAt = receivedAt
    // After such a pause this answer alone says more than all that came before it.
    if (driftMs > most - least) this.#answers = 0
    this.#least = Math.max(least, this.#least - driftMs)
    this.#most = Math.min(most, this.#most + driftMs)
    this.#answers++
    if (this.#least > this.#most) {
      // A clock was set, or the time is wrong: nothing follows but that the call is over.
      this.#least = least
      this.#most = most
      this.#answers = 1
      return receivedAt
    }
    const believedMs = this.#answers < ANSWERS_MIN ? 0 : BELIEVED_SHARE * (this.#most - this.#least)
    return requestTime + ROUNDING_MS - this.#least - believedMs
  }
}
