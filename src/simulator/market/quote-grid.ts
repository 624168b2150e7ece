/** Quotes from elsewhere, recorded or live, laid on an instrument's grid, with what is assumed of their trades. */
import { createGrid, nearestStep, stepAbove, stepBelow, type Grid } from '../../lib/grid.ts'
import type { Recording } from '../../prices/recording.ts'
import { EMPTY_QUOTE, levelTicksFor, type MarketInstrument, type Quote } from './market.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

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

/** How many rows of a recording have more than is believed: a volume or a size, which is cut to the maximum. */
export function countCutRows({ rows }: Pick<Recording, 'rows'>, lotSize: string): number {
  const sizes = rows.kind === 'candles' ? [rows.volume] : [rows.volume, rows.bidSize, rows.askSize]
  const isAbove = (size: number | undefined) => (size ?? 0) > RECORDED_LOTS_MAX * Number(lotSize)
  return rows.at.reduce(
    (count, _, row) => count + (sizes.some((size) => isAbove(size?.[row])) ? 1 : 0),
    0,
  )
}

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

/** The latest quote, and what is known of the market's size, to go on later. */
export interface QuoteGridState {
  /** {@link EMPTY_QUOTE} before the first. */
  readonly quote: Quote
  readonly memory: CandleMemory
  /** The minute that the latest quote is in. */
  readonly minute: {
    readonly candle: number
    readonly lots: number
    readonly high: number
    readonly low: number
  }
}

const NOTHING_SEEN: QuoteGridState = {
  quote: EMPTY_QUOTE,
  memory: NO_MEMORY,
  minute: { candle: 0, lots: 0, high: 0, low: 0 },
}

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
  readonly #lotGrid: Grid
  readonly #instrument: MarketInstrument
  #state: QuoteGridState

  constructor(instrument: MarketInstrument, state = NOTHING_SEEN) {
    this.#instrument = instrument
    this.#grid = createGrid(instrument.tickSize)
    this.#lotGrid = createGrid(instrument.lotSize)
    this.#state = state
  }

  get state(): QuoteGridState {
    return this.#state
  }

  ticks(price: number): number {
    return Math.max(1, nearestStep(this.#grid, price))
  }

  /** The next quote, rounded outward to the grid. */
  next(foreign: ForeignQuote): Quote {
    const lastTicks = this.ticks(foreign.last)
    const tradedLots = this.#tradedIn(foreign, lastTicks)
    const bidTicks = Math.max(1, stepBelow(this.#grid, foreign.bid))
    const candle = Math.floor(foreign.at / MINUTE_MS)
    const { memory, minute } = this.#count(candle, lastTicks, tradedLots)
    const quote = {
      lastTicks,
      tradedLots,
      bidTicks,
      candle,
      askTicks: Math.max(bidTicks + 1, stepAbove(this.#grid, foreign.ask)),
      bidLots: Math.max(1, this.lots(foreign.bidSize)),
      askLots: Math.max(1, this.lots(foreign.askSize)),
      levelTicks: levelTicksFor(memory.rangeTicks),
      candleLots: Math.max(
        memory.candles > 0 ? memory.lots : this.usualLots(foreign.last, MINUTE_MS),
        minute.lots,
      ),
    }
    this.#state = { quote, memory, minute }
    return quote
  }

  /** Whole lots, rounded down: what is not a lot was not traded, and is not shared out. */
  lots(size: number): number {
    return Math.min(RECORDED_LOTS_MAX, stepBelow(this.#lotGrid, size))
  }

  /** Traded in so long, where nothing was seen yet: an instrument as large as its row in the list says. */
  usualLots(price: number, durationMs: number): number {
    const { dailyTurnover, lotSize } = this.#instrument
    return (dailyTurnover * durationMs) / DAY_MS / (price * Number(lotSize))
  }

  #tradedIn({ volume }: ForeignQuote, lastTicks: number): number {
    const before = this.#state.quote
    if (volume !== undefined) return this.lots(volume)
    if (before.lastTicks === 0 || lastTicks === before.lastTicks) return 0
    const displayed = lastTicks > before.lastTicks ? before.askLots : before.bidLots
    return Math.max(1, Math.floor(displayed * QUOTE_TRADE_SHARE))
  }

  #count(candle: number, last: number, tradedLots: number): Omit<QuoteGridState, 'quote'> {
    const { memory, minute } = this.#state
    if (candle !== minute.candle) {
      const known = minute.high > 0 ? rememberCandle(memory, minute) : memory
      return { memory: known, minute: { candle, lots: tradedLots, high: last, low: last } }
    }
    const [high, low] = [Math.max(minute.high, last), Math.min(minute.low, last)]
    return { memory, minute: { candle, lots: minute.lots + tradedLots, high, low } }
  }
}
