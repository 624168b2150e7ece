/** Quotes from elsewhere, recorded or live, laid on an instrument's grid, with what is assumed of their trades. */
import { createGrid, floatOnGrid, nearestStep, stepAbove, stepBelow, type Grid } from '../../lib/grid.ts'
import { EMPTY_QUOTE, levelTicksFor, type MarketInstrument, type Quote } from './market.ts'
import { DEFAULT_DAILY_TURNOVER } from './seeded/seeded-path.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440

/**
 * Where nobody says what was traded, a changed last price is taken for a trade of this share of what was displayed
 * at its side before: an assumption.
 */
const QUOTE_TRADE_SHARE = 0.1

/** How many candles are remembered, each a little less than the one after it. */
const CANDLES_REMEMBERED = 20

/**
 * A recording that says more of one candle or quote is not believed. So much every 100 ms is still a day's volume
 * that can be counted: whole lots below 2^53.
 */
export const RECORDED_LOTS_MAX = 1e10

/** A float that was written on the grid may lie this far below it. */
const GRID_NOISE = 1e-6

/** What the candles before have shown; all zero before the first. */
export interface CandleMemory {
  /** How many there were, up to {@link CANDLES_REMEMBERED}. */
  readonly candles: number
  /** Their mean volume and range. */
  readonly lots: number
  readonly rangeTicks: number
}

export const NO_MEMORY: CandleMemory = { candles: 0, lots: 0, rangeTicks: 0 }

/** Takes a candle that is over into what is known. */
export function rememberCandle(
  memory: CandleMemory,
  { high, low, lots }: { readonly high: number; readonly low: number; readonly lots: number },
): CandleMemory {
  const candles = Math.min(CANDLES_REMEMBERED, memory.candles + 1)
  return {
    candles,
    lots: memory.lots + (lots - memory.lots) / candles,
    rangeTicks: memory.rangeTicks + (high - low - memory.rangeTicks) / candles,
  }
}

/** The minute that the latest quote is in; zero before the first. */
interface MinuteSoFar {
  readonly candle: number
  readonly lots: number
  readonly high: number
  readonly low: number
}

/** What is known of the market's size, to go on later. */
export interface QuoteGridState {
  readonly memory: CandleMemory
  readonly minute: MinuteSoFar
}

const NOTHING_SEEN: QuoteGridState = { memory: NO_MEMORY, minute: { candle: 0, lots: 0, high: 0, low: 0 } }

/** A quote as somebody else shows it: prices in quote coin, sizes in base coin. */
export interface ForeignQuote {
  /** Unix ms. */
  readonly at: number
  readonly bid: number
  readonly ask: number
  readonly bidSize: number
  readonly askSize: number
  readonly last: number
  /** Traded since the quote before; undefined where nobody says. */
  readonly volume: number | undefined
}

/** Lays one instrument's quotes on its grid, one after the other. */
export class QuoteGrid {
  readonly #grid: Grid
  readonly #lot: number
  readonly #dailyTurnover: number
  #memory: CandleMemory
  #minute: MinuteSoFar

  constructor(
    { tickSize, lotSize, dailyTurnover = DEFAULT_DAILY_TURNOVER }: MarketInstrument,
    state = NOTHING_SEEN,
  ) {
    this.#grid = createGrid(tickSize)
    this.#lot = floatOnGrid(createGrid(lotSize), 1)
    this.#dailyTurnover = dailyTurnover
    this.#memory = state.memory
    this.#minute = state.minute
  }

  state(): QuoteGridState {
    return { memory: this.#memory, minute: this.#minute }
  }

  ticks(price: number): number {
    return Math.max(1, nearestStep(this.#grid, price))
  }

  /** The quote after `before`, rounded outward to the grid. */
  next(before: Quote, foreign: ForeignQuote): Quote {
    const lastTicks = this.ticks(foreign.last)
    const tradedLots = this.#tradedIn(foreign, before, lastTicks)
    const bidTicks = Math.max(1, stepBelow(this.#grid, foreign.bid))
    const candle = Math.floor(foreign.at / MINUTE_MS)
    this.#count(candle, lastTicks, tradedLots)
    return {
      ...EMPTY_QUOTE,
      ...{ lastTicks, tradedLots, bidTicks, candle },
      askTicks: Math.max(bidTicks + 1, stepAbove(this.#grid, foreign.ask)),
      bidLots: Math.max(1, this.#lots(foreign.bidSize)),
      askLots: Math.max(1, this.#lots(foreign.askSize)),
      levelTicks: levelTicksFor(this.#memory.rangeTicks),
      candleLots: Math.max(this.#usualLots(foreign.last), this.#minute.lots),
    }
  }

  #lots(size: number): number {
    return Math.min(RECORDED_LOTS_MAX, Math.floor(size / this.#lot + GRID_NOISE))
  }

  #tradedIn({ volume }: ForeignQuote, before: Quote, lastTicks: number): number {
    if (volume !== undefined) return this.#lots(volume)
    if (before.lastTicks === 0 || lastTicks === before.lastTicks) return 0
    const displayed = lastTicks > before.lastTicks ? before.askLots : before.bidLots
    return Math.max(1, Math.floor(displayed * QUOTE_TRADE_SHARE))
  }

  /** Of a minute; before the first is over, of an instrument as large as its row in the list says. */
  #usualLots(price: number): number {
    if (this.#memory.candles > 0) return this.#memory.lots
    return this.#dailyTurnover / DAY_MINUTES / (price * this.#lot)
  }

  #count(candle: number, lastTicks: number, tradedLots: number): void {
    if (candle !== this.#minute.candle) {
      if (this.#minute.high > 0) this.#memory = rememberCandle(this.#memory, this.#minute)
      this.#minute = { candle, lots: 0, high: lastTicks, low: lastTicks }
    }
    const { lots, high, low } = this.#minute
    this.#minute = {
      candle,
      lots: lots + tradedLots,
      high: Math.max(high, lastTicks),
      low: Math.min(low, lastTicks),
    }
  }
}
