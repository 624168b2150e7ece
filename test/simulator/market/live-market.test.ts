import { describe, expect, it } from 'vitest'
import {
  type LiveSource,
  type LiveTicker,
  LiveMarket,
} from '../../../src/simulator/market/live/live-market.ts'
import {
  type Market,
  type StoredMarketState,
  type MarketStep,
} from '../../../src/simulator/market/market.ts'

const NOON = Date.UTC(2025, 5, 1, 12)
const BTC = {
  symbol: 'BTCUSDT',
  tickSize: '0.1',
  lotSize: '0.001',
  startPrice: '1',
  dailyTurnover: 2e9,
}
const TICKER: LiveTicker = {
  symbol: 'BTCUSDT',
  bid: 60000.04,
  ask: 60000.15,
  bidSize: 2,
  askSize: 3,
  last: 6e4,
  mark: 60010,
  fundingRate: 2e-4,
}

/** A source that says what the test says. */
class ScriptedSource implements LiveSource {
  readonly name = 'scripted'
  show: (tickers: readonly LiveTicker[], at: number) => void = () => {}

  follow(hear: (tickers: readonly LiveTicker[], at: number) => void): void {
    this.show = hear
  }
}

function open(state?: StoredMarketState): { source: ScriptedSource; market: Market } {
  const source = new ScriptedSource()
  return { source, market: new LiveMarket({ source, instruments: [BTC] }, state) }
}

function stepsUntil(market: Market, now: number): MarketStep[] {
  const steps: MarketStep[] = []
  market.advance(now, (step) => steps.push(step))
  return steps
}

describe('a live market', () => {
  it('shows what it is shown on the instrument’s grid, with mark and funding, each answer once', () => {
    const { source, market } = open()
    expect(stepsUntil(market, NOON)).toEqual([])

    source.show([TICKER, { ...TICKER, symbol: 'DOGEUSDT' }], NOON + 100)

    const [step, ...others] = stepsUntil(market, NOON + 150)
    expect(others).toEqual([])
    expect(step).toMatchObject({
      at: NOON + 150,
      symbol: 'BTCUSDT',
      quote: {
        bidTicks: 600_000,
        askTicks: 600_002,
        bidLots: 2000,
        askLots: 3000,
        lastTicks: 600_000,
      },
      reference: { markTicks: 600_100, fundingRate: 0.0002 },
    })
    expect(stepsUntil(market, NOON + 10_000)).toEqual([])
  })

  it('plays of each symbol what it was shown last', () => {
    const { source, market } = open()
    source.show([TICKER], NOON)
    source.show([{ ...TICKER, last: 60_000.1 }], NOON + 10)

    expect(stepsUntil(market, NOON + 5000)).toMatchObject([
      { at: NOON + 5000, quote: { lastTicks: 600_001 } },
    ])
  })

  it('leaves out a row that shows no market', () => {
    const { source, market } = open()

    for (const wrong of [
      { last: Number.NaN },
      { last: 0 },
      { bid: 60_001 },
      { bid: Number.NaN },
      { ask: Number.POSITIVE_INFINITY },
      { askSize: -1 },
      { bidSize: Number.NaN },
    ])
      source.show([{ ...TICKER, ...wrong }], NOON)

    expect(stepsUntil(market, NOON)).toEqual([])
  })

  it('says no mark price where the source says none', () => {
    const { source, market } = open()

    source.show([{ ...TICKER, mark: Number.NaN, fundingRate: undefined }], NOON)

    expect(stepsUntil(market, NOON)[0]?.reference).toEqual({
      markTicks: undefined,
      fundingRate: undefined,
    })
  })

  it('takes a changed last price for a tenth of what was displayed there, and sums up the minute', () => {
    const { source, market } = open()
    const shown = [
      { last: 60_000, at: NOON },
      { last: 60_000.1, at: NOON + 1000 },
      { last: 60_000.1, at: NOON + 2000 },
      { last: 60_000, at: NOON + 61_000 },
    ]

    const quotes = shown.flatMap(({ last, at }) => {
      source.show([{ ...TICKER, last }], at)
      return stepsUntil(market, at).map(({ quote }) => quote)
    })

    expect(quotes.map(({ tradedLots }) => tradedLots)).toEqual([0, 300, 0, 200])
    expect(quotes.at(-1)).toMatchObject({ candle: NOON / 60_000 + 1, candleLots: 300 })
  })

  it('goes on from a stored state, of the same source only', () => {
    const { source, market } = open()
    source.show([TICKER], NOON)
    stepsUntil(market, NOON)
    const state: StoredMarketState = JSON.parse(JSON.stringify(market.state()))
    const tradedAfter = (from: StoredMarketState) => {
      const next = open(from)
      next.source.show([{ ...TICKER, last: 60_000.1 }], NOON + 1000)
      return stepsUntil(next.market, NOON + 1000)[0]?.quote.tradedLots
    }

    // A tenth of what was displayed before; of the first quote of another market nothing is known.
    expect(tradedAfter(state)).toBe(300)
    expect(tradedAfter({ ...state, identity: 'live:other' })).toBe(0)
  })
})
