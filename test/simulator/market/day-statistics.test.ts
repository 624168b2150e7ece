import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { DayStatistics, type TickerFigures } from '../../../src/simulator/market/day-statistics.ts'
import {
  EMPTY_QUOTE,
  type MarketInstrument,
  type Quote,
} from '../../../src/simulator/market/market.ts'
import { SeededMarket } from '../../../src/simulator/market/seeded/seeded-market.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const NOON = Date.UTC(2025, 5, 1, 12)
const BTC: MarketInstrument = {
  symbol: 'BTCUSDT',
  tickSize: '0.1',
  lotSize: '0.001',
  startPrice: '105000',
  dailyTurnover: 2e9,
}

const quoteAt = (lastTicks: number, tradedLots = 0): Quote => ({
  ...EMPTY_QUOTE,
  bidTicks: lastTicks,
  askTicks: lastTicks + 1,
  bidLots: 1,
  askLots: 1,
  lastTicks,
  tradedLots,
})
const fresh = () => new DayStatistics({ instrument: BTC, seed: 1, speed: 1, past: [] })

function figuresOf(statistics: DayStatistics, at: number): TickerFigures {
  const figures = statistics.read(at)
  if (!figures) throw new Error('expected figures')
  return figures
}

describe('the statistics of 24 hours', () => {
  it('know nothing before the first step, and only what was seen after it', () => {
    const statistics = fresh()

    expect(statistics.read(NOON)).toBeUndefined()
    statistics.apply(NOON, quoteAt(1000, 5))
    statistics.apply(NOON + 10, quoteAt(1100, 10))
    statistics.apply(NOON + 20, quoteAt(990, 20))

    expect(statistics.read(NOON + 30)).toMatchObject({
      high24hTicks: 1100,
      low24hTicks: 990,
      open24hTicks: 1000,
      openUtcTicks: 1000,
      change24h: -0.01,
      baseLots: 35,
    })
    expect(statistics.read(NOON + 30)?.quoteVolume).toBeCloseTo(0.5 + 1.1 + 1.98, 9)
  })

  it('learn nothing of an unseen price before its candle is over, but what was traded', () => {
    const [statistics, blind] = [fresh(), fresh()]
    for (const one of [statistics, blind]) one.apply(NOON, quoteAt(1000, 5))
    statistics.apply(NOON + 4000, { ...quoteAt(1500, 10), isUnseen: true })
    for (const one of [statistics, blind]) one.apply(NOON + 4000, quoteAt(1010, 0))

    const { quoteVolume, ...shown } = figuresOf(statistics, NOON + 5000)
    expect({ ...shown, quoteVolume: 0 }).toEqual({
      ...figuresOf(blind, NOON + 5e3),
      baseLots: 15,
      quoteVolume: 0,
    })
    expect(quoteVolume).toBeCloseTo(15 * 0.1, 9)

    statistics.apply(NOON + 56_000, {
      ...quoteAt(1005),
      candleHighTicks: 1500,
      candleLowTicks: 1000,
    })
    expect(figuresOf(statistics, NOON + 57_000)).toMatchObject({
      high24hTicks: 1500,
      low24hTicks: 1000,
    })
  })

  it('forget what is older than a day, with or without steps', () => {
    const statistics = fresh()
    statistics.apply(NOON, quoteAt(5000, 7))
    statistics.apply(NOON + 5 * MINUTE_MS, quoteAt(1000, 3))

    expect(statistics.read(NOON + DAY_MS - 1)).toMatchObject({ high24hTicks: 5000, baseLots: 10 })
    expect(statistics.read(NOON + DAY_MS)).toMatchObject({
      high24hTicks: 5000,
      open24hTicks: 5000,
      baseLots: 3,
    })
    expect(statistics.read(NOON + DAY_MS + 6 * MINUTE_MS)).toMatchObject({
      high24hTicks: 1000,
      low24hTicks: 1000,
      open24hTicks: 1000,
      baseLots: 0,
      change24h: 0,
    })
    expect(statistics.read(NOON + 400 * DAY_MS)).toMatchObject({ high24hTicks: 1000, baseLots: 0 })
  })

  it('begin the UTC day at midnight', () => {
    const statistics = fresh()
    const midnight = Date.UTC(2025, 5, 2)
    statistics.apply(NOON, quoteAt(1000))
    statistics.apply(midnight - 1, quoteAt(2000))
    statistics.apply(midnight + 90_000, quoteAt(3000))

    expect(statistics.read(midnight + 90_000)).toMatchObject({
      open24hTicks: 1000,
      openUtcTicks: 2000,
      change24h: 2,
      changeUtc24h: 0.5,
    })
  })

  it('agree with a plain sum over all steps of the window', () => {
    const statistics = fresh()
    const random = createRandom('window')
    const steps: { at: number; quote: Quote }[] = []
    for (let at = NOON; at < NOON + 2.2 * DAY_MS; at += random.integer(400_000)) {
      steps.push({ at, quote: quoteAt(10_000 + random.integer(5000), random.integer(3)) })
    }

    for (const { at, quote } of steps) {
      statistics.apply(at, quote)
      if (random.integer(20) !== 0) continue
      const oldestAt = (Math.floor(at / MINUTE_MS) - 1439) * MINUTE_MS
      const before = steps.filter((step) => step.at < oldestAt).at(-1)
      const window = steps.filter((step) => step.at >= oldestAt && step.at <= at)
      const prices = [...(before ? [before] : []), ...window].map((step) => step.quote.lastTicks)
      expect(statistics.read(at)).toMatchObject({
        high24hTicks: Math.max(...prices),
        low24hTicks: Math.min(...prices),
        open24hTicks: prices[0],
        baseLots: window.reduce((sum, step) => sum + step.quote.tradedLots, 0),
      })
    }
  })

  it('go on from a stored state', () => {
    const statistics = fresh()
    const random = createRandom('stored')
    for (let at = NOON; at < NOON + 1.5 * DAY_MS; at += 30_000)
      statistics.apply(at, quoteAt(9000 + random.integer(99), 2))
    const now = NOON + 1.5 * DAY_MS

    const state = JSON.parse(
      JSON.stringify({ ...statistics.state(), buckets: statistics.buckets() }),
    )
    const restored = new DayStatistics({ instrument: BTC, seed: 1, speed: 1, past: [], state })

    expect(restored.read(now)).toEqual(statistics.read(now))
    for (const each of [statistics, restored]) each.apply(now + 1000 * MINUTE_MS, quoteAt(8000, 1))
    expect(restored.read(now + DAY_MS)).toEqual(statistics.read(now + DAY_MS))
  })

  it('list no minute of a state that names one and has none', () => {
    const state = { ...fresh().state(), minute: NOON / MINUTE_MS, buckets: [] }
    const restored = new DayStatistics({ instrument: BTC, seed: 1, speed: 1, past: [], state })

    expect(restored.buckets()).toEqual([])
    restored.apply(NOON + MINUTE_MS, quoteAt(8000, 1))
    expect(restored.buckets()).toHaveLength(1)
  })
})

describe('a fresh ticker of a seeded market', () => {
  const startAt = NOON + 12_345
  const market = new SeededMarket({ seed: 1, instruments: [BTC], startAt })
  const past = market.pastDay('BTCUSDT') ?? []

  it('has a past of whole minutes that ends at the start price', () => {
    expect(past).toHaveLength(1440)
    expect(past[0]?.startAt).toBe(NOON - DAY_MS)
    expect(past.at(-1)?.closeTicks).toBe(1_050_000)
    for (const [index, bar] of past.entries()) {
      expect(bar.highTicks).toBeGreaterThanOrEqual(Math.max(bar.openTicks, bar.closeTicks))
      expect(bar.lowTicks).toBeLessThanOrEqual(Math.min(bar.openTicks, bar.closeTicks))
      expect(bar.openTicks).toBe(past[index - 1]?.closeTicks ?? bar.openTicks)
    }
    expect(market.pastDay('BTCUSDT')).toEqual(past)
  })

  it('looks like one of a market that has been open', () => {
    const statistics = new DayStatistics({ instrument: BTC, seed: 1, speed: 1, past })
    market.advance(startAt, ({ at, quote }) => statistics.apply(at, quote))

    const figures = figuresOf(statistics, startAt)

    const range = (figures.high24hTicks - figures.low24hTicks) / 1_050_000
    expect(range).toBeGreaterThan(0.01)
    expect(range).toBeLessThan(0.2)
    expect(figures.quoteVolume).toBeGreaterThan(5e8)
    expect(figures.quoteVolume).toBeLessThan(8e9)
    expect(Math.abs(figures.indexTicks / 1_050_000 - 1)).toBeLessThan(0.002)
    expect(Math.abs(figures.markTicks / 1_050_000 - 1)).toBeLessThan(0.003)
    expect(Math.abs(figures.fundingRate)).toBeLessThan(0.003)
    expect(figures.settledFundingRate).toBeTypeOf('number')
    expect(figures.holdingLots).toBeGreaterThan(1e6)
  })
})

describe('the fair price', () => {
  it('follows the market smoothly and is not moved by one wild quote', () => {
    const statistics = fresh()
    for (let at = NOON; at < NOON + 600_000; at += 100) statistics.apply(at, quoteAt(1_000_000))
    const calm = figuresOf(statistics, NOON + 600_000)

    statistics.apply(NOON + 600_000, quoteAt(1_100_000))
    const wild = figuresOf(statistics, NOON + 600_000)

    expect(Math.abs(wild.indexTicks - calm.indexTicks)).toBeLessThan(1000)
    expect(Math.abs(wild.markTicks - calm.markTicks)).toBeLessThan(1000)
  })

  it('settles funding every eight hours, held within its limits', () => {
    const statistics = fresh()
    const rates: number[] = []
    for (let at = NOON; at < NOON + 5 * DAY_MS; at += MINUTE_MS) {
      statistics.apply(at, quoteAt(1_000_000))
      const figures = figuresOf(statistics, at)
      if (figures.settledFundingRate !== undefined && figures.settledFundingRate !== rates.at(-1)) {
        rates.push(figures.settledFundingRate)
        expect(at % (8 * 3_600_000)).toBe(0)
      }
    }

    expect(rates.length).toBeGreaterThan(0)
    for (const rate of rates) expect(Math.abs(rate)).toBeLessThan(0.0012)
  })
})
