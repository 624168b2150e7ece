/**
 * The exchange's view of its market is one path of quotes for each instrument, which does not react
 * to orders. A market is seeded (seeded-market.ts), recorded (recorded-market.ts) or live
 * (live-market.ts).
 */
import { Failure } from '../../lib/failure.ts'

/** Whole ticks and lots; at least 1. */
export interface Quote {
  readonly bidTicks: number
  readonly askTicks: number
  readonly bidLots: number
  readonly askLots: number
  readonly lastTicks: number
  /** Traded at `lastTicks` since the previous step; 0 if `lastTicks` is an older trade. */
  readonly tradedLots: number
  /**
   * Prices since the previous step, if known: resting orders are matched with them, but they are
   * never displayed.
   */
  readonly lowTicks?: number
  readonly highTicks?: number
  /**
   * A candle's momentary extreme: orders and triggers are matched with it, but it is not displayed.
   * No figure includes it before the candle ends, since it would reveal that the price does not
   * return there.
   */
  readonly isUnseen?: boolean
  /** For the day's high and low: the last price, and with a candle's last point its whole range. */
  readonly candleHighTicks?: number
  readonly candleLowTicks?: number
  readonly levelTicks: number
  readonly candle: number
  /**
   * Lots traded in the candle limit what orders may take; not displayed. If not known yet: those so
   * far, and at least the usual ones.
   */
  readonly candleLots: number
}

export type MutableQuote = { -readonly [Field in keyof Quote]: Quote[Field] }

export const EMPTY_QUOTE: Quote = {
  bidTicks: 0,
  askTicks: 0,
  bidLots: 0,
  askLots: 0,
  lastTicks: 0,
  tradedLots: 0,
  levelTicks: 1,
  candle: 0,
  candleLots: 0,
}

const LEVEL_RANGE_SHARE = 0.005

export function levelTicksFor(rangeTicks: number): number {
  return Math.max(1, Math.round(rangeTicks * LEVEL_RANGE_SHARE))
}

export interface MarketInstrument {
  readonly symbol: string
  readonly tickSize: string
  readonly lotSize: string
  readonly startPrice: string
  readonly yearlyVolatility?: number
  readonly dailyTurnover: number
  readonly fundingMinutes?: readonly number[]
}

/** Recorded besides the quotes; the exchange invents what is missing. */
export interface MarketReference {
  readonly markTicks: number | undefined
  /** Share of the notional: 0.0001 is 1 bp. */
  readonly fundingRate: number | undefined
}

export interface MarketStep {
  readonly at: number
  readonly symbol: string
  readonly quote: Quote
  readonly reference?: MarketReference
}

export type MutableStep = { -readonly [Field in keyof MarketStep]: MarketStep[Field] }

export interface MinuteBar {
  readonly startAt: number
  readonly openTicks: number
  readonly highTicks: number
  readonly lowTicks: number
  readonly closeTicks: number
  readonly lots: number
}

/** Drawn on demand: the same minute is always the same bar. */
export interface PastMinutes {
  /** Its first minute, and the first after it. */
  readonly fromAt: number
  readonly untilAt: number
  /** Minutes that open in a span of Unix ms, `untilAt` excluded, oldest first. */
  between(fromAt: number, untilAt: number): readonly MinuteBar[]
}

/** JSON below 1 kB for each instrument. Only the same market can read it. */
export interface MarketState {
  readonly identity: string
}

/** A state of another market is ignored: the market starts new, and the exchange refuses it. */
export function ownState<State extends MarketState>(
  identity: string,
  state: MarketState | undefined,
): State | undefined {
  return state?.identity === identity ? (state as State) : undefined
}

export interface FundingPayments {
  /** Exchange clock. */
  readonly at: Float64Array
  /** Share of the notional, paid by longs. */
  readonly rate: Float64Array
}

export interface RecordedReferences {
  /** Exchange clock: a candle's end, when its figures are known. */
  readonly at: Float64Array
  readonly markTicks: Float64Array | undefined
  readonly fundingRate: Float64Array | undefined
}

export interface Market {
  readonly identity: string
  /** Market time for each ms of the exchange's clock. */
  readonly speed: number
  readonly endsAt: number | undefined
  readonly priceStepsMs?: ReadonlyMap<string, number>
  /**
   * Symbols whose prices end before the market does. All times here are on the exchange's clock.
   */
  readonly endings?: ReadonlyMap<string, number>
  readonly funding?: ReadonlyMap<string, FundingPayments>
  readonly references?: ReadonlyMap<string, RecordedReferences>
  /**
   * Hands over every step due up to and including `now`, in time order, and at one instant in a
   * fixed order. The first call starts at `startAt` with a step of every instrument. The steps do
   * not depend on how the time is divided into calls.
   *
   * @param now Unix ms, exchange clock; an earlier one hands over nothing
   * @param visit the step and its quote are reused, and valid only during the call
   * @returns true if nothing up to `now` is left; on false call again with the same `now`
   */
  advance(now: number, visit: (step: MarketStep) => void): boolean
  /** The 1440 minutes before `startAt`, oldest first. Undefined for real prices. */
  pastDay(symbol: string): readonly MinuteBar[] | undefined
  /** Everything before `startAt`; absent if unknown. */
  past?(symbol: string): PastMinutes | undefined
  state(): MarketState
}

/**
 * A tenth of a second of work, so that a market that catches up leaves its caller time. To keep the
 * steps of one instant together, a call may hand over twice as many.
 */
export const STEPS_PER_ADVANCE_MAX = 100_000

export function invalidOption(option: string, value: string | number, expected: string): Failure {
  return new Failure({
    code: 'MARKET_OPTION_INVALID',
    sentence: 'the simulated market cannot be set up like this',
    facts: { option, value, expected },
  })
}
