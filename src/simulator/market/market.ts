/**
 * What the simulated exchange knows of its market: a path of displayed quotes, one per instrument, that
 * does not react to the orders of its users. Three kinds stand behind this contract: a seeded generator
 * (seeded-market.ts), recordings of real prices (recorded-market.ts), and the prices of another exchange
 * (live-market.ts).
 */
import { Failure } from '../../lib/failure.ts'

/** One moment of one instrument's displayed market. Prices in whole ticks, sizes in whole lots. */
export interface Quote {
  /** Best price to sell at; at least 1, always below `askTicks`. */
  readonly bidTicks: number
  readonly askTicks: number
  /** Displayed at the bid; at least 1. */
  readonly bidLots: number
  readonly askLots: number
  /** The price of the latest trade. */
  readonly lastTicks: number
  /** Traded at `lastTicks` since the instrument's step before; 0 when `lastTicks` is an older trade. */
  readonly tradedLots: number
  /**
   * The lowest and the highest price on the way from the step before to this one, where the path knows it: resting
   * orders meet them, nobody sees them.
   */
  readonly lowTicks?: number
  readonly highTicks?: number
  /**
   * An extreme of a candle that is over in an instant: resting orders and triggers meet it, and nobody sees it. No figure
   * follows from it before the candle is over, since it would say that price does not come there again.
   */
  readonly isUnseen?: boolean
  /** What the day's high and low learn of: the last price, and with the last point of a candle how far it all went. */
  readonly candleHighTicks?: number
  readonly candleLowTicks?: number
  /** How much worse each level behind the displayed one is than the one before it; at least 1. */
  readonly levelTicks: number
  /** The number of the candle that this moment is in, or of the minute where there are none. */
  readonly candle: number
  /**
   * What is traded in that candle: for the share that orders may have of it, not for anybody to see. Where nobody
   * knows it yet, what was traded so far, and at least what is usual.
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

/** Levels behind the displayed one are this share of a usual minute's range apart: an assumption. */
const LEVEL_RANGE_SHARE = 0.005

/** @param rangeTicks Of a usual minute. */
export function levelTicksFor(rangeTicks: number): number {
  return Math.max(1, Math.round(rangeTicks * LEVEL_RANGE_SHARE))
}

export interface MarketInstrument {
  readonly symbol: string
  /** Decimal strings such as `0.1`. */
  readonly tickSize: string
  readonly lotSize: string
  /** Where a seeded path starts, in quote coin; a recorded symbol takes its recording's prices. */
  readonly startPrice: string
  /** Standard deviation of a year of returns of a seeded path; 0.6 is 60 %, and the default. */
  readonly yearlyVolatility?: number
  /** Traded in a day by a seeded path, in quote coin: 2e9 is a large perpetual. */
  readonly dailyTurnover: number
  /** When funding is paid, in minutes after midnight UTC, rising. Default: 0, 480 and 960. */
  readonly fundingMinutes?: readonly number[]
}

/** What a recording knows of an instrument beside its quotes; the exchange makes up what it does not. */
export interface MarketReference {
  /** In ticks; undefined where the recording does not say. */
  readonly markTicks: number | undefined
  /** As a share of the notional: 0.0001 is 1 bp. */
  readonly fundingRate: number | undefined
}

/** One step of the path: at `at` (Unix ms on the exchange's clock) the symbol's quote becomes `quote`. */
export interface MarketStep {
  readonly at: number
  readonly symbol: string
  readonly quote: Quote
  /** Of a recording, as far as it goes. */
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

/** What a market leaves behind to go on from, as JSON: below 1 kB an instrument. Only the same market reads it. */
export interface MarketState {
  readonly identity: string
}

/** Of another market it is left aside: that one begins afresh, and the exchange refuses it. */
export function ownState<State extends MarketState>(
  identity: string,
  state: MarketState | undefined,
): State | undefined {
  return state?.identity === identity ? (state as State) : undefined
}

/** Payments of funding in the order of time. */
export interface FundingPayments {
  /** Unix ms on the exchange's clock. */
  readonly at: Float64Array
  /** As a share of the notional: 0.0001 is 1 bp, paid by longs. */
  readonly rate: Float64Array
}

/** What recorded candles say of an instrument beside its prices, in the order of time. */
export interface RecordedReferences {
  /** Unix ms on the exchange's clock from which a candle's figures are known: its end. */
  readonly at: Float64Array
  readonly markTicks: Float64Array | undefined
  /** As a share of the notional. */
  readonly fundingRate: Float64Array | undefined
}

export interface Market {
  /** What a stored state belongs to: `seeded:1:100ms:x1`, or `recorded:<12 hex of the contents>:x600`. */
  readonly identity: string
  /** Milliseconds of market time in one millisecond of the exchange's clock. */
  readonly speed: number
  /** When the last recording has ended, on the exchange's clock; undefined when there is no end. */
  readonly endsAt: number | undefined
  /** Of recordings, by symbol: how far apart prices come, ms of the exchange's clock. */
  readonly priceStepsMs?: ReadonlyMap<string, number>
  /** Says by symbol, on the exchange's clock, when prices end for good before the market does. */
  readonly endings?: ReadonlyMap<string, number>
  /** Says by symbol, on the exchange's clock, when funding was paid, and how much, where that was recorded. */
  readonly funding?: ReadonlyMap<string, FundingPayments>
  /** Says by symbol which mark prices and rates were recorded: they are known before the quote of the same instant. */
  readonly references?: ReadonlyMap<string, RecordedReferences>
  /**
   * Hands over every step due up to and including `now` that was not handed over before, in time order,
   * and at one instant in a fixed order. The first call starts at `startAt` with a step of every instrument. How the time is cut into calls changes nothing in the steps.
   *
   * One call hands over about {@link STEPS_PER_ADVANCE_MAX} steps at most, never more than twice that.
   *
   * @param now Unix ms on the exchange's clock. An earlier `now` than before hands over nothing.
   * @param visit The step and its quote are valid during the call only: the market uses them again.
   * @returns true when nothing up to `now` is left; on false call again with the same `now`.
   */
  advance(now: number, visit: (step: MarketStep) => void): boolean
  /**
   * The 24 h before `startAt`, oldest first, 1440 bars, for the statistics of a fresh market. Undefined where prices
   * are real: nobody knows their past, and nothing about them is drawn.
   */
  pastDay(symbol: string): readonly MinuteBar[] | undefined
  state(): MarketState
}

/**
 * A tenth of a second of work, so that a market that must catch up (a start after a pause) leaves its
 * caller time for other things. Two cases go over it: a seeded market keeps the steps of one instant together,
 * and a recorded one with a fallback may hand over as many steps of each.
 */
export const STEPS_PER_ADVANCE_MAX = 100_000

/** The failure of a market option that is out of range. */
export function invalidOption(option: string, value: string | number, expected: string): Failure {
  return new Failure({
    code: 'MARKET_OPTION_INVALID',
    sentence: 'the simulated market cannot be set up like this',
    facts: { option, value, expected },
  })
}
