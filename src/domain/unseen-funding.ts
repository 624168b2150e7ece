/**
 * The payment of a position that ended before its next reading is in no answer, so it is estimated.
 */
import type { PositionMode } from './instrument.ts'
import {
  applyToHolding,
  HOLD_SIDES,
  type Holding,
  type HoldingChange,
  type HoldSide,
} from './position.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
/** Exchanges cap the rate of one payment below this share of the value. */
const RATE_MAX = 0.01

/** Keyed by symbol. */
export interface UnseenFunding {
  /** Decimal, margin coin, negative. */
  readonly amount: string
  readonly payments: number
  /** Exchange clock. */
  readonly lastAt: number
}

export interface FundingWatch {
  /** Exchange clock. */
  readonly nextAt: number
  /** Rates of the last two answers before the payment; NaN: unknown. */
  readonly rates: readonly [number, number]
  readonly markPrice: number
  readonly answeredAt: number
  readonly ended: readonly HoldSide[]
}

/** @param minutes after midnight UTC, rising; @param at Unix ms; @returns Infinity without minutes */
export function fundingInstantAfter(minutes: readonly number[], at: number): number {
  const day = Math.floor(at / DAY_MS) * DAY_MS
  const later = minutes.find((minute) => day + minute * MINUTE_MS > at)
  if (later !== undefined) return day + later * MINUTE_MS
  return minutes[0] === undefined ? Number.POSITIVE_INFINITY : day + DAY_MS + minutes[0] * MINUTE_MS
}

/** `filledAt` is of the exchange's clock. */
export interface DatedChange {
  readonly change: HoldingChange
  readonly filledAt: number
}

/** @param before what was held before all changes, which are in their order */
export function holdingSince(
  mode: PositionMode,
  before: Holding,
  instant: number,
  changes: readonly DatedChange[],
): { readonly holding: Holding; readonly ended: readonly HoldSide[] } {
  let holding = before
  let now = before
  const ended = new Set<HoldSide>()
  for (const { change, filledAt } of changes) {
    now = applyToHolding(mode, now, change)
    if (filledAt < instant) holding = now
    else for (const side of HOLD_SIDES) if (now[`${side}Lots`] === 0) ended.add(side)
  }
  return {
    holding,
    ended: HOLD_SIDES.filter((side) => ended.has(side) && holding[`${side}Lots`] > 0),
  }
}

export interface HeldAtPayment {
  readonly holdSide: HoldSide
  /** Base coin. */
  readonly size: number
  /** Quote coin. */
  readonly price: number
  readonly isInverse: boolean
  /** If positive, longs pay. */
  readonly rates: readonly [number, number]
}

/**
 * Margin coin; zero if the side receives, or a rate is not known. The smaller of both rates counts,
 * so that one wrong answer causes no loss (MON1).
 */
export function estimatePayment(held: HeldAtPayment): number {
  const { holdSide, size, price, isInverse, rates } = held
  const sign = holdSide === 'long' ? 1 : -1
  const paid = Math.min(sign * rates[0], sign * rates[1], RATE_MAX)
  return paid > 0 ? size * (isInverse ? 1 : price) * paid : 0
}
