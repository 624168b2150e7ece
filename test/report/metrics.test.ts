import { describe, expect, test } from 'vitest'
import {
  cutIntoBuckets,
  DAY_MS,
  DrawdownTracker,
  EquitySeries,
} from '../../src/report/collect/equity-series.ts'
import {
  computeRatios,
  deviation,
  downsideDeviation,
  rollingSharpe,
  toDayReturns,
} from '../../src/report/metrics.ts'

const START_AT = Date.UTC(2025, 0, 6)
const HOUR_MS = DAY_MS / 24
const NOTHING_HELD = { balance: 0, unrealised: 0, gross: 0, net: 0, marginUse: 0 }

function openSeries(endAt: number, opening: number): EquitySeries {
  return new EquitySeries(cutIntoBuckets(START_AT, endAt), { startAt: START_AT, endAt }, opening)
}

/** Equity at the end of each hour. */
function playHours(equities: readonly number[], opening = 100) {
  const toAt = START_AT + equities.length * HOUR_MS
  const series = openSeries(toAt, opening)
  for (const [hour, equity] of equities.entries()) {
    series.take(START_AT + (hour + 1) * HOUR_MS - 1, { ...NOTHING_HELD, equity })
  }
  return { series, toAt }
}

describe('daily returns', () => {
  test('go from close to close, over days without a quote, and come to the whole', () => {
    const equities = [102, 101, 105, 104]
    const series = openSeries(START_AT + 6 * DAY_MS, 100)
    for (const [index, day] of [0, 1, 4, 5].entries()) {
      series.take(START_AT + day * DAY_MS + HOUR_MS, {
        ...NOTHING_HELD,
        equity: equities[index] ?? 0,
      })
    }

    const returns = toDayReturns(series.facts().days, 100).map(({ value }) => value)

    expect(returns).toHaveLength(6)
    const expected = [0.02, 101 / 102 - 1, 0, 0, 105 / 101 - 1, 104 / 105 - 1]
    for (const [index, value] of expected.entries()) expect(returns[index]).toBeCloseTo(value, 12)
    expect(returns.reduce((product, value) => product * (1 + value), 1)).toBeCloseTo(1.04, 12)
  })

  test('of whole days are as many as the days: what is looked at at the end belongs to the last of them', () => {
    const series = openSeries(START_AT + 2 * DAY_MS, 100)
    const looks = [
      [START_AT + 12 * HOUR_MS, 110],
      [START_AT + DAY_MS + 12 * HOUR_MS, 105],
      [START_AT + 2 * DAY_MS, 99],
    ] as const
    for (const [at, equity] of looks) series.take(at, { ...NOTHING_HELD, equity })

    const { days, profitByHour } = series.facts()

    expect(days).toEqual([
      { startAt: START_AT, equity: 110 },
      { startAt: START_AT + DAY_MS, equity: 99 },
    ])
    expect([profitByHour[0], profitByHour[12], profitByHour[23]]).toEqual([0, 5, -6])
  })

  test('their deviations are those of a textbook', () => {
    const values = [2, 4, 4, 4, 5, 5, 7, 9]

    expect(deviation(values)).toBeCloseTo(Math.sqrt(32 / 7), 12)
    expect(downsideDeviation([1, -3, 2, -4])).toBeCloseTo(2.5, 12)
    expect(deviation([1])).toBeNaN()
  })

  test('the rolling Sharpe looks at thirty days at a time', () => {
    const days = Array.from({ length: 32 }, (_, day) => ({
      startAt: day,
      value: day < 30 ? day : 0,
    }))

    const rolling = rollingSharpe(days)

    // Of 0 to 29: mean 14.5, variance (30^2 - 1) / 12 * 30 / 29.
    expect(rolling.map(({ startAt }) => startAt)).toEqual([29, 30, 31])
    expect(rolling[0]?.value).toBeCloseTo(14.5 / Math.sqrt((899 / 12) * (30 / 29)), 10)
  })
})

describe('what is kept of the equity', () => {
  test('no low between two buckets is lost, and the worst drawdowns are those of the whole path', () => {
    // A path of plain numbers, its drawdowns found by looking at every pair of moments.
    const path = Array.from(
      { length: 4000 },
      (_, step) => 100 + 20 * Math.sin(step / 7) + ((step * 7919) % 13) + step / 300,
    )
    const { series } = playHours(path, path[0])
    let [peak, deepest] = [path[0] as number, 0]
    for (const equity of path) {
      peak = Math.max(peak, equity)
      deepest = Math.max(deepest, 1 - equity / peak)
    }

    const { columns, drawdowns } = series.facts()

    expect(columns.close.length).toBeLessThanOrEqual(1500)
    expect(Math.min(...columns.low.filter((low) => !Number.isNaN(low)))).toBe(Math.min(...path))
    expect(Math.max(...columns.high.filter((high) => !Number.isNaN(high)))).toBe(Math.max(...path))
    expect(Math.max(...columns.drawdown.filter((depth) => !Number.isNaN(depth)))).toBeCloseTo(
      deepest,
      12,
    )
    expect(drawdowns[0]?.depth).toBeCloseTo(deepest, 12)
    expect(drawdowns).toHaveLength(5)
  })

  test('a drawdown lasts from its peak until that is reached again', () => {
    const tracker = new DrawdownTracker(0, 100)
    const depths = [100, 110, 99, 104, 110, 120, 60].map((equity, at) => tracker.take(at, equity))

    expect(depths.map((depth) => Number(depth.toFixed(4)))).toEqual([0, 0, 0.1, 0.0545, 0, 0, 0.5])
    expect(tracker.worst()).toEqual([
      { peakAt: 5, troughAt: 6, recoveredAt: undefined, depth: 0.5, amount: 60 },
      { peakAt: 1, troughAt: 2, recoveredAt: 4, depth: 0.1, amount: 11 },
    ])
    expect(tracker.underWater()).toEqual({ totalMs: 2, longestMs: 3 })
  })

  test('profits are those of their hours and days of the week, UTC', () => {
    // Monday: one more an hour; Tuesday: two less an hour.
    const equities = Array.from({ length: 48 }, (_, hour) =>
      hour < 24 ? 101 + hour : 124 - 2 * (hour - 23),
    )
    const { series } = playHours(equities)

    const { profitByHour, profitByWeekday } = series.facts()

    expect(profitByWeekday).toEqual([0, 24, -48, 0, 0, 0, 0])
    expect(profitByHour).toEqual(Array.from({ length: 24 }, () => -1))
  })
})

describe('ratios', () => {
  const trips = { trips: 4, wins: 3, gains: 30, losses: 10 }
  const ratiosOf = (days: number) => {
    const equities = Array.from(
      { length: days * 24 },
      (_, hour) => 100 * 1.001 ** Math.floor(hour / 24 + 1) + (hour % 48 < 24 ? 0 : 0.5),
    )
    const { series, toAt } = playHours(equities)
    const final = equities.at(-1) ?? 0
    const equity = series.facts()
    const ratios = computeRatios({
      opening: 100,
      final,
      fromAt: START_AT,
      toAt,
      equity,
      trips,
      traded: 500,
      nearestDistance: 0.2,
    })
    return { equities, final, of: (name: string) => ratios.find((ratio) => ratio.name === name) }
  }

  test('of less than ninety days nothing is annualised, and the report says so', () => {
    const { of } = ratiosOf(89)

    expect(of('yearly growth')).toMatchObject({
      value: null,
      note: expect.stringContaining('90 days') as string,
    })
    expect(of('Calmar')?.value).toBeNull()
    expect(of('Sharpe')?.note).toContain('per day')
    expect(of('Sharpe')?.formula).not.toContain('365')
  })

  test('[MON2] of one day there is no Sharpe and no Sortino, and exposures are shares', () => {
    const { of } = ratiosOf(1)

    expect([of('Sharpe')?.value, of('Sortino')?.value]).toEqual([null, null])
    expect([of('mean exposure')?.unit, of('highest exposure')?.unit]).toEqual(['share', 'share'])
  })

  test('of ninety days they are those of 365 days a year', () => {
    const { of, equities, final } = ratiosOf(90)
    const closes = [100, ...equities.filter((_, hour) => hour % 24 === 23)]
    const returns = closes.slice(1).map((close, day) => close / (closes[day] ?? 1) - 1)
    const centre = returns.reduce((sum, value) => sum + value, 0) / returns.length
    const spread = Math.sqrt(
      returns.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (returns.length - 1),
    )
    const down = Math.sqrt(
      returns.reduce((sum, value) => sum + (value < 0 ? value * value : 0), 0) / returns.length,
    )
    const growth = (final / 100) ** (365 / 90) - 1

    expect(of('Sharpe')?.value).toBeCloseTo((centre / spread) * Math.sqrt(365), 9)
    expect(of('Sortino')?.value).toBeCloseTo((centre / down) * Math.sqrt(365), 9)
    expect(of('yearly growth')?.value).toBeCloseTo(growth, 9)
    expect(of('Calmar')?.value).toBeCloseTo(growth / -(of('deepest drawdown')?.value ?? 0), 9)
  })

  test('of closed positions: winners, profit factor, expectancy', () => {
    const { of } = ratiosOf(10)

    expect(of('winners')?.value).toBe(0.75)
    expect(of('profit factor')?.value).toBe(3)
    expect(of('expectancy')?.value).toBe(5)
  })
})
