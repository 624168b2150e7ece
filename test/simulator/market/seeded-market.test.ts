import { describe, expect, it } from 'vitest'
import {
  type Market,
  type MarketInstrument,
  STEPS_PER_ADVANCE_MAX,
} from '../../../src/simulator/market/market.ts'
import { SeededMarket } from '../../../src/simulator/market/seeded/seeded-market.ts'

const START_AT = Date.UTC(2025, 5, 1, 12, 0, 30)
const BTC: MarketInstrument = {
  symbol: 'BTCUSDT',
  tickSize: '0.1',
  lotSize: '0.001',
  startPrice: '105000',
  dailyTurnover: 2e9,
}
const ETH: MarketInstrument = {
  symbol: 'ETHUSDT',
  tickSize: '0.01',
  lotSize: '0.01',
  startPrice: '2600',
  dailyTurnover: 2e9,
}
const OPTIONS = { seed: 1, instruments: [BTC, ETH], startAt: START_AT }

/** The steps up to `until` as text, one call of `advance` for each of `calls` pieces of the time. */
function walk(
  market: Market,
  { from, until, calls }: { from: number; until: number; calls: number },
): string[] {
  const lines: string[] = []
  for (let call = 1; call <= calls; call++) {
    const now = from + ((until - from) * call) / calls
    while (!market.advance(now, (step) => lines.push(JSON.stringify(step))));
  }
  return lines
}

describe('a seeded market', () => {
  it('opens at the start with one quote an instrument, around the start price', () => {
    const market = new SeededMarket(OPTIONS)

    const lines = walk(market, { from: START_AT, until: START_AT, calls: 1 })

    const steps = lines.map((line) => JSON.parse(line))
    expect(steps).toMatchObject([
      {
        at: START_AT,
        symbol: 'BTCUSDT',
        quote: { bidTicks: 1_050_000, askTicks: 1_050_001, tradedLots: 0 },
      },
      {
        at: START_AT,
        symbol: 'ETHUSDT',
        quote: { bidTicks: 260_000, askTicks: 260_001, tradedLots: 0 },
      },
    ])
    expect(market.identity).toBe('seeded:1:100ms:x1')
  })

  it('gives the same steps for the same seed, and others for another', () => {
    const span = { from: START_AT, until: START_AT + 60_000, calls: 1 }

    const lines = walk(new SeededMarket(OPTIONS), span)

    expect(lines).toHaveLength(1202)
    expect(walk(new SeededMarket(OPTIONS), span)).toEqual(lines)
    expect(walk(new SeededMarket({ ...OPTIONS, seed: 2 }), span)).not.toEqual(lines)
    // The very numbers, so that a change of the generator, or a machine that calculates otherwise, is seen.
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual(LAST_STEP_OF_SEED_1)
  })

  it('gives the same steps however the time is cut into calls', () => {
    const span = { from: START_AT, until: START_AT + 600_000 }

    const whole = new SeededMarket(OPTIONS)
    const pieces = new SeededMarket(OPTIONS)

    expect(walk(pieces, { ...span, calls: 777 })).toEqual(walk(whole, { ...span, calls: 1 }))
    expect(pieces.state()).toEqual(whole.state())
  })

  it('goes on from a stored state as if it had never stopped', () => {
    const middle = START_AT + 123_456
    const span = { from: middle, until: middle + 300_000, calls: 3 }
    const market = new SeededMarket(OPTIONS)
    walk(market, { from: START_AT, until: middle, calls: 1 })

    const state = JSON.parse(JSON.stringify(market.state()))
    const restored = new SeededMarket(OPTIONS, state)

    expect(walk(restored, span)).toEqual(walk(market, span))
    expect(JSON.stringify(state).length).toBeLessThan(2000)
  })

  it('keeps the other paths when an instrument is added, and starts the new one where it is told', () => {
    const span = { from: START_AT, until: START_AT + 60_000, calls: 1 }
    const sol: MarketInstrument = {
      symbol: 'SOLUSDT',
      tickSize: '0.01',
      lotSize: '0.1',
      startPrice: '150',
      dailyTurnover: 2e9,
    }
    const wider = { ...OPTIONS, instruments: [sol, BTC, ETH] }

    const lines = walk(new SeededMarket(wider), span)

    const others = lines.filter((line) => !line.includes('SOLUSDT'))
    expect(others).toEqual(walk(new SeededMarket(OPTIONS), span))
    const restored = new SeededMarket(wider, new SeededMarket(OPTIONS).state())
    const sols = walk(restored, span).filter((line) => line.includes('SOLUSDT'))
    expect(Math.abs(JSON.parse(sols.at(-1) ?? '').quote.bidTicks - 15_000)).toBeLessThan(500)
  })

  it('hands over a bounded number of steps a call, and the rest on the next', () => {
    const market = new SeededMarket(OPTIONS)
    const now = START_AT + 100 * (STEPS_PER_ADVANCE_MAX - 1)
    const counts: number[] = []

    for (let isDone = false; !isDone;) {
      let count = 0
      isDone = market.advance(now, () => count++)
      counts.push(count)
    }

    expect(counts).toEqual([STEPS_PER_ADVANCE_MAX, STEPS_PER_ADVANCE_MAX])
  })

  it('runs faster by its speed', () => {
    const real = new SeededMarket({ ...OPTIONS, stepMs: 60_000 })
    const fast = new SeededMarket({ ...OPTIONS, stepMs: 100, speed: 600 })

    const last =
      walk(real, { from: START_AT, until: START_AT + 600_000 * 60, calls: 1 }).at(-1) ?? ''
    const fastLast = walk(fast, { from: START_AT, until: START_AT + 60_000, calls: 1 }).at(-1) ?? ''

    expect(JSON.parse(fastLast).quote).toEqual(JSON.parse(last).quote)
  })

  it('never shows an impossible quote, even at a price of a few ticks', () => {
    const dust: MarketInstrument = {
      symbol: 'DUSTUSDT',
      tickSize: '0.01',
      lotSize: '1',
      startPrice: '0.15',
      dailyTurnover: 2e9,
      yearlyVolatility: 9,
    }
    const market = new SeededMarket({ ...OPTIONS, instruments: [dust, BTC], stepMs: 60_000 })
    let odd = 0

    while (
      !market.advance(START_AT + 60 * 86_400_000, ({ quote }) => {
        const isWhole = Object.values(quote).every((value) => Number.isSafeInteger(value))
        const isQuote = quote.bidTicks >= 1 && quote.bidTicks < quote.askTicks
        if (!isWhole || !isQuote || quote.bidLots < 1 || quote.askLots < 1 || quote.tradedLots < 0)
          odd++
      })
    );

    expect(odd).toBe(0)
  })

  it('refuses what cannot be, and leaves the state of another market aside', () => {
    const other = { ...OPTIONS, seed: 2 }
    const span = { from: START_AT, until: START_AT + 1000, calls: 1 }

    expect(() => new SeededMarket({ ...OPTIONS, stepMs: 0 })).toThrow(
      /MARKET_OPTION_INVALID[^]*stepMs/,
    )
    expect(() => new SeededMarket({ ...OPTIONS, speed: 0 })).toThrow(/speed/)
    expect(() => new SeededMarket({ ...OPTIONS, instruments: [BTC, BTC] })).toThrow(
      /each symbol once/,
    )
    expect(
      () => new SeededMarket({ ...OPTIONS, instruments: [{ ...BTC, startPrice: '0' }] }),
    ).toThrow(/BTCUSDT/)
    expect(new SeededMarket(OPTIONS).pastDay('XRPUSDT')).toBeUndefined()
    const began = new SeededMarket(OPTIONS)
    walk(began, { ...span, until: START_AT + 500 })
    expect(walk(new SeededMarket(other, began.state()), span)).toEqual(
      walk(new SeededMarket(other), span),
    )
  })
})

const LAST_STEP_OF_SEED_1 = {
  at: START_AT + 60_000,
  symbol: 'ETHUSDT',
  quote: {
    bidTicks: 259_938,
    askTicks: 259_939,
    bidLots: 411,
    askLots: 7393,
    lastTicks: 259_939,
    tradedLots: 0,
    levelTicks: 1,
    candle: 1,
    candleLots: 53_431,
  },
}
