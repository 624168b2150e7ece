/**
 * What it costs to keep, or to cancel, in one unit: quote coin times milliseconds (coinMs), the value of an
 * order by how long it is wrong, weighed with how near the market it stands. An order that rests where nobody
 * wants it and one that is wanted and does not rest are wrong alike.
 */

/** An order, or one that is missing, as far as its cost goes. */
export interface Stake {
  /** Price times size of what is open of it, in the quote coin. */
  readonly notional: number
  /** How far the market has to move to reach it, as a share of the price; 0 at the touch. */
  readonly distanceRatio: number
  /** How long nobody has wanted it, it has queued, or it has been missing, in ms. */
  readonly ageMs: number
}

/** One instrument before the planner. */
export interface InstrumentStakes {
  readonly symbol: string
  /** Of a cancel-all that no cost can refuse: who goes first, 0 before 1. Undefined where costs decide. */
  readonly rank: number | undefined
  /** A batch of it is on the wire: a cancel-all now has to be followed by another. */
  readonly isPlacing: boolean
  /** Orders that rest and that nobody wants. */
  readonly unwanted: readonly Stake[]
  /** Orders that rest and are wanted, whoever's they are. */
  readonly displaced: readonly Stake[]
  /** Wanted orders that can be placed beside what rests. */
  readonly missing: readonly Stake[]
  /** Wanted orders for which there is room only when the unwanted ones are gone. */
  readonly blocked: readonly Stake[]
}

/** Durations in ms. */
export interface CancelTiming {
  /** Until the next cancel-all may leave, and from one to the next. */
  readonly waitMs: number
  readonly slotMs: number
  /** From a cancel-all to the proof of what it did, and to the first order placed again. */
  readonly outageMs: number
}

/** The costs of a instrument, coinMs. */
export interface InstrumentCost {
  readonly keep: number
  /** Of a cancel-all at once, and for each ms that it has to wait. */
  readonly cancel: number
  readonly cancelPerMs: number
  /** The call itself. */
  readonly call: number
  /** Of a cancel-all of the whole product, at once. */
  readonly sweep: number
}

/**
 * An order this far from the touch is half as likely to be reached as one at it: 5 basis points, about what
 * a liquid perpetual moves in the seconds that a cancel-all takes to be proved.
 */
const NEAR_RATIO = 0.0005
/** A place in the queue is worth no more than this: after a minute most levels have been traded or left. */
const QUEUE_MS_MAX = 60_000
/** How much of an order's time in the queue a later order has to wait again. */
const QUEUE_SHARE = 0.1
/**
 * A call that is spent is missing for the time until the next one: the chance that it would have been needed
 * just then, on the same instrument.
 */
const CALL_SHARE = 0.05

/** What an instrument weighs, in the quote coin, that waits for its call with nothing on it: nothing new is placed. */
const CLOSED_WEIGHT = 1

/** How much an order weighs, in the quote coin: all of it at the touch, less the further away it stands. */
function weigh({ notional, distanceRatio }: Stake): number {
  return (notional * NEAR_RATIO) / (NEAR_RATIO + Math.max(0, distanceRatio))
}

function sumWeights(stakes: readonly Stake[]): number {
  return stakes.reduce((sum, stake) => sum + weigh(stake), 0)
}

/** Weights times ages. */
function sumDebts(stakes: readonly Stake[]): number {
  return stakes.reduce((sum, stake) => sum + weigh(stake) * stake.ageMs, 0)
}

/** coinMs of what `InstrumentStakes` says about one instrument. */
export function costOfInstrument(
  instrument: InstrumentStakes,
  { slotMs, outageMs }: CancelTiming,
): InstrumentCost {
  const unwanted = sumWeights(instrument.unwanted)
  const resting = unwanted + sumWeights(instrument.displaced)
  const absent = sumWeights(instrument.missing) + sumWeights(instrument.blocked)
  const queues = instrument.displaced.reduce(
    (sum, stake) => sum + weigh(stake) * QUEUE_SHARE * Math.min(stake.ageMs, QUEUE_MS_MAX),
    0,
  )
  // As with what is unwanted: an order that has been wanted for so long is expected to be for as long again.
  const lost = instrument.displaced.reduce(
    (sum, stake) => sum + weigh(stake) * Math.min(outageMs, stake.ageMs),
    0,
  )
  const outage = lost + absent * outageMs + queues
  const call = resting * CALL_SHARE * slotMs
  // A batch that races with the cancel-all makes a second one necessary, and a second proof.
  const sweep = instrument.isPlacing ? 2 * outage + call + resting * slotMs : outage
  return {
    // What has been wrong for so long is expected to stay wrong for as long again.
    keep:
      instrument.rank === undefined
        ? sumDebts(instrument.unwanted) + sumDebts(instrument.blocked)
        : Number.POSITIVE_INFINITY,
    cancel: outage,
    // Until it is cancelled the unwanted order rests, and nothing new that could rest is placed beside it.
    cancelPerMs: CLOSED_WEIGHT + unwanted + absent,
    call,
    sweep,
  }
}
