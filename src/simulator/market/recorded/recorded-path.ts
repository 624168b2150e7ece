import {
  EMPTY_QUOTE,
  type MarketInstrument,
  type MarketReference,
  type MutableStep,
  type RecordedReferences,
} from '../market.ts'
import { QuoteGrid, type QuoteGridState } from '../quote-grid.ts'
import { CANDLE_POINTS_MAX, CANDLE_POINTS_MIN, type CandlePathKind } from './candle-path.ts'
import { CandleSource, type CandleSourceState, type RowSource } from './candle-source.ts'
import { type CandleTapes, TapeSource } from './candle-tape.ts'
import {
  type CandleRows,
  candleLength,
  indexFrom,
  type QuoteRows,
  type RecordedFunding,
  type Recording,
} from '../../../prices/recording.ts'

const SINGLE_QUOTE_MS = 100

export interface RecordedPathState {
  readonly source: CandleSourceState | QuoteGridState
  readonly lap: number
  readonly row: number
  readonly point: number
  readonly opened: boolean
}

interface RecordedPathOptions {
  readonly recording: Recording
  readonly instrument: MarketInstrument
  readonly speed: number
  readonly seed: number | string
  readonly candlePath: CandlePathKind
  readonly state?: RecordedPathState | undefined
  readonly tapes?: CandleTapes | undefined
}

export class RecordedPath {
  readonly symbol: string
  /** The path ends with the last candle, or a mean step after the last quote. */
  readonly startAt: number
  readonly endAt: number
  readonly #rows: Recording['rows']
  readonly #source: RowSource
  readonly #grid: QuoteGrid
  readonly #intervalMs: number
  readonly #points: number
  readonly #funding: RecordedFunding | undefined
  readonly step: MutableStep
  nextAt = Number.POSITIVE_INFINITY
  readonly #place: {
    -readonly [Field in keyof Omit<RecordedPathState, 'source'>]: RecordedPathState[Field]
  }

  constructor(options: RecordedPathOptions) {
    const { recording, instrument, speed, state } = options
    const { rows, symbol, intervalMs } = recording
    this.symbol = symbol
    this.#rows = rows
    this.#funding = recording.funding
    this.#grid = new QuoteGrid(instrument)
    this.#intervalMs = rows.kind === 'candles' ? candleLength(rows.at, intervalMs) : 0
    this.#points = rows.kind === 'candles' ? pointsThatFit(this.#intervalMs / speed) : 1
    this.#source =
      rows.kind === 'candles'
        ? candleSource(options, rows, {
            intervalMs: this.#intervalMs,
            points: this.#points,
          })
        : quoteSource(rows, new QuoteGrid(instrument, state?.source as QuoteGridState | undefined))
    this.startAt = rows.at[0] as number
    this.endAt = (rows.at[rows.at.length - 1] as number) + (this.#intervalMs || meanStep(rows.at))
    const { lap, row, point, opened } = state ?? { lap: 0, row: 0, point: 0, opened: false }
    this.#place = { lap, row, point, opened }
    this.step = { at: 0, symbol, quote: EMPTY_QUOTE }
    this.#findNext()
  }

  get references(): RecordedReferences | undefined {
    const { at, mark, fundingRate } = this.#rows
    if (this.#intervalMs === 0 || (mark === undefined && fundingRate === undefined))
      return undefined
    return {
      at: at.map((rowAt) => rowAt + this.#intervalMs),
      markTicks: mark?.map((price) => this.#grid.ticks(price)),
      fundingRate,
    }
  }

  get lap(): number {
    return this.#place.lap
  }

  get isOpened(): boolean {
    return this.#place.opened
  }

  /**
   * A recording that begins later shows its first quote from the market's start, without trades.
   * @returns whether there is such a quote
   */
  open(isLate: boolean): boolean {
    this.#place.opened = true
    if (!isLate) return false
    this.#show()
    this.step.quote = { ...this.step.quote, tradedLots: 0 }
    return true
  }

  advance(isRepeated: boolean): void {
    const place = this.#place
    this.#show()
    place.point++
    if (place.point >= this.#points) {
      this.#source.end(place.row)
      place.point = 0
      place.row++
      if (place.row >= this.#rows.at.length && isRepeated) {
        place.row = 0
        place.lap++
      }
    }
    this.#findNext()
  }

  state(): RecordedPathState {
    return { source: this.#source.state(), ...this.#place }
  }

  #findNext(): void {
    const { row, point } = this.#place
    const rowAt = this.#rows.at[row]
    this.nextAt =
      rowAt === undefined
        ? Number.POSITIVE_INFINITY
        : rowAt + this.#source.timeOf(row, point) * this.#intervalMs
  }

  #show(): void {
    const { lap, row, point } = this.#place
    this.step.quote = this.#source.show(row, point, lap * this.#rows.at.length + row)
    if (this.#rows.mark || this.#rows.fundingRate || this.#funding)
      this.step.reference = this.#readReference(row)
  }

  #readReference(row: number): MarketReference {
    const { kind, mark, fundingRate } = this.#rows
    const known = kind === 'candles' ? row - 1 : row
    const price = mark?.[known]
    return {
      markTicks: price === undefined ? undefined : this.#grid.ticks(price),
      fundingRate: fundingRate?.[known] ?? this.#lastPaid(row),
    }
  }

  #lastPaid(row: number): number | undefined {
    const { at, rate } = this.#funding ?? {}
    const next = at && indexFrom(at, (this.#rows.at[row] ?? 0) + 1)
    return next === undefined || next === at?.length ? undefined : rate?.[next - 1]
  }
}

function candleSource(
  { instrument, seed, candlePath, state, tapes }: RecordedPathOptions,
  rows: CandleRows,
  { intervalMs, points }: { readonly intervalMs: number; readonly points: number },
): RowSource {
  const candles = { rows, instrument, intervalMs, points, seed, candlePath }
  const tape = tapes?.open(candles)
  if (tape?.isFinished) return new TapeSource(tape, points)
  return new CandleSource({
    ...candles,
    state: state?.source as CandleSourceState | undefined,
    ...(tape && { onDrawn: (row, quotes, times) => tape.write(row, quotes, times) }),
  })
}

function quoteSource(rows: QuoteRows, grid: QuoteGrid): RowSource {
  const field = (column: Float64Array, row: number) => column[row] as number
  return {
    timeOf: () => 0,
    show: (row) =>
      grid.next({
        at: field(rows.at, row),
        bid: field(rows.bid, row),
        ask: field(rows.ask, row),
        bidSize: field(rows.bidSize, row),
        askSize: field(rows.askSize, row),
        last: field(rows.last, row),
        volume: rows.volume?.[row],
      }),
    end: () => {},
    state: () => grid.state,
  }
}

/** On the exchange's clock. The two unseen extremes of a random path are no steps. */
export function priceStepMs(
  { rows, intervalMs }: Pick<Recording, 'rows' | 'intervalMs'>,
  speed: number,
  kind: CandlePathKind,
): number {
  if (rows.kind === 'quotes') return meanStep(rows.at) / speed
  const candleMs = candleLength(rows.at, intervalMs) / speed
  return candleMs / (pointsThatFit(candleMs) - (kind === 'random' ? 2 : 0))
}

function pointsThatFit(exchangeMs: number): number {
  return Math.max(CANDLE_POINTS_MIN, Math.min(CANDLE_POINTS_MAX, Math.floor(exchangeMs)))
}

function meanStep(at: Float64Array): number {
  const spanMs = (at[at.length - 1] as number) - (at[0] as number)
  return spanMs > 0 ? spanMs / (at.length - 1) : SINGLE_QUOTE_MS
}
