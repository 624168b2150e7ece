/** One recorded instrument: where its recording stands, and the quote of each of its points. */
import { createGrid, floatOnGrid, nearestStep, stepAbove, stepBelow, type Grid } from '../../lib/grid.ts'
import { createRandom, exponential, restoreRandom, type Random } from '../../lib/random.ts'
import { CANDLE_POINTS_MAX, CANDLE_POINTS_MIN, fillCandlePath } from './candle-path.ts'
import type { MarketInstrument, Quote } from './market.ts'
import type { RecordedMarketState } from './market-state.ts'
import type { CandleRows, QuoteRows, Recording } from './recording.ts'

/** A file of one row tells no interval. */
const SINGLE_CANDLE_MS = 60_000
const SINGLE_QUOTE_MS = 100

/** Displayed at each side: this share of the candle's volume (the median), and the spread of its logarithm. */
const DISPLAYED_SHARE = 0.03
const DISPLAYED_DEVIATION = 1.2

/** How often the spread opens in a candle, and by how much of the candle's range at most. */
const WIDENING_PROBABILITY = 0.02
const WIDENING_RANGE_SHARE = 0.1

type CursorState = RecordedMarketState['cursors'][string]
type MutableQuote = { -readonly [Field in keyof Quote]: number }

/** A recording laid on its instrument's grid. It stands at its next point; times are the recording's own. */
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
  /** Prices of the current candle's points; one point for a quote. */
  readonly #points: Float64Array
  readonly #quote: MutableQuote = {
    bidTicks: 0,
    askTicks: 0,
    bidLots: 0,
    askLots: 0,
    lastTicks: 0,
    tradedLots: 0,
  }
  #rangeTicks = 0
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
    this.#points = new Float64Array(rows.kind === 'candles' ? points : 1)
    this.startAt = rows.at[0] as number
    this.endAt = (rows.at[rows.at.length - 1] as number) + (this.#intervalMs || meanStep(rows.at))
    this.#lap = state?.lap ?? 0
    this.#row = state?.row ?? 0
    this.#point = state?.point ?? 0
    this.#opened = state?.opened ?? false
    if (state?.quote) Object.assign(this.#quote, state.quote)
    this.#readCandle()
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

  /** Recording time of the next point; Infinity when there is none. */
  nextAt(): number {
    if (this.#row >= this.#rows.at.length) return Number.POSITIVE_INFINITY
    return (this.#rows.at[this.#row] as number) + (this.#point * this.#intervalMs) / this.#points.length
  }

  /**
   * Takes note that the market has started. A recording that begins later than the others shows its first
   * quote from then on, with nothing traded in it. @returns whether there is such a quote to hand over
   */
  open(isLate: boolean): boolean {
    this.#opened = true
    if (!isLate) return false
    const copy = restoreRandom(this.#random.state())
    if (this.#rows.kind === 'candles') this.#showCandlePoint(this.#rows, copy)
    else this.#showQuoteRow(this.#rows)
    this.#quote.tradedLots = 0
    return true
  }

  /** Shows the next point and moves on. @param isRepeated Whether the recording starts again at its end. */
  step(isRepeated: boolean): void {
    if (this.#rows.kind === 'candles') this.#showCandlePoint(this.#rows, this.#random)
    else this.#showQuoteRow(this.#rows)
    this.#point++
    if (this.#point < this.#points.length) return
    this.#point = 0
    this.#row++
    if (this.#row >= this.#rows.at.length && isRepeated) {
      this.#row = 0
      this.#lap++
    }
    this.#readCandle()
  }

  state(): CursorState {
    return {
      random: this.#random.state(),
      lap: this.#lap,
      row: this.#row,
      point: this.#point,
      opened: this.#opened,
      ...(this.#opened && { quote: { ...this.#quote } }),
    }
  }

  #readCandle(): void {
    const rows = this.#rows
    if (rows.kind !== 'candles' || this.#row >= rows.at.length) return
    const ticks = (column: Float64Array) => Math.max(1, nearestStep(this.#grid, column[this.#row] as number))
    const [open, high, low, close] = [ticks(rows.open), ticks(rows.high), ticks(rows.low), ticks(rows.close)]
    this.#rangeTicks = high - low
    fillCandlePath(this.#points, { open, high, low, close })
  }

  /**
   * A rising point was traded at the ask, a falling one at the bid, so that an order resting at a candle's
   * extreme was at the front of the market. The candle's volume is shared out evenly, to the last lot.
   */
  #showCandlePoint(rows: CandleRows, random: Random): void {
    const count = this.#points.length
    const last = this.#points[this.#point] as number
    const before = this.#point === 0 ? this.#quote.lastTicks : (this.#points[this.#point - 1] as number)
    const isBuy = last === before ? random.next() < 0.5 : last > before
    const isWide = random.next() < WIDENING_PROBABILITY
    const spread = 1 + Math.round(isWide ? this.#rangeTicks * WIDENING_RANGE_SHARE * random.next() : 0)
    const quote = this.#quote
    quote.bidTicks = Math.max(1, isBuy ? last - spread : last)
    quote.askTicks = Math.max(quote.bidTicks + 1, isBuy ? last : last + spread)
    quote.lastTicks = last
    const lots = Math.round((rows.volume[this.#row] as number) / this.#lot)
    quote.tradedLots =
      Math.floor((lots * (this.#point + 1)) / count) - Math.floor((lots * this.#point) / count)
    const median = lots * DISPLAYED_SHARE
    quote.bidLots = Math.max(1, Math.round(median * exponential(DISPLAYED_DEVIATION * random.normal())))
    quote.askLots = Math.max(1, Math.round(median * exponential(DISPLAYED_DEVIATION * random.normal())))
  }

  /**
   * The quote as it stands, rounded outward to the grid. What was traded is not recorded: a changed last
   * price is taken for a trade of what was displayed at its side in the row before.
   */
  #showQuoteRow(rows: QuoteRows): void {
    const row = this.#row
    const quote = this.#quote
    const lastTicks = Math.max(1, nearestStep(this.#grid, rows.last[row] as number))
    const isTrade = quote.lastTicks !== 0 && lastTicks !== quote.lastTicks
    quote.tradedLots = !isTrade ? 0 : lastTicks > quote.lastTicks ? quote.askLots : quote.bidLots
    quote.lastTicks = lastTicks
    quote.bidTicks = Math.max(1, stepBelow(this.#grid, rows.bid[row] as number))
    quote.askTicks = Math.max(quote.bidTicks + 1, stepAbove(this.#grid, rows.ask[row] as number))
    quote.bidLots = Math.max(1, Math.floor((rows.bidSize[row] as number) / this.#lot + 1e-6))
    quote.askLots = Math.max(1, Math.floor((rows.askSize[row] as number) / this.#lot + 1e-6))
  }
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
