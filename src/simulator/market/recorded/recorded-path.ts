/** One recorded instrument: where its recording stands, and the quote of each of its points. */
import { createGrid, floatOnGrid, nearestStep, stepAbove, stepBelow, type Grid } from '../../../lib/grid.ts'
import { createRandom, restoreRandom, type Random, type RandomState } from '../../../lib/random.ts'
import {
  CANDLE_POINTS_MAX,
  CANDLE_POINTS_MIN,
  type CandlePathKind,
  CandlePaths,
  NO_PATH,
  type PathMemory,
} from './candle-path.ts'
import {
  type CandleMemory,
  type CandleScale,
  createQuoteColumns,
  fillCandleQuotes,
  NO_MEMORY,
  QUOTE_FIELDS,
  type QuoteColumns,
  rememberCandle,
} from './candle-quotes.ts'
import {
  EMPTY_QUOTE,
  levelTicksFor,
  type MarketInstrument,
  type MarketReference,
  type MarketStep,
  type Quote,
} from '../market.ts'
import type { RecordedMarketState } from '../market-state.ts'
import type { CandleRows, QuoteRows, Recording } from './recording.ts'
import { DEFAULT_DAILY_TURNOVER } from '../seeded/seeded-path.ts'

/** A file of one row tells no interval. */
const SINGLE_CANDLE_MS = 60_000
const SINGLE_QUOTE_MS = 100
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * A recording of quotes without a column `volume` does not know what was traded. A changed last price is taken for
 * a trade of this share of what was displayed at its side in the row before: an assumption.
 */
const QUOTE_TRADE_SHARE = 0.1

type CursorState = RecordedMarketState['cursors'][string]
type MutableQuote = { -readonly [Field in keyof Quote]: number }

/** Zero before the first quote. */
interface MinuteSoFar {
  readonly candle: number
  readonly lots: number
  readonly high: number
  readonly low: number
}

const NO_MINUTE: MinuteSoFar = { candle: 0, lots: 0, high: 0, low: 0 }

/**
 * A recording laid on its instrument's grid. It stands at its next point; times are the recording's own. The quotes
 * of a candle are drawn together when it begins, so a stored state says where its random numbers were then.
 */
export class RecordedPath {
  readonly symbol: string
  /** Recording time of the first row, and of the end: the last candle's, or a mean step after the last quote. */
  readonly startAt: number
  readonly endAt: number
  readonly #rows: CandleRows | QuoteRows
  readonly #grid: Grid
  readonly #lot: number
  readonly #random: Random
  readonly #intervalMs: number
  readonly #points: number
  readonly #paths: CandlePaths
  readonly #scale: CandleScale
  /** Quotes of the current candle, and what is traded in it. */
  readonly #columns: QuoteColumns
  #candleLots = 0
  readonly #quote: MutableQuote = { ...EMPTY_QUOTE }
  #reference: MarketReference = { markTicks: undefined, fundingRate: undefined }
  /** What the candles before the current one have shown. */
  #memory: CandleMemory
  /** Of a recording of quotes: the minute of the latest one. */
  #minute: MinuteSoFar
  /** Before the current candle was drawn. */
  #drawnFrom: { readonly random: RandomState; readonly path: PathMemory }
  #lap: number
  #row: number
  #point: number
  /** Whether the first quote was shown; it is shown at the market's start, however late the recording begins. */
  #opened: boolean

  constructor(options: {
    readonly recording: Recording
    readonly instrument: MarketInstrument
    readonly speed: number
    readonly seed: number | string
    readonly candlePath: CandlePathKind
    readonly state?: CursorState
  }) {
    const { recording, instrument, speed, seed, state } = options
    const { rows } = recording
    this.symbol = recording.symbol
    this.#rows = rows
    this.#grid = createGrid(instrument.tickSize)
    this.#lot = floatOnGrid(createGrid(instrument.lotSize), 1)
    this.#random = state ? restoreRandom(state.random) : createRandom(seed).fork(this.symbol).fork('recorded')
    this.#intervalMs = rows.kind === 'candles' ? shortestStep(rows.at) : 0
    const pointsThatFit = Math.floor(this.#intervalMs / speed)
    const points = Math.max(CANDLE_POINTS_MIN, Math.min(CANDLE_POINTS_MAX, pointsThatFit))
    this.#points = rows.kind === 'candles' ? points : 1
    this.#columns = createQuoteColumns(this.#points)
    const { path: memory = NO_PATH } = state ?? {}
    this.#paths = new CandlePaths({ kind: options.candlePath, points, memory })
    this.#scale = candleScale(instrument, {
      ...{ rows, lot: this.#lot },
      intervalMs: this.#intervalMs || MINUTE_MS,
    })
    this.#memory = state?.memory ?? NO_MEMORY
    this.#minute = state?.minute ?? NO_MINUTE
    this.#drawnFrom = { random: this.#random.state(), path: memory }
    this.startAt = rows.at[0] as number
    this.endAt = (rows.at[rows.at.length - 1] as number) + (this.#intervalMs || meanStep(rows.at))
    this.#lap = state?.lap ?? 0
    this.#row = state?.row ?? 0
    this.#point = state?.point ?? 0
    this.#opened = state?.opened ?? false
    this.#beginCandle()
    if (state?.quote) Object.assign(this.#quote, state.quote)
  }

  get lap(): number {
    return this.#lap
  }

  get isOpened(): boolean {
    return this.#opened
  }

  get quote(): Quote {
    return this.#quote
  }

  /** The point that was shown last; valid until the next. */
  shown(): Omit<MarketStep, 'at'> {
    return { symbol: this.symbol, quote: this.#quote, reference: this.#reference }
  }

  /** Recording time of the next point; Infinity when there is none. */
  nextAt(): number {
    if (this.#row >= this.#rows.at.length) return Number.POSITIVE_INFINITY
    return (this.#rows.at[this.#row] as number) + (this.#point * this.#intervalMs) / this.#points
  }

  /**
   * Takes note that the market has started. A recording that begins later than the others shows its first
   * quote from then on, with nothing traded in it. @returns whether there is such a quote to hand over
   */
  open(isLate: boolean): boolean {
    this.#opened = true
    if (!isLate) return false
    this.#show()
    this.#quote.tradedLots = 0
    return true
  }

  /** Shows the next point and moves on. @param isRepeated Whether the recording starts again at its end. */
  step(isRepeated: boolean): void {
    this.#show()
    this.#point++
    if (this.#point < this.#points) return
    this.#point = 0
    this.#rememberCandle()
    this.#row++
    if (this.#row >= this.#rows.at.length && isRepeated) {
      this.#row = 0
      this.#lap++
    }
    this.#beginCandle()
  }

  state(): CursorState {
    return {
      ...this.#drawnFrom,
      memory: this.#memory,
      minute: this.#minute,
      lap: this.#lap,
      row: this.#row,
      point: this.#point,
      opened: this.#opened,
      ...(this.#opened && { quote: { ...this.#quote } }),
    }
  }

  #show(): void {
    if (this.#rows.kind === 'candles') this.#showCandlePoint()
    else this.#showQuoteRow(this.#rows)
    if (this.#rows.mark || this.#rows.fundingRate) this.#reference = this.#readReference()
  }

  /** What a candle says of its end is known from then on. */
  #readReference(): MarketReference {
    const { kind, mark, fundingRate } = this.#rows
    const row = kind === 'candles' ? this.#row - 1 : this.#row
    const price = mark?.[row]
    return {
      markTicks: price === undefined ? undefined : Math.max(1, nearestStep(this.#grid, price)),
      fundingRate: fundingRate?.[row],
    }
  }

  #beginCandle(): void {
    const rows = this.#rows
    if (rows.kind !== 'candles' || this.#row >= rows.at.length) return
    this.#drawnFrom = { random: this.#random.state(), path: this.#paths.memory }
    const path = this.#paths.draw(this.#candle(rows), this.#random)
    const [memory, scale] = [this.#memory, this.#scale]
    const { lastTicks: before } = this.#drawnFrom.path
    const candle = { path, before, lots: this.#volume(rows), memory, scale }
    fillCandleQuotes(this.#columns, candle, this.#random)
    this.#candleLots = candle.lots
  }

  #showScale(candle: number, candleLots: number): void {
    const minutes = this.#scale.intervalMs / MINUTE_MS
    this.#quote.levelTicks = levelTicksFor(this.#memory.rangeTicks / Math.sqrt(minutes))
    this.#quote.candle = candle
    this.#quote.candleLots = candleLots
  }

  #rememberCandle(): void {
    const rows = this.#rows
    if (rows.kind === 'candles')
      this.#memory = rememberCandle(this.#memory, this.#candle(rows), this.#volume(rows))
  }

  #candle({ open, high, low, close }: CandleRows) {
    const ticks = (column: Float64Array) => Math.max(1, nearestStep(this.#grid, column[this.#row] as number))
    return { open: ticks(open), high: ticks(high), low: ticks(low), close: ticks(close) }
  }

  /** In lots. */
  #volume({ volume }: CandleRows): number {
    return Math.round((volume[this.#row] as number) / this.#lot)
  }

  #showCandlePoint(): void {
    const quote = this.#quote
    for (const field of QUOTE_FIELDS) quote[field] = this.#columns[field][this.#point] as number
    this.#showScale(this.#lap * this.#rows.at.length + this.#row, this.#candleLots)
  }

  /** The quote as it stands, rounded outward to the grid. */
  #showQuoteRow(rows: QuoteRows): void {
    const row = this.#row
    const quote = this.#quote
    const lastTicks = Math.max(1, nearestStep(this.#grid, rows.last[row] as number))
    quote.tradedLots = this.#tradedIn(rows, lastTicks)
    quote.lastTicks = lastTicks
    quote.bidTicks = Math.max(1, stepBelow(this.#grid, rows.bid[row] as number))
    quote.askTicks = Math.max(quote.bidTicks + 1, stepAbove(this.#grid, rows.ask[row] as number))
    quote.bidLots = Math.max(1, Math.floor((rows.bidSize[row] as number) / this.#lot + 1e-6))
    quote.askLots = Math.max(1, Math.floor((rows.askSize[row] as number) / this.#lot + 1e-6))
    this.#countQuote(Math.floor((rows.at[row] as number) / MINUTE_MS))
  }

  /** Counts the minutes of a recording of quotes as its candles. */
  #countQuote(candle: number): void {
    const { lastTicks, tradedLots } = this.#quote
    if (candle !== this.#minute.candle) {
      if (this.#minute.high > 0) this.#memory = rememberCandle(this.#memory, this.#minute, this.#minute.lots)
      this.#minute = { candle, lots: 0, high: lastTicks, low: lastTicks }
    }
    const { lots, high, low } = this.#minute
    this.#minute = {
      candle,
      lots: lots + tradedLots,
      high: Math.max(high, lastTicks),
      low: Math.min(low, lastTicks),
    }
    const usual = this.#memory.candles === 0 ? this.#scale.lots : this.#memory.lots
    this.#showScale(candle, Math.max(usual, this.#minute.lots))
  }

  /** Since the row before, in lots; {@link QUOTE_TRADE_SHARE} where the recording does not say. */
  #tradedIn({ volume }: QuoteRows, lastTicks: number): number {
    const { lastTicks: before, askLots, bidLots } = this.#quote
    if (volume) return Math.floor((volume[this.#row] as number) / this.#lot + 1e-6)
    if (before === 0 || lastTicks === before) return 0
    return Math.max(1, Math.floor((lastTicks > before ? askLots : bidLots) * QUOTE_TRADE_SHARE))
  }
}

/** Before the first candle is over, an instrument is taken for as large as its row in the list says. */
function candleScale(
  { tickSize, dailyTurnover = DEFAULT_DAILY_TURNOVER }: MarketInstrument,
  { rows, lot, intervalMs }: { rows: CandleRows | QuoteRows; lot: number; intervalMs: number },
): CandleScale {
  const price = rows.kind === 'candles' ? (rows.open[0] as number) : (rows.last[0] as number)
  const lots = (dailyTurnover * intervalMs) / DAY_MS / (price * lot)
  return { lots, intervalMs, lotNotional: floatOnGrid(createGrid(tickSize), 1) * lot }
}

function shortestStep(at: Float64Array): number {
  let shortest = Number.POSITIVE_INFINITY
  for (let row = 1; row < at.length; row++) {
    shortest = Math.min(shortest, (at[row] as number) - (at[row - 1] as number))
  }
  return Number.isFinite(shortest) ? shortest : SINGLE_CANDLE_MS
}

function meanStep(at: Float64Array): number {
  const spanMs = (at[at.length - 1] as number) - (at[0] as number)
  return spanMs > 0 ? spanMs / (at.length - 1) : SINGLE_QUOTE_MS
}
