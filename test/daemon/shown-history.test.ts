import { describe, expect, test } from 'vitest'
import { DenialCounts, PriceHistory, ProfitCurve } from '../../src/daemon/control/run-history.ts'
import { RecentActivity } from '../../src/views/recent-activity.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import type { AccountStatusView, ProfitView } from '../../src/control/views.ts'
import type { Book } from '../../src/engine/book/book.ts'
import type { BookedFill, BookedRow } from '../../src/journal/booking.ts'

const DAY_MS = 86_400_000
const NOON = Date.UTC(2025, 5, 11, 12)

describe('candles for looking at', () => {
  function read(history: PriceHistory, at: number, price: number): void {
    const table = new TickerTable(2)
    table.claimRow('BTCUSDT')
    table.columns.ts[0] = at
    table.columns.lastPr[0] = price
    history.take(table)
  }

  test('are built by the exchange times of what was read', () => {
    const history = new PriceHistory(() => ['BTCUSDT', 'ETHUSDT'])
    for (const [at, price] of [
      [10_000, 5],
      [11_000, 9],
      [12_000, 3],
      [14_999, 4],
      [15_000, 6],
    ] as const)
      read(history, at, price)

    expect(history.candles('BTCUSDT', 5000)).toEqual([
      { at: 10_000, open: 5, high: 9, low: 3, close: 4 },
      { at: 15_000, open: 6, high: 6, low: 6, close: 6 },
    ])
    expect(history.candles('BTCUSDT', 60_000)).toEqual([
      { at: 0, open: 5, high: 9, low: 3, close: 6 },
    ])
    expect(history.candles('ETHUSDT', 5000)).toEqual([])
    expect(history.candles('BTCUSDT', 7000)).toBeUndefined()
    expect(history.candles('XRPUSDT', 5000)).toBeUndefined()
  })

  test('[BND1] are the last 360 of each interval', () => {
    const history = new PriceHistory(() => ['BTCUSDT'])
    for (let index = 1; index <= 1000; index += 1) read(history, index * 5000, index)
    const candles = history.candles('BTCUSDT', 5000) ?? []

    expect(candles.map(({ close }) => close)).toEqual(
      Array.from({ length: 360 }, (_, index) => 641 + index),
    )
  })

  test('go on after one stamp far ahead, and without it', () => {
    const history = new PriceHistory(() => ['BTCUSDT'])
    for (let index = 1; index <= 500; index += 1) read(history, index * 5000, index)
    read(history, 1e12, 9)
    expect(history.candles('BTCUSDT', 5000)).toHaveLength(360)
    for (let index = 501; index <= 510; index += 1) read(history, index * 5000, index)

    const candles = history.candles('BTCUSDT', 5000) ?? []
    expect(candles.map(({ close }) => close)).toEqual(
      Array.from({ length: candles.length }, (_, index) => 510 - candles.length + 1 + index),
    )
    expect(candles.length).toBeGreaterThanOrEqual(359)
  })

  test('are none where there is no price', () => {
    const history = new PriceHistory(() => ['BTCUSDT'])
    read(history, 5000, Number.NaN)
    expect(history.candles('BTCUSDT', 5000)).toEqual([])
  })
})

describe('the curve of a run', () => {
  function takeAll(curve: ProfitCurve, seconds: number): void {
    for (let second = 0; second < seconds; second += 1) {
      if (!curve.isDue(second * 1000)) continue
      const view = {
        profit: { total: profit(second), strategies: { grid: profit(-second) } },
        equity: null,
        peak: '7',
      }
      curve.take(second * 1000, second * 1000, view as unknown as AccountStatusView)
    }
  }
  const profit = (net: number): Partial<ProfitView> => ({
    net: '0',
    netWithUnrealised: String(net),
  })

  test('goes forward where the clock is set back', () => {
    const curve = new ProfitCurve()
    const view = {
      profit: { total: profit(1), strategies: {} },
      equity: null,
      peak: null,
    } as unknown as AccountStatusView
    const clocks = [NOON, NOON + 1000, NOON - 3_600_000, NOON - 3_599_000]
    for (const [second, at] of clocks.entries()) curve.take(second * 1000, at, view)

    expect(curve.view().at).toEqual([0, 1000, 2000, 3000].map((ms) => NOON + ms))
  })

  test('has a point a second', () => {
    const curve = new ProfitCurve()
    takeAll(curve, 3)
    expect(curve.view()).toEqual({
      peak: 7,
      at: [0, 1000, 2000],
      netWithUnrealised: [0, 1, 2],
      equity: [null, null, null],
      strategies: { grid: [0, -1, -2] },
    })
  })

  test('[BND1] has 1,200 points at most, from the begin to the end, however long the run is', () => {
    const curve = new ProfitCurve()
    takeAll(curve, 20_000)
    const { at, netWithUnrealised: net } = curve.view()

    expect(at.length).toBeLessThanOrEqual(1200)
    expect(at.length).toBeGreaterThan(500)
    expect([at[0], net[0]]).toEqual([0, 0])
    expect(at.at(-1)).toBeGreaterThan(19_900_000)
    expect(at).toEqual(at.toSorted((one, other) => one - other))
  })

  test('keeps a peak of a second and a low of a second, however long the run is, and what was not known gives way', () => {
    const curve = new ProfitCurve()
    const figures = new Map([
      [20_000, 500],
      [20_002, -700],
    ])
    for (let second = 0; second < 100_000; second += 1) {
      const total =
        second % 3 === 0 ? { net: '0', netWithUnrealised: null } : profit(figures.get(second) ?? 0)
      const view = { profit: { total, strategies: {} }, equity: null, peak: null }
      curve.take(second * 1000, second * 1000, view as unknown as AccountStatusView)
    }
    const { at, netWithUnrealised: net } = curve.view()

    expect(at.length).toBeLessThanOrEqual(1200)
    expect([at[net.indexOf(500)], at[net.indexOf(-700)]]).toEqual([20_000_000, 20_002_000])
    expect(at).toEqual(at.toSorted((one, other) => one - other))
  })
})

test('denials are counted by strategy and cause, those that were not logged too', () => {
  const counts = new DenialCounts()
  const denied = { strategy: 'grid', symbol: 'BTCUSDT', code: 'TRADING_HALTED', detail: 'odd' }
  const hear = (event: 'intent.denied' | 'order.fill', fields: object): void =>
    counts.hear({ level: 'info', event, fields: { ...denied, ...fields } })
  hear('intent.denied', { orders: 3 })
  hear('intent.denied', { sinceLastLogged: 5 })
  hear('order.fill', {})

  expect(counts.view()).toEqual({ grid: { TRADING_HALTED: 9 } })
})

describe('what the last seven days have brought', () => {
  const booked = (at: number, made: string): BookedFill =>
    ({
      kind: 'fill',
      at,
      profit: made,
      fee: '0.1',
      otherFees: '',
      strategyId: 'grid',
      symbol: 'BTCUSDT',
    }) as BookedFill
  const paid = (at: number, amount: string): BookedRow =>
    ({ kind: 'funding', at, amount, symbol: 'BTCUSDT' }) as BookedRow
  const net = ({ week: { money, funding } }: RecentActivity) =>
    Number(money.profit.minus(money.fees).plus(funding).toString())

  test('is read of the journal, and goes on with the days', () => {
    let now = NOON
    const rows = [
      booked(NOON - 7 * DAY_MS, '1000'),
      booked(NOON - 6 * DAY_MS, '5'),
      booked(NOON - DAY_MS, '7'),
      booked(NOON - 1000, '-2'),
    ]
    const activity = new RecentActivity({
      timeZone: 'Europe/Berlin',
      now: () => now,
      booked: (kind, since) => rows.filter((row) => row.kind === kind && row.at >= since),
    })
    expect(net(activity)).toBeCloseTo(10 - 0.3)
    expect([...activity.today.values()].map(({ fills }) => fills)).toEqual([1])

    now += DAY_MS
    expect(net(activity)).toBeCloseTo(5 - 0.2)
    expect(activity.today.size).toBe(0)
    now += 6 * DAY_MS
    expect(net(activity)).toBe(0)
  })

  test('has the funding that was paid meanwhile, of each day', () => {
    let now = NOON
    const rows = [
      paid(NOON - 7 * DAY_MS, '1000'),
      paid(NOON - DAY_MS, '-0.5'),
      paid(NOON - 1000, '0.25'),
      booked(NOON, '1'),
    ]
    const activity = new RecentActivity({
      timeZone: 'UTC',
      now: () => now,
      booked: (kind, since) => rows.filter((row) => row.kind === kind && row.at >= since),
    })
    const pay = {
      kind: 'funding',
      at: NOON,
      symbol: 'BTCUSDT',
      holdSide: 'long',
      change: '-2',
    } as const
    activity.observe({ ...pay, counter: '' }, {} as Book)
    expect(activity.fundingToday.toString()).toBe('-1.75')
    expect(net(activity)).toBeCloseTo(-0.5 - 1.75 + 1 - 0.1)

    now += DAY_MS
    expect(activity.fundingToday.toString()).toBe('0')
    expect(net(activity)).toBeCloseTo(-0.5 - 1.75 + 1 - 0.1)
  })
})
