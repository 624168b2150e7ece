import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../futures/memory-store.ts'
import { ANNA, ExchangeBench } from '../exchange-bench.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const OF_BTC = 'productType=USDT-FUTURES&symbol=BTCUSDT'

type Row = readonly string[]

/** Asks as a client does: page by page, each ending where the one before began. */
function askBack(bench: ExchangeBench, endpoint: 'candles' | 'historyCandles', query: string) {
  return (endTime: number | undefined): readonly Row[] => {
    const end = endTime === undefined ? '' : `&endTime=${endTime}`
    return bench.data(ANNA, endpoint, { query: `${OF_BTC}&${query}${end}` })
  }
}

function expectJoined(rows: readonly Row[], lengthMs: number): void {
  for (const [index, [at, open, high, low, close]] of rows.entries()) {
    expect(Number(high)).toBeGreaterThanOrEqual(Math.max(Number(open), Number(close)))
    expect(Number(low)).toBeLessThanOrEqual(Math.min(Number(open), Number(close)))
    const next = rows[index + 1]
    if (next) expect([Number(next[0]) - Number(at), next[1]]).toEqual([lengthMs, close])
  }
}

describe('the past of a seeded market', () => {
  test('is read back page by page without a gap or a jump, and joins the minutes since', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(10 * 60_000)
    const page = askBack(bench, 'historyCandles', 'granularity=5m&limit=200')
    let rows: readonly Row[] = []
    while (rows.length < 1000) rows = [...page(Number(rows[0]?.[0]) || undefined), ...rows]

    expect(rows).toHaveLength(1000)
    expectJoined(rows, 300_000)
    // The running candle is shown only where all are: it continues the last closed one.
    const [last, running] = askBack(bench, 'candles', 'granularity=5m&limit=2')(undefined)
    expect(last).toEqual(rows.at(-1))
    expect(running?.[1]).toBe(last?.[4])
    const [ticker] = bench.data(ANNA, 'tickers')
    expect(running?.[4]).toBe(ticker?.lastPr)
  })

  test('is the same whenever it is asked for, on every exchange of the seed', async () => {
    const [one, other] = [await ExchangeBench.open(), await ExchangeBench.open()]
    const at = Number(one.data(ANNA, 'serverTime').serverTime) - 200 * DAY_MS
    const before = askBack(one, 'historyCandles', 'granularity=1m')(at)
    // Other days were asked for in between, and time went on.
    for (const days of [3, 40, 300, 399])
      askBack(one, 'historyCandles', 'granularity=1H&limit=200')(at + (200 - days) * DAY_MS)
    one.wait(HOUR_MS)

    expect(before).toHaveLength(100)
    expect(askBack(one, 'historyCandles', 'granularity=1m')(at)).toEqual(before)
    expect(askBack(other, 'historyCandles', 'granularity=1m')(at)).toEqual(before)
  })

  test.each([
    ['1H', '1m', HOUR_MS, 60],
    ['4H', '15m', 4 * HOUR_MS, 16],
    ['1Dutc', '1H', DAY_MS, 24],
  ])('a candle of %s is made of its candles of %s', async (long, short, lengthMs, count) => {
    const bench = await ExchangeBench.open()
    const end = Math.floor(Number(bench.data(ANNA, 'serverTime').serverTime) / DAY_MS) * DAY_MS
    const [whole] = askBack(
      bench,
      'historyCandles',
      `granularity=${long}&limit=1`,
    )(end - 30 * DAY_MS)
    const parts = askBack(
      bench,
      'historyCandles',
      `granularity=${short}&limit=${count}`,
    )(end - 30 * DAY_MS)

    expect(Number(whole?.[0])).toBe(end - 30 * DAY_MS - lengthMs)
    expect(whole?.[1]).toBe(parts[0]?.[1])
    expect(whole?.[4]).toBe(parts.at(-1)?.[4])
    expect(Number(whole?.[2])).toBe(Math.max(...parts.map((row) => Number(row[2]))))
    expect(Number(whole?.[3])).toBe(Math.min(...parts.map((row) => Number(row[3]))))
    expect(Number(whole?.[5])).toBeCloseTo(
      parts.reduce((sum, row) => sum + Number(row[5]), 0),
      6,
    )
  })

  test('days without utc in their name begin at midnight of the exchange', async () => {
    const bench = await ExchangeBench.open()
    const [day] = askBack(bench, 'historyCandles', 'granularity=1D&limit=1')(undefined)

    expect(Number(day?.[0]) % DAY_MS).toBe(16 * HOUR_MS)
  })

  test('reaches 400 days back, and recent minutes a month', async () => {
    const bench = await ExchangeBench.open()
    const now = Number(bench.data(ANNA, 'serverTime').serverTime)
    const old = now - 31 * DAY_MS

    expect(askBack(bench, 'candles', 'granularity=1m')(old)).toEqual([])
    expect(askBack(bench, 'historyCandles', 'granularity=1m')(old)).toHaveLength(100)
    expect(askBack(bench, 'historyCandles', 'granularity=1m')(now - 402 * DAY_MS)).toEqual([])
    const page = askBack(bench, 'historyCandles', 'granularity=1Dutc&limit=200')
    const newer = page(undefined)
    const days = [...page(Number(newer[0]?.[0])), ...newer]
    expect(days.length).toBeGreaterThanOrEqual(399)
    expectJoined(days, DAY_MS)
  })

  test('moves as the instrument does', async () => {
    const bench = await ExchangeBench.open()
    const hours = askBack(bench, 'historyCandles', 'granularity=1H&limit=200')(undefined)
    const moves = hours.map(([, open, , , close]) => Math.log(Number(close) / Number(open)))
    const deviation = Math.sqrt(moves.reduce((sum, move) => sum + move * move, 0) / moves.length)

    // A share of the price in an hour: 0.6 a year is 0.0064.
    expect(deviation).toBeGreaterThan(0.003)
    expect(deviation).toBeLessThan(0.013)
  })
})

describe('the history of funding rates', () => {
  const page = (bench: ExchangeBench, query: string) =>
    bench.data(ANNA, 'historyFundRate', { query: `${OF_BTC}&${query}` })

  test('is shown newest first by page, at the times of the instrument, 400 days back', async () => {
    const bench = await ExchangeBench.open()
    const first = page(bench, 'pageSize=100')
    const second = page(bench, 'pageSize=100&pageNo=2')
    const times = [...first, ...second].map(({ fundingTime }) => Number(fundingTime))

    expect(times).toHaveLength(200)
    for (const [index, at] of times.entries()) {
      expect(at % (8 * HOUR_MS)).toBe(0)
      if (index > 0) expect((times[index - 1] ?? 0) - at).toBe(8 * HOUR_MS)
    }
    expect(page(bench, 'pageSize=100&pageNo=12').length).toBeGreaterThan(90)
    expect(page(bench, 'pageSize=100&pageNo=14')).toEqual([])
    for (const { fundingRate } of first) expect(Math.abs(Number(fundingRate))).toBeLessThan(0.003)
    expect(new Set(first.map(({ fundingRate }) => fundingRate)).size).toBeGreaterThan(5)
  })

  test('goes on with what is settled, and keeps what it showed', async () => {
    const bench = await ExchangeBench.open()
    const before = page(bench, 'pageSize=50')
    bench.wait(9 * HOUR_MS)
    const after = page(bench, 'pageSize=51')

    expect(after.slice(-before.length + (after.length - 51))).toEqual(before)
    expect(Number(after[0]?.fundingTime)).toBe(Number(before[0]?.fundingTime) + 8 * HOUR_MS)
  })

  test('the next rate has its interval and its time', async () => {
    const bench = await ExchangeBench.open()
    const now = Number(bench.data(ANNA, 'serverTime').serverTime)
    const [next] = bench.data(ANNA, 'currentFundRate', { query: OF_BTC })

    expect(next?.fundingRateInterval).toBe('8')
    expect(Number(next?.nextUpdate) - now).toBeLessThanOrEqual(8 * HOUR_MS)
    expect(Number(next?.nextUpdate)).toBeGreaterThan(now)
  })
})

describe('the minutes of an exchange with a state', () => {
  const STEP = { stepMs: 10_000 }

  test('are answered days later as they were on that day, after a restart too', async () => {
    const store = createMemoryStore()
    const bench = await ExchangeBench.open({ ...STEP, store })
    const live = (hours: number): void => {
      for (let hour = 0; hour < hours; hour++) bench.wait(HOUR_MS)
    }
    live(12)
    const page = askBack(bench, 'historyCandles', 'granularity=1m&limit=200')
    const end = Math.floor(bench.now / HOUR_MS) * HOUR_MS
    const then = page(end)
    live(40)

    expect(then).toHaveLength(200)
    expect(page(end)).toEqual(then)
    const again = await ExchangeBench.open({ ...STEP, store, now: bench.now })
    expect(askBack(again, 'historyCandles', 'granularity=1m&limit=200')(end)).toEqual(then)
    let rows: readonly Row[] = []
    while (rows.length < 3000) rows = [...page(Number(rows[0]?.[0]) || undefined), ...rows]
    expectJoined(rows, 60_000)
  })

  test('is not kept without a state', async () => {
    const bench = await ExchangeBench.open(STEP)
    bench.wait(10 * 60_000)
    const end = Math.floor(bench.now / 60_000) * 60_000
    for (let hour = 0; hour < 40; hour++) bench.wait(HOUR_MS)

    expect(askBack(bench, 'historyCandles', 'granularity=1m&limit=5')(end)).toEqual([])
  })
})
