/** Candles as quotes: each is drawn whole when it begins. */
import { createGrid, floatOnGrid } from '../../../lib/grid.ts'
import { createRandom, restoreRandom, type Random, type RandomState } from '../../../lib/random.ts'
import { EMPTY_QUOTE, levelTicksFor, type MarketInstrument, type Quote } from '../market.ts'
import { type CandleMemory, NO_MEMORY, QuoteGrid, RECORDED_LOTS_MAX, rememberCandle } from '../quote-grid.ts'
import { DEFAULT_DAILY_TURNOVER } from '../seeded/seeded-path.ts'
import { type CandlePath, type CandlePathKind, CandlePaths, NO_PATH, type PathMemory } from './candle-path.ts'
import { type CandleScale, createQuoteColumns, fillCandleQuotes, type QuoteColumns } from './candle-quotes.ts'
import type { CandleRows } from '../../../prices/recording.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** As everything was before the current candle was drawn. */
export interface CandleSourceState {
  readonly kind: 'candles'
  readonly random: RandomState
  readonly path: PathMemory
  readonly memory: CandleMemory
}

export interface CandleSourceOptions {
  readonly rows: CandleRows
  readonly instrument: MarketInstrument
  readonly intervalMs: number
  /** Of each candle. */
  readonly points: number
  readonly seed: string | number
  readonly candlePath: CandlePathKind
  readonly state: CandleSourceState | undefined
}

export class CandleSource {
  readonly #rows: CandleRows
  readonly #grid: QuoteGrid
  readonly #lot: number
  readonly #random: Random
  readonly #paths: CandlePaths
  readonly #scale: CandleScale
  /** Quotes of the current candle, what is traded in it, and how far its levels lie apart. */
  readonly #columns: QuoteColumns
  #lots = 0
  #levelTicks = 1
  #path: CandlePath | undefined
  readonly #quote: { -readonly [Field in keyof Quote]: number } = { ...EMPTY_QUOTE }
  /** What the candles before the current one have shown. */
  #memory: CandleMemory
  #drawnFrom: { readonly random: RandomState; readonly path: PathMemory }

  constructor(options: CandleSourceOptions) {
    const { rows, instrument, intervalMs, points, seed, candlePath, state } = options
    this.#rows = rows
    this.#grid = new QuoteGrid(instrument)
    this.#lot = floatOnGrid(createGrid(instrument.lotSize), 1)
    this.#random = state
      ? restoreRandom(state.random)
      : createRandom(seed).fork(instrument.symbol).fork('recorded')
    this.#paths = new CandlePaths({ kind: candlePath, points, memory: state?.path ?? NO_PATH })
    this.#columns = createQuoteColumns(points)
    this.#scale = candleScale(instrument, { price: rows.open[0] as number, lot: this.#lot, intervalMs })
    this.#memory = state?.memory ?? NO_MEMORY
    this.#drawnFrom = { random: this.#random.state(), path: this.#paths.memory }
  }

  begin(row: number): void {
    this.#drawnFrom = { random: this.#random.state(), path: this.#paths.memory }
    const { lastTicks: before, lastSign: signBefore } = this.#paths.memory
    this.#path = this.#paths.draw(this.#candle(row), this.#random)
    const path = this.#path.prices
    const [memory, scale, lots] = [this.#memory, this.#scale, this.#volume(row)]
    fillCandleQuotes(this.#columns, { path, before, signBefore, lots, memory, scale }, this.#random)
    // Not in the quote yet: a candle is drawn before the last quote of the one before it is handed over.
    this.#lots = lots
    this.#levelTicks = levelTicksFor(memory.rangeTicks / Math.sqrt(scale.intervalMs / MINUTE_MS))
  }

  /** When a point of the current candle is there, as a share of the candle. */
  timeOf(point: number): number {
    return this.#path?.times[point] ?? 0
  }

  /** @param candle Its number, laps counted. @returns the same object each time. */
  show(point: number, candle: number): Quote {
    const quote = this.#quote
    const columns = this.#columns
    quote.bidTicks = columns.bidTicks[point] as number
    quote.askTicks = columns.askTicks[point] as number
    quote.bidLots = columns.bidLots[point] as number
    quote.askLots = columns.askLots[point] as number
    quote.lastTicks = columns.lastTicks[point] as number
    quote.tradedLots = columns.tradedLots[point] as number
    quote.candle = candle
    quote.candleLots = this.#lots
    quote.levelTicks = this.#levelTicks
    return quote
  }

  end(row: number): void {
    this.#memory = rememberCandle(this.#memory, { ...this.#candle(row), lots: this.#volume(row) })
  }

  state(): CandleSourceState {
    return { kind: 'candles', ...this.#drawnFrom, memory: this.#memory }
  }

  #candle(row: number) {
    const { open, high, low, close } = this.#rows
    const ticks = (column: Float64Array) => this.#grid.ticks(column[row] as number)
    return { open: ticks(open), high: ticks(high), low: ticks(low), close: ticks(close) }
  }

  /** In lots. */
  #volume(row: number): number {
    return Math.min(RECORDED_LOTS_MAX, Math.round((this.#rows.volume[row] as number) / this.#lot))
  }
}

/** Before the first candle is over, an instrument is taken for as large as its row in the list says. */
function candleScale(
  { tickSize, dailyTurnover = DEFAULT_DAILY_TURNOVER }: MarketInstrument,
  { price, lot, intervalMs }: { price: number; lot: number; intervalMs: number },
): CandleScale {
  const lots = (dailyTurnover * intervalMs) / DAY_MS / (price * lot)
  return { lots, intervalMs, lotNotional: floatOnGrid(createGrid(tickSize), 1) * lot }
}
