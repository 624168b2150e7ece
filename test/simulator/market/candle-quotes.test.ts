import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import {
  type CandleMemory,
  NO_MEMORY,
  rememberCandle,
} from '../../../src/simulator/market/quote-grid.ts'
import { EMPTY_QUOTE, type MutableQuote, type Quote } from '../../../src/simulator/market/market.ts'
import { CandlePaths, NO_PATH } from '../../../src/simulator/market/recorded/candle-path.ts'
import { fillCandleQuotes } from '../../../src/simulator/market/recorded/candle-source.ts'

const PATH = Float64Array.from({ length: 16 }, (_, point) => 1_000_000 + (point % 3) * 7)
/** Ticks of 0.1 and lots of 0.001: at 100,000 USDT a lot is worth 100. */
const SCALE = { lots: 14_000, lotNotional: 0.0001, intervalMs: 60_000 }

function emptyQuotes(points: number): MutableQuote[] {
  return Array.from({ length: points }, () => ({ ...EMPTY_QUOTE }))
}

/** A path that goes nowhere between its points. */
function straight(path: Float64Array) {
  return { path, lows: path, highs: path, times: path.map((_, point) => point / path.length) }
}

function quotesOf(lots: number, memory: CandleMemory = NO_MEMORY): readonly Quote[] {
  const quotes = emptyQuotes(PATH.length)
  fillCandleQuotes(
    quotes,
    { ...straight(PATH), before: 1_000_000, signBefore: 0, lots, memory, scale: SCALE },
    createRandom(1),
  )
  return quotes
}

function remembered(lots: number, range: number): CandleMemory {
  let memory = NO_MEMORY
  for (let candle = 0; candle < 30; candle++)
    memory = rememberCandle(memory, { high: range, low: 0, lots: lots })
  return memory
}

function meanSpread(quotes: readonly Quote[]): number {
  return (
    quotes.reduce((sum, { askTicks, bidTicks }) => sum + askTicks - bidTicks, 0) / quotes.length
  )
}

describe('the quotes of a candle', () => {
  it('show nothing of what the candle is going to trade', () => {
    const memory = remembered(500, 600)
    const [quiet, busy] = [quotesOf(10, memory), quotesOf(90_000, memory)]

    const shown = (quotes: readonly Quote[]) =>
      quotes.map(({ tradedLots: _traded, candleLots: _all, ...quote }) => quote)
    expect(shown(quiet)).toEqual(shown(busy))
  })

  it('mark an extreme that is over in an instant, and say with the last point how far the candle went', () => {
    const paths = new CandlePaths({ kind: 'random', points: 16, memory: NO_PATH })
    const random = createRandom('unseen')
    const quotes = emptyQuotes(16)
    let unseen = 0
    for (let drawn = 0; drawn < 500; drawn++) {
      const {
        prices: path,
        times,
        lows,
        highs,
      } = paths.draw({ open: 500, high: 560, low: 450, close: 520 }, random)
      const parts = { path, times, lows, highs, before: 500, signBefore: 1, lots: 9 }
      fillCandleQuotes(quotes, { ...parts, memory: NO_MEMORY, scale: SCALE }, random)
      for (const { isUnseen, lastTicks, candleHighTicks, candleLowTicks } of quotes.slice(0, -1)) {
        expect([candleHighTicks, candleLowTicks]).toEqual([lastTicks, lastTicks])
        if (isUnseen !== true) continue
        unseen++
        expect([560, 450]).toContain(lastTicks)
      }
      const end = { isUnseen: false, lastTicks: 520, candleHighTicks: 560, candleLowTicks: 450 }
      expect(quotes.at(-1)).toMatchObject(end)
    }
    expect(unseen).toBe(1000)
  })

  it('stand still while the price bounces between bid and ask, or does not move', () => {
    const quotes = emptyQuotes(8)
    const path = Float64Array.of(500, 500, 501, 501, 501, 500, 500, 501)
    const candle = {
      ...straight(path),
      before: 501,
      signBefore: 1,
      lots: 9,
      memory: NO_MEMORY,
      scale: SCALE,
    }

    for (let seed = 0; seed < 20; seed++) {
      fillCandleQuotes(quotes, candle, createRandom(seed))

      expect(quotes).toMatchObject(Array(8).fill({ bidTicks: 500, askTicks: 501 }))
    }
  })

  it('trade the whole volume, in whole lots of different sizes', () => {
    for (const lots of [0, 1, 15, 90_001]) {
      const tradedLots = quotesOf(lots).map((quote) => quote.tradedLots)
      expect(tradedLots.reduce((sum, one) => sum + one, 0)).toBe(lots)
      expect(tradedLots.every((one) => Number.isInteger(one) && one >= 0)).toBe(true)
    }
    expect(new Set(quotesOf(90_001).map(({ tradedLots }) => tradedLots)).size).toBeGreaterThan(10)
  })

  it('trade as much at the instant of an extreme as at another, whether it is seen there or not', () => {
    const random = createRandom('instants')
    const quotes = emptyQuotes(16)
    // Coarse paths have their extremes at points that are seen, smooth ones between them.
    const memory = { ...NO_PATH, coarse: 0.5 }
    const candle = { open: 500, high: 560, low: 440, close: 550 }
    const traded = { other: 0, hidden: 0, seen: 0 }
    const instants = { other: 0, hidden: 0, seen: 0 }
    for (let drawn = 0; drawn < 3000; drawn++) {
      const paths = new CandlePaths({ kind: 'random', points: 16, memory })
      const { prices: path, times, lows, highs } = paths.draw(candle, random)
      const parts = { path, times, lows, highs, before: 500, signBefore: 1, lots: 14_000 }
      fillCandleQuotes(quotes, { ...parts, memory: NO_MEMORY, scale: SCALE }, random)
      let lots = 0
      let kind: keyof typeof traded = 'other'
      for (const [point, { isUnseen, lastTicks, tradedLots }] of quotes.entries()) {
        lots += tradedLots
        if (isUnseen === true) kind = lastTicks === quotes[point + 1]?.lastTicks ? 'seen' : 'hidden'
        if (isUnseen === true) continue
        traded[kind] += lots
        instants[kind]++
        lots = 0
        kind = 'other'
      }
    }

    const mean = traded.other / instants.other
    for (const kind of ['hidden', 'seen'] as const) {
      expect(instants[kind]).toBeGreaterThan(1000)
      expect(traded[kind] / instants[kind]).toBeGreaterThan(0.9 * mean)
      expect(traded[kind] / instants[kind]).toBeLessThan(1.1 * mean)
    }
  })

  it('display a share of what was traded before, or of what such an instrument trades', () => {
    const median = (quotes: readonly Quote[]) =>
      quotes.flatMap(({ bidLots, askLots }) => [bidLots, askLots]).toSorted((a, b) => a - b)[16]

    expect(median(quotesOf(5))).toBeGreaterThan(100)
    expect(median(quotesOf(5))).toBeLessThan(1000)
    expect(median(quotesOf(5, remembered(100, 600)))).toBeLessThan(10)
  })

  it('have a spread of a tick where much is traded, and a wider one where little is, or the range is wide', () => {
    const [large, thin] = [remembered(30_000, 600), remembered(3, 600)]

    expect(meanSpread(quotesOf(5, large))).toBeLessThan(1.3)
    expect(meanSpread(quotesOf(5, thin))).toBeGreaterThan(20)
    expect(meanSpread(quotesOf(5, remembered(3, 6000)))).toBeGreaterThan(
      2 * meanSpread(quotesOf(5, thin)),
    )
  })
})

describe('what is remembered of candles', () => {
  it('is their mean, and of many the last twenty or so', () => {
    const first = rememberCandle(NO_MEMORY, { high: 50, low: 10, lots: 8 })
    expect(first).toEqual({ candles: 1, lots: 8, rangeTicks: 40 })
    expect(rememberCandle(first, { high: 10, low: 0, lots: 4 })).toEqual({
      candles: 2,
      lots: 6,
      rangeTicks: 25,
    })

    let memory = remembered(1000, 10)
    for (let candle = 0; candle < 60; candle++)
      memory = rememberCandle(memory, { high: 30, low: 0, lots: 10 })
    expect(memory.lots).toBeLessThan(70)
    expect(memory.rangeTicks).toBeGreaterThan(28)
  })
})
