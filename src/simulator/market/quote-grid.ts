import { createGrid, nearestStep, stepAbove, stepBelow, type Grid } from '../../lib/grid.ts'
import type { Recording } from '../../prices/recording.ts'
import { EMPTY_QUOTE, levelTicksFor, type MarketInstrument, type Quote } from './market.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * An assumption: without a volume, a changed last price traded this share of the displayed size.
 */
const QUOTE_TRADE_SHARE = 0.1

const CANDLES_REMEMBERED = 20

/** Keeps a day's volume in whole lots below 2^53, even with a trade every 100 ms. */
export const RECORDED_LOTS_MAX = 1e10

export function countCutRows({ rows }: Pick<Recording, 'rows'>, lotSize: string): number {
  const sizes = rows.kind === 'candles' ? [rows.volume] : [rows.volume, rows.bidSize, rows.askSize]
  const isAbove = (size: number | undefined) => (size ?? 0) > RECORDED_LOTS_MAX * Number(lotSize)
  return rows.at.reduce(
    (count, _, row) => count + (sizes.some((size) => isAbove(size?.[row])) ? 1 : 0),
    0,
  )
}

export interface CandleMemory {
  readonly candles: number
  readonly lots: number
  readonly rangeTicks: number
}

export const NO_MEMORY: CandleMemory = { candles: 0, lots: 0, rangeTicks: 0 }

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

export interface QuoteGridState {
  readonly quote: Quote
  readonly memory: CandleMemory
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

export interface ForeignQuote {
  readonly at: number
  readonly bid: number
  readonly ask: number
  readonly bidSize: number
  readonly askSize: number
  readonly last: number
  readonly volume: number | undefined
}

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

  /** Bid and ask are rounded outward. */
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

  lots(size: number): number {
    return Math.min(RECORDED_LOTS_MAX, stepBelow(this.#lotGrid, size))
  }

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
