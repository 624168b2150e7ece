/**
 * The simulated exchange's view of its market: one path of displayed quotes for each instrument,
 * which does not react to orders. Three kinds implement it: a seeded generator (seeded-market.ts),
 * recordings of real prices (recorded-market.ts), and the prices of another exchange
 * (live-market.ts).
 */
import { Failure } from '../../lib/failure.ts'

/** One moment of an instrument's displayed market. Prices in whole ticks, sizes in whole lots. */
export interface Quote {
  /** Best bid price; at least 1, always below `askTicks`. */
  readonly bidTicks: number
  readonly askTicks: number
  /** Size displayed at the bid; at least 1. */
  readonly bidLots: number
  readonly askLots: number
  /** The price of the latest trade. */
  readonly lastTicks: number
  /**
   * Lots traded at `lastTicks` since the instrument's previous step; 0 if `lastTicks` is an older
   * trade.
   */
  readonly tradedLots: number
  /**
   * Lowest and highest price between the previous step and this one, if the path knows it: resting
   * orders are matched with them, but they are never displayed.
   */
  readonly lowTicks?: number
  readonly highTicks?: number
  /**
   * Whether this is a momentary extreme of a candle: resting orders and triggers are matched with
   * it, but it is not displayed. No figure includes it before the candle ends, since it would
   * reveal that the price does not return there.
   */
  readonly isUnseen?: boolean
  /**
   * Prices for the day's high and low: the last price, and with a candle's last point the candle's
   * whole range.
   */
  readonly candleHighTicks?: number
  readonly candleLowTicks?: number
  /** Distance between levels behind the displayed one; at least 1. */
  readonly levelTicks: number
  /** Number of the candle that this moment is in, or of the minute if there are no candles. */
  readonly candle: number
  /**
   * Lots traded in that candle, which limit the share that orders may take; not displayed. If it is
   * not known yet, the lots traded so far, and at least the usual ones.
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

/**
 * Levels behind the displayed one are this share of a usual minute's range apart: an assumption.
 */
const LEVEL_RANGE_SHARE = 0.005

/** @param rangeTicks Range of a usual minute. */
export function levelTicksFor(rangeTicks: number): number {
  return Math.max(1, Math.round(rangeTicks * LEVEL_RANGE_SHARE))
}

export interface MarketInstrument {
  readonly symbol: string
  /** Decimal strings such as `0.1`. */
  readonly tickSize: string
  readonly lotSize: string
  /** Start of a seeded path, in quote coin; a recorded symbol uses its recording's prices. */
  readonly startPrice: string
  /** Yearly standard deviation of returns of a seeded path; 0.6 is 60 %, the default. */
  readonly yearlyVolatility?: number
  /** Turnover of a seeded path in a day, in quote coin: 2e9 is a large perpetual. */
  readonly dailyTurnover: number
  /** Funding times, in minutes after midnight UTC, ascending. Default: 0, 480 and 960. */
  readonly fundingMinutes?: readonly number[]
}

/** Recorded values of an instrument besides its quotes; the exchange invents the missing ones. */
export interface MarketReference {
  /** In ticks; undefined if not recorded. */
  readonly markTicks: number | undefined
  /** A share of the notional: 0.0001 is 1 bp. */
  readonly fundingRate: number | undefined
}

/** One step of the path: at `at` (Unix ms on the exchange's clock) the symbol's quote becomes `quote`. */
export interface MarketStep {
  readonly at: number
  readonly symbol: string
  readonly quote: Quote
  /** Recorded values, as far as there are any. */
  readonly reference?: MarketReference
}

export type MutableStep = { -readonly [Field in keyof MarketStep]: MarketStep[Field] }

/** A minute of an instrument's past. Prices in ticks. */
export interface MinuteBar {
  /** Unix ms, a whole minute. */
  readonly startAt: number
  readonly openTicks: number
  readonly highTicks: number
  readonly lowTicks: number
  readonly closeTicks: number
  readonly lots: number
}

/** A past that is drawn on demand: the same minute is always the same bar. */
export interface PastMinutes {
  /** Unix ms: its first minute, and the first after it. */
  readonly fromAt: number
  readonly untilAt: number
  /** Minutes that open at `fromAt` or later and before `untilAt`, Unix ms, oldest first. */
  between(fromAt: number, untilAt: number): readonly MinuteBar[]
}

/**
 * A market's state for a restart, as JSON: below 1 kB for each instrument. Only the same market can
 * read it.
 */
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

/** Funding payments in order of time. */
export interface FundingPayments {
  /** Unix ms on the exchange's clock. */
  readonly at: Float64Array
  /** A share of the notional: 0.0001 is 1 bp, paid by longs. */
  readonly rate: Float64Array
}

/** Recorded values of candles besides prices, in order of time. */
export interface RecordedReferences {
  /** Unix ms on the exchange's clock at which a candle's figures are known: its end. */
  readonly at: Float64Array
  readonly markTicks: Float64Array | undefined
  /** A share of the notional. */
  readonly fundingRate: Float64Array | undefined
}

export interface Market {
  /**
   * Identity for stored states: `seeded:1:100ms:x1`, or `recorded:<12 hex of the contents>:x600`.
   */
  readonly identity: string
  /** Market time for each millisecond of the exchange's clock, ms. */
  readonly speed: number
  /** End of the last recording, on the exchange's clock; undefined if there is no end. */
  readonly endsAt: number | undefined
  /** Distance of recorded prices by symbol, ms of the exchange's clock. */
  readonly priceStepsMs?: ReadonlyMap<string, number>
  /** Instants on the exchange's clock, by symbol, at which prices end before the market does. */
  readonly endings?: ReadonlyMap<string, number>
  /** Recorded funding payments by symbol, on the exchange's clock. */
  readonly funding?: ReadonlyMap<string, FundingPayments>
  /**
   * Recorded mark prices and rates by symbol, which are known before the quote of the same instant.
   */
  readonly references?: ReadonlyMap<string, RecordedReferences>
  /**
   * Hands over every new step due up to and including `now`, in time order, and at one instant in a
   * fixed order. The first call starts at `startAt` with a step of every instrument. The steps do
   * not depend on how the time is divided into calls.
   *
   * One call hands over about {@link STEPS_PER_ADVANCE_MAX} steps, never more than twice that.
   *
   * @param now Unix ms on the exchange's clock. An earlier `now` than before hands over nothing.
   * @param visit The step and its quote are reused, and valid only during the call.
   * @returns true if nothing up to `now` is left; on false call again with the same `now`.
   */
  advance(now: number, visit: (step: MarketStep) => void): boolean
  /**
   * The 24 h before `startAt`, oldest first, 1440 bars, for the statistics of a fresh market.
   * Undefined for real prices: their past is unknown, and none is invented.
   */
  pastDay(symbol: string): readonly MinuteBar[] | undefined
  /** Everything before `startAt`; absent if it is unknown. */
  past?(symbol: string): PastMinutes | undefined
  state(): MarketState
}

/**
 * A tenth of a second of work, so that a market that catches up after a pause leaves its caller
 * time. Two cases exceed it: a seeded market keeps the steps of one instant together, and a
 * recorded one with a fallback may hand over as many steps of each.
 */
export const STEPS_PER_ADVANCE_MAX = 100_000

export function invalidOption(option: string, value: string | number, expected: string): Failure {
  return new Failure({
    code: 'MARKET_OPTION_INVALID',
    sentence: 'the simulated market cannot be set up like this',
    facts: { option, value, expected },
  })
}
