/**
 * A market that follows the prices of another exchange: paper trading on what happens now. It shows what it heard
 * last; when nothing comes, its quotes stay as they are and grow old, and whoever looks at their time sees it. What
 * it hears belongs to the moment at which it is played next.
 */
import {
  EMPTY_QUOTE,
  type Market,
  type MarketInstrument,
  type MarketReference,
  type MarketStep,
  type MinuteBar,
  type Quote,
} from '../market.ts'
import { assertStateBelongs, type LiveMarketState } from '../market-state.ts'
import { QuoteGrid } from '../quote-grid.ts'

/** One instrument as the other exchange shows it. Prices in quote coin, sizes in base coin. */
export interface LiveTicker {
  readonly symbol: string
  readonly bid: number
  readonly ask: number
  readonly bidSize: number
  readonly askSize: number
  readonly last: number
  /** Undefined where it does not say. */
  readonly mark: number | undefined
  readonly fundingRate: number | undefined
}

/** Whoever knows the prices. */
export interface LiveSource {
  /** Its address: a stored state belongs to one source. */
  readonly name: string
  /** @param hear Called with every answer; `at` is Unix ms of our clock. */
  follow(hear: (tickers: readonly LiveTicker[], at: number) => void): void
}

export interface LiveMarketOptions {
  readonly source: LiveSource
  readonly instruments: readonly MarketInstrument[]
}

interface Followed {
  readonly grid: QuoteGrid
  quote: Quote
}

/** @throws Failure MARKET_STATE_FOREIGN when the stored state followed another source. */
export function openLiveMarket(options: LiveMarketOptions, state?: LiveMarketState): Market {
  const identity = `live:${options.source.name}`
  if (state !== undefined) assertStateBelongs(state, identity)
  return new LiveMarket(identity, options, state)
}

class LiveMarket implements Market {
  readonly identity: string
  readonly speed = 1
  readonly endsAt = undefined
  readonly #followed: ReadonlyMap<string, Followed>
  /** Heard and not handed over yet: the latest of each symbol. */
  readonly #waiting = new Map<string, Omit<MarketStep, 'at'>>()

  constructor(identity: string, { source, instruments }: LiveMarketOptions, state?: LiveMarketState) {
    this.identity = identity
    this.#followed = new Map(
      instruments.map((instrument) => {
        const stored = state?.symbols[instrument.symbol]
        const grid = new QuoteGrid(instrument, stored?.grid)
        return [instrument.symbol, { grid, quote: stored?.quote ?? EMPTY_QUOTE }]
      }),
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

  quote(symbol: string): Quote | undefined {
    const quote = this.#followed.get(symbol)?.quote
    return quote === undefined || quote.lastTicks === 0 ? undefined : quote
  }

  pastDay(): readonly MinuteBar[] {
    return []
  }

  isRecorded(): boolean {
    return true
  }

  state(): LiveMarketState {
    const known = [...this.#followed].filter(([, { quote }]) => quote.lastTicks > 0)
    return {
      kind: 'live',
      identity: this.identity,
      symbols: Object.fromEntries(
        known.map(([symbol, { grid, quote }]) => [symbol, { grid: grid.state(), quote }]),
      ),
    }
  }

  /** A row that shows no market (a listing that never traded, a crossed book) is left out. */
  #hear(ticker: LiveTicker, at: number): void {
    const { symbol, bid, ask, bidSize, askSize, last } = ticker
    const followed = this.#followed.get(symbol)
    const isMarket = bid > 0 && ask >= bid && last > 0 && bidSize >= 0 && askSize >= 0
    if (followed === undefined || !isMarket || !Number.isFinite(ask + bidSize + askSize + last)) return
    const shown = { at, bid, ask, bidSize, askSize, last, volume: undefined }
    followed.quote = followed.grid.next(followed.quote, shown)
    const reference = referenceOf(followed.grid, ticker)
    this.#waiting.set(symbol, { symbol, quote: followed.quote, reference })
  }
}

function referenceOf(grid: QuoteGrid, { mark, fundingRate }: LiveTicker): MarketReference {
  return {
    markTicks: mark !== undefined && mark > 0 && Number.isFinite(mark) ? grid.ticks(mark) : undefined,
    fundingRate: Number.isFinite(fundingRate) ? fundingRate : undefined,
  }
}
