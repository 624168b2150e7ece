import { readFileSync } from 'node:fs'
import { ADX, ATR, RSI } from 'trading-signals'
import { describe, expect, test } from 'vitest'
import { appendCandle, type CandleSeries, createCandleSeries } from '../../../src/domain/candles.ts'
import { createRandom } from '../../../src/lib/random.ts'
import {
  adx,
  atr,
  bollinger,
  donchian,
  ema,
  INDICATORS,
  macd,
  roc,
  rsi,
  sma,
  standardDeviation,
  stochastic,
  wma,
  zScore,
} from '../../../src/strategy/indicators/specs.ts'
import * as contract from '../../../src/strategy/contract.ts'
import { indicatorValue } from '../../../src/strategy/indicators/indicator-values.ts'

const MINUTE = 60_000
const interval = '1m'

interface Bar {
  readonly high: number
  readonly low: number
  readonly close: number
}

function seriesOf(bars: readonly Bar[], capacity = bars.length): CandleSeries {
  const series = createCandleSeries(MINUTE, capacity)
  bars.forEach(({ high, low, close }, index) =>
    appendCandle(series, [index * MINUTE, close, high, low, close, 1]),
  )
  return series
}

function ofCloses(closes: readonly number[]): CandleSeries {
  return seriesOf(closes.map((close) => ({ high: close, low: close, close })))
}

/** A random walk. */
function randomBars(count: number, seed: string): readonly Bar[] {
  const random = createRandom(seed)
  let close = 30_000
  return Array.from({ length: count }, () => {
    close += random.integer(201) - 100 + random.integer(10) / 10
    return { high: close + random.integer(80) + 100, low: close - random.integer(80) - 100, close }
  })
}

/* An implementation of its own: Wilder's and the textbooks' formulas over plain lists. */
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length
const deviationOf = (values: readonly number[]): number =>
  Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)))
const last = (values: readonly number[]): number => values.at(-1) ?? Number.NaN

function emaOf(values: readonly number[], period: number): number[] {
  const averages: number[] = []
  for (const value of values) {
    const before = averages.at(-1) ?? value
    averages.push(before + (value - before) * (2 / (period + 1)))
  }
  return averages
}

/** Wilder's smoothing: begins with the mean of the first `period`. */
function wilderOf(values: readonly number[], period: number): number[] {
  const averages = [mean(values.slice(0, period))]
  for (const value of values.slice(period))
    averages.push((last(averages) * (period - 1) + value) / period)
  return averages
}

function rsiOf(closes: readonly number[], period: number): number {
  const changes = closes.slice(1).map((close, index) => close - (closes[index] ?? 0))
  const gain = last(wilderOf(changes.map((change) => Math.max(0, change)), period)) // prettier-ignore
  const loss = last(wilderOf(changes.map((change) => Math.max(0, -change)), period)) // prettier-ignore
  return 100 - 100 / (1 + gain / loss)
}

function trueRanges(bars: readonly Bar[]): number[] {
  return bars.slice(1).map(({ high, low }, index) => {
    const { close } = bars[index] ?? { close: 0 }
    return Math.max(high - low, Math.abs(high - close), Math.abs(low - close))
  })
}

function adxOf(bars: readonly Bar[], period: number): number {
  const moves = bars.slice(1).map(({ high, low }, index) => {
    const before = bars[index] ?? { high: 0, low: 0 }
    const [up, down] = [high - before.high, before.low - low]
    return { plus: up > down && up > 0 ? up : 0, minus: down > up && down > 0 ? down : 0 }
  })
  const range = wilderOf(trueRanges(bars), period)
  const plus = wilderOf(moves.map((move) => move.plus), period) // prettier-ignore
  const minus = wilderOf(moves.map((move) => move.minus), period) // prettier-ignore
  const directional = range.map((width, index) => {
    const [rising, falling] = [(plus[index] ?? 0) / width, (minus[index] ?? 0) / width]
    return rising + falling === 0 ? 0 : (100 * Math.abs(rising - falling)) / (rising + falling)
  })
  return last(wilderOf(directional, period))
}

function stochasticOf(bars: readonly Bar[], period: number, smoothing: number) {
  const fast = bars.slice(period - 1).map(({ close }, index) => {
    const window = bars.slice(index, index + period)
    const low = Math.min(...window.map((bar) => bar.low))
    const high = Math.max(...window.map((bar) => bar.high))
    return (100 * (close - low)) / (high - low)
  })
  const smooth = (values: readonly number[]): number[] =>
    values.slice(smoothing - 1).map((_, index) => mean(values.slice(index, index + smoothing)))
  return { k: last(smooth(fast)), d: last(smooth(smooth(fast))) }
}

describe('an indicator is what an implementation of its own says', () => {
  const bars = randomBars(800, 'indicators')
  const series = seriesOf(bars)
  const closes = bars.map(({ close }) => close)
  const lastCloses = (count: number) => closes.slice(-count)
  const window = lastCloses(20)

  test.each([
    ['sma', sma({ interval, period: 20 }), mean(window)],
    [
      'wma',
      wma({ interval, period: 20 }),
      sum(window.map((close, index) => close * (index + 1))) / 210,
    ],
    ['ema', ema({ interval, period: 12 }), last(emaOf(lastCloses(96), 12))],
    ['rsi', rsi({ interval, period: 14 }), rsiOf(lastCloses(225), 14)],
    ['roc', roc({ interval, period: 20 }), last(closes) / (closes.at(-21) ?? 0) - 1],
    ['standardDeviation', standardDeviation({ interval, period: 20 }), deviationOf(window)],
    [
      'zScore',
      zScore({ interval, period: 20 }),
      (last(window) - mean(window)) / deviationOf(window),
    ],
  ])('%s', (_, spec, expected) => {
    expect(indicatorValue(spec, series)).toBeCloseTo(expected, 8)
  })

  test('bollinger', () => {
    const [middle, width] = [mean(window), 2.5 * deviationOf(window)]
    const value = indicatorValue(bollinger({ interval, period: 20, deviations: 2.5 }), series)
    expect(value).toEqual({
      lower: expect.closeTo(middle - width, 6) as number,
      middle: expect.closeTo(middle, 6) as number,
      upper: expect.closeTo(middle + width, 6) as number,
    })
  })

  test('donchian', () => {
    const upper = Math.max(...bars.slice(-20).map(({ high }) => high))
    const lower = Math.min(...bars.slice(-20).map(({ low }) => low))
    const value = indicatorValue(donchian({ interval, period: 20 }), series)
    expect(value).toEqual({ lower, upper, middle: (lower + upper) / 2 })
  })

  test('stochastic', () => {
    const { k, d } = stochasticOf(bars.slice(-18), 14, 3)
    const value = indicatorValue(stochastic({ interval, period: 14 }), series)
    expect(value).toEqual({ k: expect.closeTo(k, 8) as number, d: expect.closeTo(d, 8) as number })
  })

  test('macd, the averages of which begin within the declared candles', () => {
    const lasts = lastCloses(8 * 35)
    const differences = emaOf(lasts, 12).map((fast, index) => fast - (emaOf(lasts, 26)[index] ?? 0))
    const signal = last(emaOf(differences.slice(25), 9))
    const value = indicatorValue(macd({ interval }), series) as {
      macd: number
      signal: number
      histogram: number
    }
    expect(value.macd).toBeCloseTo(last(differences), 8)
    expect(value.signal).toBeCloseTo(signal, 8)
    expect(value.histogram).toBeCloseTo(last(differences) - signal, 8)
  })

  test('atr and adx, wherever their averages began', () => {
    // All eight hundred candles, and the textbook's beginning.
    expect(indicatorValue(atr({ interval, period: 14 }), series)).toBeCloseTo(
      last(wilderOf(trueRanges(bars), 14)),
      3,
    )
    expect(indicatorValue(adx({ interval, period: 14 }), series)).toBeCloseTo(adxOf(bars, 14), 3)
  })

  test('ema as if it had begun at the first candle of all, by the number of candles it takes', () => {
    expect(indicatorValue(ema({ interval, period: 12 }), series)).toBeCloseTo(
      last(emaOf(closes, 12)),
      3,
    )
  })
})

test('rsi is what the published table of Wilder’s formula says', () => {
  // The worked example of the relative strength index at StockCharts' ChartSchool, 14 periods.
  const closes = [
    44.3389, 44.0902, 44.1497, 43.6124, 44.3278, 44.8264, 45.0955, 45.4245, 45.8433, 46.0826,
    45.8931, 46.0328, 45.614, 46.282, 46.282, 46.0028, 46.0328, 46.4116, 46.2222, 45.6439,
  ]
  const published = [70.53, 66.32, 66.55, 69.41, 66.36, 57.97]
  const values = published.map((_, index) => {
    const candles = 15 + index
    return indicatorValue(
      rsi({ interval, period: 14, candles }),
      ofCloses(closes.slice(0, candles)),
    )
  })
  expect(values.map((value) => Math.round(Number(value) * 100) / 100)).toEqual(published)
})

test('rsi, atr and adx are those of the library to the last bit', () => {
  const bars = randomBars(500, 'library')
  const library = [new RSI(14), new ATR(14), new ADX(14)] as const
  for (const { close } of bars.slice(-225)) library[0].add(close)
  for (const bar of bars.slice(-224)) library[1].add(bar)
  for (const bar of bars.slice(-448)) library[2].add(bar)

  const specs = [
    rsi({ interval, period: 14 }),
    atr({ interval, period: 14 }),
    adx({ interval, period: 14 }),
  ]
  const values = specs.map((spec) => indicatorValue(spec, seriesOf(bars)))
  expect(values).toEqual(library.map((indicator) => indicator.getResultOrThrow()))
})

test('a value depends on the declared number of candles alone, to the last bit', () => {
  const bars = randomBars(700, 'alone')
  for (const spec of [
    ema({ interval, period: 9 }),
    rsi({ interval, period: 7 }),
    adx({ interval, period: 5 }),
    macd({ interval }),
  ]) {
    const whole = indicatorValue(spec, seriesOf(bars))
    expect(whole).toBeDefined()
    // Another beginning, another length, another place in the ring.
    expect(indicatorValue(spec, seriesOf(bars.slice(-spec.candles)))).toEqual(whole)
    expect(indicatorValue(spec, seriesOf(bars, spec.candles + 13))).toEqual(whole)
    expect(indicatorValue(spec, seriesOf(bars.slice(-spec.candles + 1)))).toBeUndefined()
  }
})

test('a value changes when a candle closes, and is worked out once in between', () => {
  const series = seriesOf(randomBars(60, 'once'), 60)
  const spec = bollinger({ interval, period: 20 })
  const before = indicatorValue(spec, series)
  expect(indicatorValue(bollinger({ interval, period: 20 }), series)).toBe(before)

  appendCandle(series, [60 * MINUTE, 1, 1, 1, 1, 1])
  expect(indicatorValue(spec, series)).not.toEqual(before)
})

test('prices that stand still have no value where the formula divides by how they moved', () => {
  // 20 times 0.1 is a little more than the sum of twenty.
  for (const price of [100, 0.1]) {
    const flat = ofCloses(Array.from({ length: 500 }, () => price))
    for (const spec of [
      rsi({ interval, period: 14 }),
      zScore({ interval, period: 20 }),
      adx({ interval, period: 14 }),
      stochastic({ interval, period: 14 }),
    ])
      expect([spec.name, indicatorValue(spec, flat)]).toEqual([spec.name, undefined])
    expect(indicatorValue(sma({ interval, period: 20 }), flat)).toBeCloseTo(price, 12)
  }
})

test('a stochastic has no value while one of its windows stands still, and one as soon as none does', () => {
  const bars = [
    ...Array.from({ length: 14 }, () => 100),
    ...Array.from({ length: 18 }, (_, index) => 101 + index),
  ]
  const spec = stochastic({ interval, period: 14 })
  const values = bars.map((_, index) => indicatorValue(spec, ofCloses(bars.slice(0, index + 1))))

  expect(values.findIndex((value) => value !== undefined)).toBe(18)
  expect(values.at(-1)).toEqual({ k: 100, d: 100 })
})

test('candles that were only filled up count, as long as they are not most of them', () => {
  const spec = rsi({ interval, period: 5, candles: 20 })
  const series = createCandleSeries(MINUTE, 60)
  const append = (minute: number, close: number) =>
    appendCandle(series, [minute * MINUTE, close, close, close, close, 1])
  for (let minute = 0; minute < 20; minute++) append(minute, 100 + (minute % 3))
  expect(indicatorValue(spec, series)).toBeDefined()

  // A gap of 30 minutes, and the first price after it.
  append(50, 103)
  expect(indicatorValue(spec, series)).toBeUndefined()

  const first = Array.from({ length: 20 }, (_, index) => 51 + index).find((minute) => {
    append(minute, 100 + (minute % 3))
    return indicatorValue(spec, series) !== undefined
  })
  expect(first).toBe(59)
})

test('a channel has the closed candle in it, or, with shift, those before it', () => {
  const series = seriesOf([
    ...randomBars(40, 'shift'),
    { high: 90_000, low: 80_000, close: 85_000 },
  ])
  const before = seriesOf(randomBars(40, 'shift'))
  const spec = donchian({ interval, period: 20, shift: 1 })

  expect(indicatorValue(donchian({ interval, period: 20 }), series)).toMatchObject({
    upper: 90_000,
  })
  expect(indicatorValue(spec, series)).toEqual(
    indicatorValue(donchian({ interval, period: 20 }), before),
  )
  expect(spec.candles).toBe(21)
})

test.each([
  ['an interval that does not divide a day', () => ema({ interval: '7m', period: 3 })],
  ['a period that is no whole number', () => sma({ interval, period: 2.5 })],
  ['more candles than are kept', () => adx({ interval, period: 200 })],
  ['a shift that is no whole number', () => donchian({ interval, period: 20, shift: 0.5 })],
  ['a shift backwards', () => donchian({ interval, period: 20, shift: -1 })],
  ['fewer candles than make one value', () => rsi({ interval, period: 14, candles: 14 })],
])('%s is refused', (_, make) => {
  expect(make).toThrow(RangeError)
})

test.each([
  ['NaN', Number.NaN],
  ['-1', -1],
  ['0', 0],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['x', 'x' as unknown as number],
])('a factor of %s is refused, a period is not blamed', (text, deviations) => {
  expect(() => bollinger({ interval, period: 5, deviations })).toThrow(
    `bollinger: a factor is a number above 0, not ${text}`,
  )
})

test('a factor need not be whole', () => {
  expect(bollinger({ interval, period: 5, deviations: 1.5 }).settings).toEqual([5, 1.5])
})

const PAGE = readFileSync(new URL('../../../docs/strategies.md', import.meta.url), 'utf8')

describe.each(Object.entries(INDICATORS))('the indicator %s', (name, make) => {
  test('can be imported from intentd/strategy', () => {
    expect(contract, `export ${name} in src/strategy/contract.ts`).toHaveProperty(name, make)
  })

  test('has a row in docs/strategies.md', () => {
    expect(
      PAGE.split('\n').some((line) => new RegExp(`^\\| (?:\`\\w+\`, )?\`${name}\\b`).test(line)),
      `write a row for ${name} in the table "Indicators" of docs/strategies.md`,
    ).toBe(true)
  })
})

test.each(Object.entries(INDICATORS))('%s refuses a word that it does not know', (name, make) => {
  const misspelt = { interval, period: 5, slowng: 3 }
  expect(() => make(misspelt)).toThrow(
    name === 'macd'
      ? 'macd: has no option "period"'
      : `${name}: has no option "slowng"; did you mean slowing?`,
  )
})

test('an average over just its period has no number of candles of its own', () => {
  const given = { interval, period: 5, candles: 10 }
  expect(() => sma(given)).toThrow('sma: has no option "candles"')
  expect(ema({ interval, period: 5, candles: 10 }).candles).toBe(10)
})
