import {
  createRandom,
  exponential,
  likelyValues,
  logarithm,
  normalQuantile,
  type Random,
  type RandomState,
  restoreRandom,
} from '../../../lib/random.ts'
import type { CandleRows } from '../../../prices/recording.ts'
import {
  EMPTY_QUOTE,
  levelTicksFor,
  type MarketInstrument,
  type MutableQuote,
  type Quote,
} from '../market.ts'
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

export interface CandleSourceState {
  readonly random: RandomState
  readonly path: PathMemory
  readonly memory: CandleMemory
}

export interface RowSource {
  timeOf(row: number, point: number): number
  show(row: number, point: number, candle: number): Quote
  end(row: number): void
  state(): CandleSourceState | QuoteGridState
}

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

/**
 * Displayed sizes are this share of an earlier candle's volume, with this standard deviation of the
 * logarithm.
 */
const DISPLAYED_SHARE = 0.03
const DISPLAYED_DEVIATION = 1.2

/**
 * Candles have no quotes, so this is an assumption: beyond the first tick, the mean spread is this
 * share of a minute's range over its turnover (quote coin) to the power 0.75. It gives a fourth of
 * a tick for the BTC perpetual, and 1.5 bp for a coin with a range of 20 bp and 3,000 USDT a
 * minute.
 */
const SPREAD_SHARE = 30
const SPREAD_RANGE_MAX = 0.25

interface CandleScale {
  readonly lots: number
  readonly lotNotional: number
  readonly intervalMs: number
}

interface CandleParts {
  readonly path: Float64Array
  readonly lows: Float64Array
  readonly highs: Float64Array
  /** The first of two points at one instant is an unseen extreme. */
  readonly times: Float64Array
  readonly before: number
  readonly signBefore: number
  readonly lots: number
  readonly memory: CandleMemory
  readonly scale: CandleScale
}

/**
 * Tables of equally likely values: computing each draw would take longer than the rest of a market.
 */
const DRAWS = 1024
const SIZES = likelyValues(DRAWS, (share) =>
  exponential(DISPLAYED_DEVIATION * normalQuantile(share)),
)
const SHARES = likelyValues(DRAWS, (share) => -logarithm(1 - share))

export function fillCandleQuotes(
  quotes: readonly MutableQuote[],
  candle: CandleParts,
  random: Random,
): void {
  const { path, lows, highs, times, lots, memory, scale } = candle
  const medianLots = (memory.candles === 0 ? scale.lots : memory.lots) * DISPLAYED_SHARE
  const levelTicks = levelTicksFor(memory.rangeTicks / Math.sqrt(scale.intervalMs / 60_000))
  const spread = meanSpread(candle)
  let before = candle.before
  let sign = candle.signBefore || (random.next() < 0.5 ? 1 : -1)
  for (const [point, quote] of quotes.entries()) {
    const last = path[point] as number
    if (last !== before) sign = last > before ? 1 : -1
    const isBuy = sign > 0
    const wide = 1 + Math.floor(spread * random.pick(SHARES))
    const bid = Math.max(1, isBuy ? last - wide : last)
    quote.lastTicks = last
    quote.lowTicks = lows[point] as number
    quote.highTicks = highs[point] as number
    quote.isUnseen = times[point] === times[point + 1]
    quote.candleHighTicks = quote.candleLowTicks = last
    quote.bidTicks = bid
    quote.askTicks = Math.max(bid + 1, isBuy ? last : last + wide)
    quote.bidLots = Math.max(1, Math.round(medianLots * random.pick(SIZES)))
    quote.askLots = Math.max(1, Math.round(medianLots * random.pick(SIZES)))
    quote.levelTicks = levelTicks
    quote.candleLots = lots
    before = last
  }
  const end = quotes[quotes.length - 1] as MutableQuote
  for (const price of path) {
    if (price > (end.candleHighTicks as number)) end.candleHighTicks = price
    if (price < (end.candleLowTicks as number)) end.candleLowTicks = price
  }
  shareOut(quotes, lots, random)
}

function meanSpread({ path, memory, scale }: CandleParts): number {
  if (memory.candles === 0 || memory.rangeTicks === 0) return 0
  const minutes = scale.intervalMs / 60_000
  const range = memory.rangeTicks / Math.sqrt(minutes)
  const turnover = Math.max(1, (memory.lots * scale.lotNotional * (path[0] as number)) / minutes)
  const power = Math.sqrt(turnover * Math.sqrt(turnover))
  return Math.min((SPREAD_SHARE * range) / power, memory.rangeTicks * SPREAD_RANGE_MAX)
}

/**
 * Points of one instant share one size, because two would reveal an extreme, and fill the orders
 * there.
 */
function shareOut(quotes: readonly MutableQuote[], lots: number, random: Random): void {
  let sum = 0
  let first = 0
  for (let point = 0; point < quotes.length; point++) {
    if (quotes[point]?.isUnseen) continue
    const share = random.pick(SHARES) / (point + 1 - first)
    for (; first <= point; first++) (quotes[first] as MutableQuote).tradedLots = sum += share
  }
  let before = 0
  for (const [point, quote] of quotes.entries()) {
    const until = point === quotes.length - 1 ? lots : Math.floor((lots * quote.tradedLots) / sum)
    quote.tradedLots = until - before
    before = until
  }
}
