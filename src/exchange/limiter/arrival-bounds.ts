/** An answered call, by both clocks. */
export interface AnsweredCall {
  /** Unix ms, exchange clock, cut to whole ms: `requestTime` of the answer. */
  readonly requestTime: number
  /** Monotonic ms, our clock: not after the answer was in. */
  readonly receivedAt: number
  /** Monotonic ms, our clock: when the first byte left, or a little later. Absent where nobody looked. */
  readonly sentAt?: number | undefined
}

/** Answers looked at: at the rates of a daemon that polls, the last few seconds. */
const SAMPLES_MAX = 64
/** So many answers prove nothing yet about the shortest way: of few, all may have been slow. */
const SAMPLES_UNPROVEN = 8
/** The exchange states whole milliseconds, so it took a call up to this much later than it says. */
const ROUNDING_MS = 1
/** How fast two clocks drift apart at most: as fast as Linux lets a clock be corrected, 500 in a million. */
export const DRIFT = 5e-4

/**
 * How soon after one call another may leave, so that it reaches the exchange no sooner than a window later.
 *
 * Two things are unknown: when exactly the exchange took the first, and how long the second will travel. Both
 * follow from how far the exchange's clock is ahead of ours when a call that leaves us arrives there. That is
 * surely not less than `requestTime - receivedAt` of any answer, as if calls travelled no time at all; and
 * `requestTime - sentAt` was, of all recent calls, never less than its smallest. What lies between the two is
 * the shortest round trip, there by the fastest call and back by the fastest answer. The sure bound gives away
 * the way back of every call (5 ms in a thousand are half a per cent of the limit), so with many answers up to
 * half of that round trip is believed, and less where the answers scatter so much that their smallest is
 * chance. Wrong it can be only if a call travels for less than half the shortest way there, less half the
 * shortest way back: where the two are alike, never.
 */
export class ArrivalBounds {
  /** Rings of the last answers: instants, and how far the exchange was ahead at least, and on arrival. */
  readonly #at = new Float64Array(SAMPLES_MAX)
  readonly #least = new Float64Array(SAMPLES_MAX)
  readonly #onArrival = new Float64Array(SAMPLES_MAX)
  /** Room to sort in. */
  readonly #sorted = new Float64Array(SAMPLES_MAX)
  #count = 0
  #next = 0

  /** Learns from a call; answers from when on (monotonic ms) another may leave, to arrive `windowMs` later. */
  observe(call: AnsweredCall, windowMs: number): number {
    const { requestTime, receivedAt, sentAt = Number.NaN } = call
    const least = requestTime - receivedAt
    const onArrival = requestTime - sentAt
    const isBelievable = this.#agrees(least, onArrival, receivedAt)
    if (!isBelievable) this.#count = this.#next = 0
    this.#at[this.#next] = receivedAt
    this.#least[this.#next] = least
    this.#onArrival[this.#next] = onArrival
    this.#next = (this.#next + 1) % SAMPLES_MAX
    this.#count = Math.min(SAMPLES_MAX, this.#count + 1)
    // Of a clock that was set, or of a wrong time, nothing follows but that the call is over.
    if (!isBelievable) return receivedAt + windowMs
    return requestTime + ROUNDING_MS + windowMs - this.#aheadOnArrival(receivedAt)
  }

  /** False when the exchange's clock cannot have stood like this: one of the clocks was set. */
  #agrees(least: number, onArrival: number, now: number): boolean {
    for (let index = 0; index < this.#count; index++) {
      const slack = ROUNDING_MS + this.#driftSince(index, now)
      if (onArrival + slack < (this.#least[index] ?? 0)) return false
      if (least > (this.#onArrival[index] ?? 0) + slack) return false
    }
    return true
  }

  /** A call that leaves at `t` arrives when the exchange's clock says `t` plus this, or later. */
  #aheadOnArrival(now: number): number {
    let least = Number.NEGATIVE_INFINITY
    let arrivals = 0
    for (let index = 0; index < this.#count; index++) {
      const drift = this.#driftSince(index, now)
      least = Math.max(least, (this.#least[index] ?? 0) - drift)
      const onArrival = this.#onArrival[index] ?? Number.NaN
      if (!Number.isNaN(onArrival)) this.#sorted[arrivals++] = onArrival - drift
    }
    return least + believedMs(this.#sorted.subarray(0, arrivals).sort(), least)
  }

  #driftSince(index: number, now: number): number {
    return DRIFT * Math.max(0, now - (this.#at[index] ?? now))
  }
}

/** How much of the shortest round trip may be believed, in ms. `arrivals`: ascending. */
function believedMs(arrivals: Float64Array, least: number): number {
  const count = arrivals.length
  if (count <= SAMPLES_UNPROVEN) return 0
  const [shortest = 0] = arrivals
  const median = arrivals[count >> 1] ?? 0
  const roundTripMs = shortest - least
  const proven = 1 - SAMPLES_UNPROVEN / count
  // What another few answers could still take off the smallest, if they lie as densely as these.
  const chanceMs = (SAMPLES_UNPROVEN * (median - shortest)) / count
  return Math.max(0, Math.min((roundTripMs * proven) / 2, roundTripMs - chanceMs))
}
