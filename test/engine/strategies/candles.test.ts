import { expect, test } from 'vitest'
import { candleKey, type CandleRow, toRows } from '../../../src/domain/candles.ts'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { fromBookRows, toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { type Effect } from '../../../src/engine/effect.ts'
import { createEngine, resumeEngine } from '../../../src/engine/engine.ts'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import { type EngineSettings, type StrategySettings } from '../../../src/engine/settings.ts'
import { MOMENT_AT } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const MINUTE = 60_000
const KEY = candleKey(SYMBOL, MINUTE)

/** A core whose strategy needs five candles of a minute. Its clock stands a second before a minute. */
function openBench(
  change: Partial<StrategySettings> = {},
  recordedCandle?: EngineSettings['recordedCandle'],
): EngineBench {
  const { settings } = new EngineBench()
  const needed = { candles: new Map([[MINUTE, 5]]), ...change }
  const strategies = [...settings.strategies].map(
    ([id, strategy]) => [id, { ...strategy, ...needed }] as const,
  )
  const bench = new EngineBench({
    strategies: new Map(strategies),
    ...(recordedCandle && { recordedCandle }),
  })
  bench.now = MOMENT_AT - 30_000
  bench.start()
  bench.effects = []
  return bench
}

function candlesOf(bench: EngineBench): readonly CandleRow[] {
  const series = bench.book.candles.get(KEY)
  return series ? toRows(series) : []
}

/** A price at so many seconds after midnight. */
function priceAt(bench: EngineBench, seconds: number, price: number): void {
  bench.now = MOMENT_AT + seconds * 1000
  bench.step({ kind: 'timePassed' })
  bench.price(price)
}

/** An answer of one instant with a price of another, in seconds after midnight. */
function heard(
  bench: EngineBench,
  seconds: number,
  { price, dated }: { readonly price: number; readonly dated: number },
): void {
  bench.now = MOMENT_AT + seconds * 1000
  bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
  const tickers = new TickerTable(1)
  tickers.claimRow(SYMBOL)
  Object.assign(tickers, { readAt: bench.now, requestTime: bench.now })
  tickers.columns.lastPr[0] = price
  tickers.columns.ts[0] = MOMENT_AT + dated * 1000
  bench.step({ kind: 'snapshotTaken', tickers })
}

/** How often the strategy was asked since this was last called. */
const asked = (bench: EngineBench): number => bench.take('decide').length

test('a candle is made of the last prices of its interval, and kept when a later one begins', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 20, 103)
  priceAt(bench, 40, 99)
  priceAt(bench, 59, 101)
  expect(candlesOf(bench)).toEqual([])

  priceAt(bench, 60, 110)
  expect(candlesOf(bench)).toEqual([[MOMENT_AT, 100, 103, 99, 101, 4]])
})

test('what a recording knows of a candle counts more than what was seen of it, once it has closed', () => {
  const askedFor: number[] = []
  const bench = openBench({}, (symbol, intervalMs, openAt) => {
    askedFor.push(openAt)
    const minute = (openAt - MOMENT_AT) / MINUTE
    return symbol === SYMBOL && intervalMs === MINUTE && minute >= 0 && minute !== 2
      ? [openAt, 100, 200 + minute, 50, 150, 1]
      : undefined
  })
  priceAt(bench, 1, 100)
  priceAt(bench, 59, 101)
  // Nothing of the candle that is open.
  expect(askedFor.filter((openAt) => openAt >= MOMENT_AT)).toEqual([])

  // Nobody looks for three minutes, and the recording has a gap in the second.
  priceAt(bench, 60 * 4, 110)
  expect(candlesOf(bench)).toEqual([
    [MOMENT_AT, 100, 200, 50, 150, 1],
    [MOMENT_AT + MINUTE, 100, 201, 50, 150, 1],
    [MOMENT_AT + 2 * MINUTE, 150, 150, 150, 150, 0],
    [MOMENT_AT + 3 * MINUTE, 100, 203, 50, 150, 1],
  ])
  expect(Math.max(...askedFor)).toBe(MOMENT_AT + 3 * MINUTE)
})

test('the first candle, which nobody saw from its beginning, is not kept', () => {
  const bench = openBench()
  priceAt(bench, 0, 100)

  expect(candlesOf(bench)).toEqual([])
})

test('a candle closes without a later price, when the clock has passed its end by the age that is decided on', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  for (const [seconds, candles] of [
    [60.9, 0],
    [61, 1],
    [121, 2],
  ] as const) {
    heard(bench, seconds, { price: 100, dated: 1 })
    expect(candlesOf(bench)).toHaveLength(candles)
  }
  expect(candlesOf(bench)[1]).toEqual([MOMENT_AT + MINUTE, 100, 100, 100, 100, 0])
  expect(bench.book.candles.get(KEY)?.filled).toBe(1)
})

test('intervals that nobody saw repeat the close before them, and are counted', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 60, 105)
  priceAt(bench, 60 * 4 + 5, 90)

  expect(
    candlesOf(bench).map(([openAt, , , , close, ticks]) => [
      (openAt - MOMENT_AT) / MINUTE,
      close,
      ticks,
    ]),
  ).toEqual([
    [0, 100, 1],
    [1, 105, 1],
    [2, 105, 0],
    [3, 105, 0],
  ])
  expect(bench.book.candles.get(KEY)?.filled).toBe(2)
})

test('a gap longer than the series empties it', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 60, 105)
  priceAt(bench, 60 * 9, 90)
  expect(candlesOf(bench)).toEqual([])

  priceAt(bench, 60 * 10, 91)
  expect(candlesOf(bench).map(([, , , , close]) => close)).toEqual([90])
})

test('before the boot is recorded no candle is', () => {
  const bench = openBench()
  for (const minute of [0, 1, 2]) priceAt(bench, minute * 60 + 1, 100)
  bench.restart()
  bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
  priceAt(bench, 241, 100)
  expect(bench.take('record')).toEqual([])

  bench.step({ kind: 'started' })
  priceAt(bench, 242, 100)
  expect(
    bench
      .take('record')
      .map(({ record }) => record.kind)
      .slice(0, 2),
  ).toEqual(['boot', 'candles'])
})

test('[BND1] no more candles are kept than are needed', () => {
  const bench = openBench()
  for (let minute = 0; minute < 20; minute++) priceAt(bench, minute * 60 + 1, 100 + minute)

  expect(candlesOf(bench).map(([, , , , close]) => close)).toEqual([114, 115, 116, 117, 118])
})

test('a price of before a close changes nothing of what has closed', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 60, 105)
  const before = candlesOf(bench)
  heard(bench, 62, { price: 500, dated: 59 })

  expect(candlesOf(bench)).toEqual(before)
})

test('[DET2] candles are the same after a restart, from records and from a checkpoint', () => {
  const bench = openBench()
  for (let minute = 0; minute < 9; minute++) priceAt(bench, minute * 60 + 1, 100 / 3 + minute / 7)
  const kept = candlesOf(bench)

  const read = fromBookRows(toBookRows(bench.book)).candles.get(KEY)
  expect(read && toRows(read)).toEqual(kept)
  bench.restart()
  expect(candlesOf(bench)).toEqual(kept)
})

test('[DET1] a core that is resumed from its image goes on with the candle that is open', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 60, 105)
  priceAt(bench, 90, 107)
  bench.engine = resumeEngine(parseCore(bench.engine.write()))
  priceAt(bench, 120, 90)

  expect(candlesOf(bench).at(-1)).toEqual([MOMENT_AT + MINUTE, 105, 107, 105, 107, 2])
})

test('candles that nobody needs any more are forgotten at the next start', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 60, 105)
  const others = new EngineBench()
  others.now = bench.now
  const records = { checkpoint: undefined, records: bench.records }
  others.engine = createEngine(others.settings, rebuildBook(records, others.settings.positionMode))
  expect(others.book.candles.size).toBe(1)
  others.step({ kind: 'started' })

  expect(others.book.candles.size).toBe(0)
})

test('files fill up what the book does not know, and never change what it does', () => {
  const history: CandleRow[] = Array.from({ length: 8 }, (_, minute) => [
    MOMENT_AT + (minute - 4) * MINUTE,
    1,
    2,
    0.5,
    minute,
    60,
  ])
  const bench = openBench({ history: new Map([[KEY, history]]) })
  // The present minute, and what lies in the future, are not taken.
  expect(
    candlesOf(bench).map(([openAt, , , , close]) => [(openAt - MOMENT_AT) / MINUTE, close]),
  ).toEqual([
    [-4, 0],
    [-3, 1],
    [-2, 2],
  ])

  priceAt(bench, 1, 100)
  expect(candlesOf(bench).at(-1)?.slice(0, 2)).toEqual([MOMENT_AT - MINUTE, 10_000])
})

test('who decides on candles is asked at the first snapshot, and when one closes', () => {
  const bench = openBench({ decides: ['candle'] })
  bench.decide()
  bench.effects = []
  // The candle that was open at the start closes, and is not kept.
  priceAt(bench, 1, 100)
  priceAt(bench, 30, 101)
  expect(asked(bench)).toBe(0)

  priceAt(bench, 60, 102)
  expect(asked(bench)).toBe(1)
  priceAt(bench, 61, 103)
  expect(asked(bench)).toBe(0)
})

test('who decides on snapshots is asked at each, as ever', () => {
  const bench = openBench({ decides: ['snapshot', 'candle'] })
  asked(bench)
  for (const seconds of [1, 2, 60]) priceAt(bench, seconds, 100)

  expect(
    bench.effects.filter(
      (effect): effect is Extract<Effect, { kind: 'decide' }> =>
        effect.kind === 'decide' && effect.strategyId === STRATEGY,
    ),
  ).toHaveLength(3)
})

const fetchedRow = (minute: number, price: number): CandleRow => [
  MOMENT_AT + minute * MINUTE,
  price,
  price + 2,
  price - 2,
  price,
  1,
]

test('candles that the exchange keeps are taken in, before and after those that were seen', () => {
  const bench = openBench({ candles: new Map([[MINUTE, 5]]), decides: ['candle'] })
  priceAt(bench, 1, 100)
  priceAt(bench, 61, 101)
  bench.effects = []
  const rows = [-4, -3, -2, -1, 0, 1].map((minute) => fetchedRow(minute, 100))
  bench.step({ kind: 'candlesFetched', symbol: SYMBOL, intervalMs: MINUTE, rows })

  // The own one stays, and the minute that goes on is none of the closed ones.
  expect(candlesOf(bench)).toEqual([...rows.slice(0, 4), [MOMENT_AT, 100, 100, 100, 100, 1]])
  expect(bench.take('announce').map(({ event, fields }) => [event, fields])).toEqual([
    ['history.fetched', { candles: 4, interval: '1m', symbol: SYMBOL }],
  ])
  // Who decides on candles need not wait for the next close.
  expect(asked(bench)).toBe(0)
  priceAt(bench, 62, 101)
  expect(asked(bench)).toBe(1)
})

test('a minute in which nobody looked gets the candle of the exchange, and one that began before the run its beginning', () => {
  const bench = openBench()
  priceAt(bench, 1, 100)
  priceAt(bench, 241, 100)
  expect(candlesOf(bench).map((row) => row[5])).toEqual([1, 0, 0, 0])
  const rows = [0, 1, 2, 3].map((minute) => fetchedRow(minute, 100 + minute))
  const running = [MOMENT_AT + 4 * MINUTE, 90, 120, 80, 100, 1] as const
  bench.step({ kind: 'candlesFetched', symbol: SYMBOL, intervalMs: MINUTE, rows, running })
  priceAt(bench, 301, 100)

  expect(candlesOf(bench)).toEqual([
    [MOMENT_AT, 100, 100, 100, 100, 1],
    ...rows.slice(1),
    [MOMENT_AT + 4 * MINUTE, 90, 120, 80, 100, 1],
  ])
})

test('candles of another market are not taken, and own ones stay; that is said', () => {
  const bench = openBench()
  for (const minute of [0, 1, 2]) priceAt(bench, minute * 60 + 1, 100)
  const before = candlesOf(bench)
  const rows = [-2, -1, 0, 1].map((minute) => fetchedRow(minute, 200))
  bench.effects = []
  bench.step({ kind: 'candlesFetched', symbol: SYMBOL, intervalMs: MINUTE, rows })

  expect(candlesOf(bench)).toEqual(before)
  const [said, ...more] = bench.take('announce')
  expect(more).toEqual([])
  expect([said?.event, said?.level]).toEqual(['history.differs', 'warn'])
  expect(said?.fields).toMatchObject({ differing: 2, compared: 2, symbol: SYMBOL, interval: '1m' })
})

test.each(['closed', 'running'])(
  'a first start believes no candles that end far from the price that is there: %s',
  (newest) => {
    const bench = openBench()
    priceAt(bench, 1, 100)
    bench.effects = []
    const closed = [-2, -1].map((minute) => fetchedRow(minute, newest === 'closed' ? 200 : 100))
    const running = newest === 'running' ? { running: fetchedRow(0, 200) } : {}
    const series = { symbol: SYMBOL, intervalMs: MINUTE, rows: closed, ...running }
    bench.step({ kind: 'candlesFetched', ...series })
    expect(bench.take('announce').map(({ event }) => event)).toEqual(['history.differs'])
    expect(candlesOf(bench)).toEqual([])

    priceAt(bench, 61, 100)
    expect(candlesOf(bench).every(([, , high]) => high === 100)).toBe(true)
  },
)

test('what is fetched of a series that nobody needs, or brings nothing new, changes nothing', () => {
  const bench = openBench()
  for (const minute of [0, 1]) priceAt(bench, minute * 60 + 1, 100)
  bench.effects = []
  const rows = [fetchedRow(0, 100)]
  bench.step({ kind: 'candlesFetched', symbol: SYMBOL, intervalMs: MINUTE, rows })
  bench.step({ kind: 'candlesFetched', symbol: SYMBOL, intervalMs: 5 * MINUTE, rows })
  bench.step({ kind: 'candlesFetched', symbol: 'XRPUSDT', intervalMs: MINUTE, rows })

  expect(bench.effects).toEqual([])
})
