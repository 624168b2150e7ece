/** One recorded instrument: where its recording stands, and the quote of each of its points. */
import { createGrid, nearestStep, type Grid } from '../../../lib/grid.ts'
import { CANDLE_POINTS_MAX, CANDLE_POINTS_MIN, type CandlePathKind } from './candle-path.ts'
import { CandleSource } from './candle-source.ts'
import {
  EMPTY_QUOTE,
  type MarketInstrument,
  type MarketReference,
  type MarketStep,
  type Quote,
} from '../market.ts'
import type { RecordedMarketState } from '../market-state.ts'
import { QuoteSource } from './quote-source.ts'
import type { Recording } from '../../../prices/recording.ts'

/** A file of one row tells no interval. */
const SINGLE_CANDLE_MS = 60_000
const SINGLE_QUOTE_MS = 100

type CursorState = RecordedMarketState['cursors'][string]

interface RecordedPathOptions {
  readonly recording: Recording
  readonly instrument: MarketInstrument
  readonly speed: number
  readonly seed: number | string
  readonly candlePath: CandlePathKind
  readonly state?: CursorState
}

/** A recording laid on its instrument's grid. It stands at its next point; times are the recording's own. */
export class RecordedPath {
  readonly symbol: string
  /** Recording time of the first row, and of the end: the last candle's, or a mean step after the last quote. */
  readonly startAt: number
  readonly endAt: number
  readonly #rows: Recording['rows']
  readonly #source: CandleSource | QuoteSource
  readonly #grid: Grid
  readonly #intervalMs: number
  /** Of each row. */
  readonly #points: number
  /** The point that was shown last, to be handed over: the same object each time. */
  readonly step: { -readonly [Field in keyof MarketStep]: MarketStep[Field] }
  /** Recording time of the next point; Infinity when there is none. */
  nextAt = Number.POSITIVE_INFINITY
  #lap: number
  #row: number
  #point: number
  /** Whether the first quote was shown; it is shown at the market's start, however late the recording begins. */
  #opened: boolean

  constructor(options: RecordedPathOptions) {
    const { recording, instrument, state } = options
    const { rows } = recording
    this.symbol = recording.symbol
    this.#rows = rows
    this.#grid = createGrid(instrument.tickSize)
    this.#intervalMs = rows.kind === 'candles' ? shortestStep(rows.at) : 0
    this.#points = rows.kind === 'candles' ? pointsThatFit(this.#intervalMs / options.speed) : 1
    this.#source = openSource(options, { intervalMs: this.#intervalMs, points: this.#points })
    this.startAt = rows.at[0] as number
    this.endAt = (rows.at[rows.at.length - 1] as number) + (this.#intervalMs || meanStep(rows.at))
    this.#lap = state?.lap ?? 0
    this.#row = state?.row ?? 0
    this.#point = state?.point ?? 0
    this.#opened = state?.opened ?? false
    this.step = { at: 0, symbol: this.symbol, quote: state?.quote ?? EMPTY_QUOTE }
    this.#beginRow()
    this.#findNext()
  }

  get lap(): number {
    return this.#lap
  }

  get isOpened(): boolean {
    return this.#opened
  }

  get quote(): Quote {
    return this.step.quote
  }

  /**
   * Takes note that the market has started. A recording that begins later than the others shows its first
   * quote from then on, with nothing traded in it. @returns whether there is such a quote to hand over
   */
  open(isLate: boolean): boolean {
    this.#opened = true
    if (!isLate) return false
    this.#show()
    this.step.quote = { ...this.step.quote, tradedLots: 0 }
    return true
  }

  /** Shows the next point and moves on. @param isRepeated Whether the recording starts again at its end. */
  advance(isRepeated: boolean): void {
    this.#show()
    this.#point++
    if (this.#point >= this.#points) this.#endRow(isRepeated)
    this.#findNext()
  }

  #endRow(isRepeated: boolean): void {
    this.#point = 0
    if (this.#source instanceof CandleSource) this.#source.end(this.#row)
    this.#row++
    if (this.#row >= this.#rows.at.length && isRepeated) {
      this.#row = 0
      this.#lap++
    }
    this.#beginRow()
  }

  #findNext(): void {
    const rowAt = this.#rows.at[this.#row] ?? Number.POSITIVE_INFINITY
    const source = this.#source
    this.nextAt =
      source instanceof CandleSource ? rowAt + source.timeOf(this.#point) * this.#intervalMs : rowAt
  }

  state(): CursorState {
    return {
      source: this.#source.state(),
      lap: this.#lap,
      row: this.#row,
      point: this.#point,
      opened: this.#opened,
      ...(this.#opened && { quote: { ...this.step.quote } }),
    }
  }

  #beginRow(): void {
    const isThere = this.#row < this.#rows.at.length
    if (isThere && this.#source instanceof CandleSource) this.#source.begin(this.#row)
  }

  #show(): void {
    const candle = this.#lap * this.#rows.at.length + this.#row
    const source = this.#source
    this.step.quote =
      source instanceof CandleSource ? source.show(this.#point, candle) : source.show(this.#row)
    if (this.#rows.mark || this.#rows.fundingRate) this.step.reference = this.#readReference()
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
}

/** As many as whole milliseconds, within bounds. */
function pointsThatFit(exchangeMs: number): number {
  return Math.max(CANDLE_POINTS_MIN, Math.min(CANDLE_POINTS_MAX, Math.floor(exchangeMs)))
}

function openSource(
  { recording: { rows }, instrument, seed, candlePath, state }: RecordedPathOptions,
  { intervalMs, points }: { readonly intervalMs: number; readonly points: number },
): CandleSource | QuoteSource {
  const source = state?.source
  if (rows.kind === 'candles') {
    const candles = source?.kind === 'candles' ? source : undefined
    return new CandleSource({ rows, instrument, intervalMs, points, seed, candlePath, state: candles })
  }
  const quotes = source?.kind === 'quotes' ? source : undefined
  return new QuoteSource({ rows, instrument, state: quotes, quote: state?.quote })
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
