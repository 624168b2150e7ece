/** Without new prices, quotes keep their time and visibly grow old. */
import {
  ownState,
  type Market,
  type MarketInstrument,
  type StoredMarketState,
  type MarketStep,
} from '../market.ts'
import { type ForeignQuote, QuoteGrid, type QuoteGridState } from '../quote-grid.ts'

export interface LiveTicker extends Omit<ForeignQuote, 'at' | 'volume'> {
  readonly symbol: string
  readonly mark: number | undefined
  readonly fundingRate: number | undefined
}

export interface LiveSource {
  /** A stored state belongs to the source of this name. */
  readonly name: string
  follow(hear: (tickers: readonly LiveTicker[], at: number) => void): void
}

interface LiveMarketState extends StoredMarketState {
  readonly symbols: Readonly<Record<string, QuoteGridState>>
}

export class LiveMarket implements Market {
  readonly identity: string
  readonly speed = 1
  readonly endsAt = undefined
  readonly #grids: ReadonlyMap<string, QuoteGrid>
  readonly #waiting = new Map<string, Omit<MarketStep, 'at'>>()

  constructor(
    { source, instruments }: { source: LiveSource; instruments: readonly MarketInstrument[] },
    stored?: StoredMarketState,
  ) {
    this.identity = `live:${source.name}`
    const known = ownState<LiveMarketState>(this.identity, stored)?.symbols
    this.#grids = new Map(
      instruments.map((row) => [row.symbol, new QuoteGrid(row, known?.[row.symbol])]),
    )
    source.follow((tickers, at) => {
      for (const ticker of tickers) this.#hear(ticker, at)
    })
  }

  advance(now: number, visit: (step: MarketStep) => void): boolean {
    for (const step of this.#waiting.values()) visit({ at: now, ...step })
    this.#waiting.clear()
    return true
  }

  pastDay(): undefined {
    return undefined
  }

  state(): LiveMarketState {
    const symbols = [...this.#grids].map(([symbol, { state }]) => [symbol, state] as const)
    return { identity: this.identity, symbols: Object.fromEntries(symbols) }
  }

  #hear(ticker: LiveTicker, at: number): void {
    const { symbol, bid, ask, bidSize, askSize, last, mark = 0, fundingRate } = ticker
    const grid = this.#grids.get(symbol)
    const isMarket = bid > 0 && ask >= bid && last > 0 && bidSize >= 0 && askSize >= 0
    if (grid === undefined || !isMarket || !Number.isFinite(ask + bidSize + askSize + last)) return
    const quote = grid.next({ at, bid, ask, bidSize, askSize, last, volume: undefined })
    const reference = {
      markTicks: mark > 0 && Number.isFinite(mark) ? grid.ticks(mark) : undefined,
      fundingRate: Number.isFinite(fundingRate) ? fundingRate : undefined,
    }
    this.#waiting.set(symbol, { symbol, quote, reference })
  }
}
