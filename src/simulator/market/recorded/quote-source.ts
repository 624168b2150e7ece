/** Quotes as they stand in a recording. */
import { EMPTY_QUOTE, type MarketInstrument, type Quote } from '../market.ts'
import { QuoteGrid, type QuoteGridState } from '../quote-grid.ts'
import type { QuoteRows } from '../../../prices/recording.ts'

export interface QuoteSourceState extends QuoteGridState {
  readonly kind: 'quotes'
}

export class QuoteSource {
  readonly #rows: QuoteRows
  readonly #grid: QuoteGrid
  #quote: Quote

  constructor({
    rows,
    instrument,
    state,
    quote = EMPTY_QUOTE,
  }: {
    readonly rows: QuoteRows
    readonly instrument: MarketInstrument
    readonly state: QuoteSourceState | undefined
    /** The latest one that was shown. */
    readonly quote?: Quote | undefined
  }) {
    this.#rows = rows
    this.#grid = new QuoteGrid(instrument, state)
    this.#quote = quote
  }

  show(row: number): Quote {
    const { at, bid, ask, bidSize, askSize, last, volume } = this.#rows
    const field = (column: Float64Array) => column[row] as number
    this.#quote = this.#grid.next(this.#quote, {
      ...{ at: field(at), bid: field(bid), ask: field(ask), last: field(last) },
      ...{ bidSize: field(bidSize), askSize: field(askSize) },
      volume: volume?.[row],
    })
    return this.#quote
  }

  state(): QuoteSourceState {
    return { kind: 'quotes', ...this.#grid.state() }
  }
}
