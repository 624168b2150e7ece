import { createRandom, restoreRandom, type Random, type RandomState } from '../../../lib/random.ts'
import { EMPTY_QUOTE, type MarketInstrument, type MutableQuote, type Quote } from '../market.ts'
import {
  type CandleMemory,
  NO_MEMORY,
  QuoteGrid,
  type QuoteGridState,
  rememberCandle,
} from '../quote-grid.ts'
import {
  type CandlePathKind,
  CandlePaths,
  NO_PATH,
  type PathMemory,
  type TickCandle,
} from './candle-path.ts'
import { type CandleScale, fillCandleQuotes } from './candle-quotes.ts'
import type { CandleRows } from '../../../prices/recording.ts'

export interface CandleSourceState {
  readonly random: RandomState
  readonly path: PathMemory
  readonly memory: CandleMemory
}

export interface RowSource {
  /** A share of the row. */
  timeOf(row: number, point: number): number
  show(row: number, point: number, candle: number): Quote
  end(row: number): void
  state(): CandleSourceState | QuoteGridState
}

/** To be filled in. */
export function createCandleQuotes(points: number): readonly MutableQuote[] {
  return Array.from({ length: points }, () => ({
    ...EMPTY_QUOTE,
    lowTicks: 0,
    highTicks: 0,
    isUnseen: false,
    candleHighTicks: 0,
    candleLowTicks: 0,
  }))
}

export class CandleSource implements RowSource {
  readonly #rows: CandleRows
  readonly #onDrawn:
    | ((row: number, quotes: readonly Quote[], times: Float64Array) => void)
    | undefined
  readonly #grid: QuoteGrid
  readonly #random: Random
  readonly #paths: CandlePaths
  readonly #scale: CandleScale
  readonly #quotes: readonly MutableQuote[]
  #times: Float64Array = new Float64Array()
  #memory: CandleMemory
  #drawnFrom: CandleSourceState | undefined

  constructor(options: {
    readonly rows: CandleRows
    readonly instrument: MarketInstrument
    readonly intervalMs: number
    readonly points: number
    readonly seed: string | number
    readonly candlePath: CandlePathKind
    readonly state: CandleSourceState | undefined
    readonly onDrawn?: (row: number, quotes: readonly Quote[], times: Float64Array) => void
  }) {
    const { rows, instrument, intervalMs, points, seed, candlePath, state } = options
    this.#onDrawn = options.onDrawn
    this.#rows = rows
    this.#grid = new QuoteGrid(instrument)
    this.#random = state
      ? restoreRandom(state.random)
      : createRandom(seed).fork(instrument.symbol).fork('recorded')
    this.#paths = new CandlePaths({
      kind: candlePath,
      points,
      memory: { ...NO_PATH, ...state?.path },
    })
    this.#quotes = createCandleQuotes(points)
    this.#scale = {
      lots: this.#grid.usualLots(rows.open[0] as number, intervalMs),
      lotNotional: Number(instrument.tickSize) * Number(instrument.lotSize),
      intervalMs,
    }
    this.#memory = state?.memory ?? NO_MEMORY
  }

  timeOf(row: number, point: number): number {
    if (point === 0) return 0
    this.#draw(row)
    return this.#times[point] as number
  }

  show(row: number, point: number, candle: number): Quote {
    this.#draw(row)
    const quote = this.#quotes[point] as MutableQuote
    quote.candle = candle
    return quote
  }

  end(row: number): void {
    this.#memory = rememberCandle(this.#memory, { ...this.#candle(row), lots: this.#lotsOf(row) })
    this.#drawnFrom = undefined
  }

  state(): CandleSourceState {
    return (
      this.#drawnFrom ?? {
        random: this.#random.state(),
        path: this.#paths.memory,
        memory: this.#memory,
      }
    )
  }

  #draw(row: number): void {
    if (this.#drawnFrom !== undefined) return
    this.#drawnFrom = this.state()
    const { lastTicks: before, lastSign: signBefore } = this.#paths.memory
    const { prices, times, lows, highs } = this.#paths.draw(this.#candle(row), this.#random)
    const parts = { path: prices, lows, highs, times, before, signBefore, lots: this.#lotsOf(row) }
    fillCandleQuotes(
      this.#quotes,
      { ...parts, memory: this.#memory, scale: this.#scale },
      this.#random,
    )
    this.#times = times
    this.#onDrawn?.(row, this.#quotes, times)
  }

  #candle(row: number): TickCandle {
    const { open, high, low, close } = this.#rows
    const ticks = (column: Float64Array) => this.#grid.ticks(column[row] as number)
    return { open: ticks(open), high: ticks(high), low: ticks(low), close: ticks(close) }
  }

  #lotsOf(row: number): number {
    return this.#grid.lots(this.#rows.volume[row] as number)
  }
}
