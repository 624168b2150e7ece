import { Failure } from '../../lib/failure.ts'

/** Whole ticks and lots, at least 1. */
export interface Quote {
  readonly bidTicks: number
  readonly askTicks: number
  readonly bidLots: number
  readonly askLots: number
  readonly lastTicks: number
  readonly tradedLots: number
  /** Extremes match resting orders, and are not displayed. */
  readonly lowTicks?: number
  readonly highTicks?: number
  /**
   * No figure shows a candle's extreme before the candle ends: it would reveal that the price turns
   * there.
   */
  readonly isUnseen?: boolean
  /** Only the last point of a candle has its whole range. */
  readonly candleHighTicks?: number
  readonly candleLowTicks?: number
  readonly levelTicks: number
  readonly candle: number
  /**
   * Bounds what orders may take: the volume of the candle so far, and at least the usual volume.
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

export interface PastMinutes {
  readonly fromAt: number
  readonly untilAt: number
  between(fromAt: number, untilAt: number): readonly MinuteBar[]
}

/** Below 1 kB of JSON for each instrument. Only the market of this identity can read it. */
export interface StoredMarketState {
  readonly identity: string
}

/** A state of another market is ignored; the exchange then refuses to start. */
export function ownState<State extends StoredMarketState>(
  identity: string,
  state: StoredMarketState | undefined,
): State | undefined {
  return state?.identity === identity ? (state as State) : undefined
}

export interface FundingSeries {
  readonly at: Float64Array
  /** Share of the notional, paid by longs. */
  readonly rate: Float64Array
}

export interface RecordedReferences {
  /** Exchange clock: figures of a candle are known at its end. */
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
  /** This and all other times are on the exchange's clock. */
  readonly endings?: ReadonlyMap<string, number>
  readonly funding?: ReadonlyMap<string, FundingSeries>
  readonly references?: ReadonlyMap<string, RecordedReferences>
  /**
   * Hands over every step that is due up to `now`, in time order, and at one instant in a fixed
   * order, however time is divided into calls. The first call starts at `startAt` with a step of
   * every instrument.
   *
   * @param now exchange clock; an earlier one hands over nothing
   * @param visit step and quote are reused, and valid only during the call
   * @returns true if nothing up to `now` is left; on false call again with the same `now`
   */
  advance(now: number, visit: (step: MarketStep) => void): boolean
  pastDay(symbol: string): readonly MinuteBar[] | undefined
  past?(symbol: string): PastMinutes | undefined
  state(): StoredMarketState
}

/**
 * About 100 ms of work. Steps of one instant stay together, so a call may hand over twice as many.
 */
export const STEPS_PER_ADVANCE_MAX = 100_000

export function invalidOption(option: string, value: string | number, expected: string): Failure {
  return new Failure({
    code: 'MARKET_OPTION_INVALID',
    sentence: 'the simulated market cannot be set up like this',
    facts: { option, value, expected },
  })
}
