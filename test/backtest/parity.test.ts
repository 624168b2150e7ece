import { expect, test } from 'vitest'
import { type ReportedBacktestOptions } from '../../src/backtest/reported-backtest.ts'
import {
  compareFills,
  compareWishes,
  firstOther,
  unmatched,
} from '../../src/backtest/parity/compare-runs.ts'
import { asRecorded, standStill } from '../../src/backtest/parity/recorded-prices.ts'
import { decidesUntil } from '../../src/backtest/parity/recorded-run.ts'
import { stopDecisions } from '../../src/backtest/parity/run-parity.ts'
import { RunTrace, type WishInForce } from '../../src/backtest/parity/run-trace.ts'
import { describeRecording, viewOf } from '../../src/backtest/played-prices.ts'
import { type Fill } from '../../src/domain/fill.ts'
import { type JournalRecord } from '../../src/domain/record.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type QuoteRows } from '../../src/prices/recording.ts'
import { type PriceCoverage } from '../../src/report/run-facts.ts'

test('a price is as old in the backtest as it was when it was recorded', () => {
  const at = Float64Array.from([1000, 1100, 1200])
  const columns = Object.fromEntries(
    ['bid', 'ask', 'bidSize', 'askSize', 'last'].map((name) => [name, at]),
  )
  const rows = { kind: 'quotes', at, ...columns } as unknown as QuoteRows
  const coverage = [describeRecording({ symbol: 'BTCUSDT', source: 'recorded', sha256: '', rows })]

  // Of prices that come from a file nobody knows a newer one until the next row.
  expect(viewOf(coverage).currentAt('BTCUSDT', 1100, 1190)).toBe(1190)
  const recorded = viewOf(asRecorded(coverage, new Map()))
  expect(recorded.currentAt('BTCUSDT', 1100, 1190)).toBe(1100)
  expect(recorded.isListed('BTCUSDT', 1250)).toBe(true)
})

test('the price that stood when the run begins is as old as it was', () => {
  const columns = new Map([
    ['at', Float64Array.of(400, 1500)],
    ['bid', Float64Array.of(5, 6)],
  ] as const)
  const table = { kind: 'quotes', source: 'made', columns, whereOf: String } as const
  const [begun] = standStill([table], { fromAt: 1000, toAt: 2000 })
  const coverage = [
    { symbol: 'BTCUSDT', fromAt: 1000, toAt: 2000 },
  ] as unknown as readonly PriceCoverage[]
  const view = viewOf(asRecorded(coverage, new Map([['BTCUSDT', [table]]])))

  expect([...(begun?.columns.get('at') ?? [])]).toEqual([1000])
  expect(view.currentAt('BTCUSDT', 1000, 1200)).toBe(400)
  expect(view.currentAt('BTCUSDT', 1500, 1600)).toBe(1500)
})

test('a trace has each change of a wish once, and each fill that came after its beginning', () => {
  const trace = new RunTrace({ strategies: new Map() }, { fromAt: 100 })
  const decided = (intents: readonly object[]) =>
    ({
      kind: 'decided',
      strategyId: 'a',
      sequence: 1,
      intents,
      state: null,
      denials: [],
    }) as unknown as EngineEvent
  const fillsRead = (fills: readonly object[]) =>
    ({ kind: 'fillsRead', reading: { fills } }) as unknown as EngineEvent
  const fill = (tradeId: string, filledAt: number) => ({ tradeId, filledAt })

  trace.take(101, decided([{ lots: 1 }]))
  trace.take(102, decided([{ lots: 1 }]))
  trace.take(103, decided([]))
  trace.take(104, fillsRead([fill('old', 99), fill('one', 100)]))
  trace.take(105, fillsRead([fill('one', 100), fill('two', 104)]))

  expect(trace.wishes.get('a')?.map(({ at }) => at)).toEqual([101, 103])
  expect(trace.fills.map(({ tradeId }) => tradeId)).toEqual(['one', 'two'])
})

test('what a backtest wants after the stop is no part of it, and nobody is asked', () => {
  const asked: number[] = []
  const strategy = {
    decide: ({ exchangeTime }: { readonly exchangeTime: number }) => {
      asked.push(exchangeTime)
      return { intents: [{ kind: 'target' }], state: exchangeTime }
    },
  }
  const run = { backtest: { strategies: new Map([['a', { strategy, params: {} }]]) } }
  const [[, quiet] = []] = [
    ...stopDecisions(run as unknown as ReportedBacktestOptions, 200).backtest.strategies,
  ]
  const decide = (exchangeTime: number) =>
    quiet?.strategy.decide({ exchangeTime } as never, { state: 'kept' } as never)
  const trace = new RunTrace({ strategies: new Map() }, { fromAt: 0, quietFrom: 200 })
  const take = (at: number, intents: readonly object[]) => {
    trace.take(at, {
      kind: 'snapshotTaken',
      tickers: { requestTime: at },
    } as unknown as EngineEvent)
    trace.take(at, {
      kind: 'decided',
      strategyId: 'a',
      intents,
      state: null,
    } as unknown as EngineEvent)
  }
  take(199, [{ kind: 'target' }])
  take(200, [])

  expect([decide(199), decide(200)]).toEqual([
    { intents: [{ kind: 'target' }], state: 199 },
    { intents: [], state: 'kept' },
  ])
  expect(asked).toEqual([199])
  expect(trace.wishes.get('a')?.map(({ at }) => at)).toEqual([199])
})

test('the last prices before a stop are decided on, and a fill after it is not', () => {
  const stop = { at: 210, readBeforeAt: 150, readAfterAt: 300 }
  expect(decidesUntil(stop, 50)).toBe(210)
  // They arrive in the backtest after the recorded stop.
  expect(decidesUntil(stop, 80)).toBe(231)
  // The prices that arrived after the stop left before it.
  expect(decidesUntil({ ...stop, readAfterAt: 205 }, 50)).toBe(205)
  expect(decidesUntil({ at: 210, readBeforeAt: undefined, readAfterAt: undefined }, 50)).toBe(210)
})

test('the same fills in another order are the same; another price is not', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const instruments = new Map(
    ['BTCUSDT', 'ETHUSDT'].map((symbol) => [symbol, { symbol, tick: grid, lot: grid }]),
  )
  const frame = { instruments } as never
  const fill = (symbol: string, ticks: number) =>
    ({
      symbol,
      side: 'buy',
      ticks,
      lots: 1,
      scope: 'taker',
      source: 'API',
      filledAt: 0,
    }) as unknown as Fill
  const [btc, eth] = [fill('BTCUSDT', 5), fill('ETHUSDT', 7)]

  expect(compareFills([btc, eth], [eth, btc], frame)).toEqual({
    isSame: true,
    lines: ['fills: 2 recorded, 2 in the backtest, all the same, in another order'],
  })
  expect(compareFills([btc, eth], [fill('ETHUSDT', 8), btc], frame).isSame).toBe(false)
})

test('fills of the same size at other prices, and of orders that rested, differ as is normal; another size does not', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const instruments = new Map([['ETHUSDT', { tick: grid, lot: grid }]])
  const frame = { instruments } as never
  const fill = (ticks: number, lots: number, scope: string, source = 'API') =>
    ({ symbol: 'ETHUSDT', side: 'buy', ticks, lots, scope, source, filledAt: 0 }) as unknown as Fill
  const isNormal = (recorded: readonly Fill[], played: readonly Fill[]) =>
    compareFills(recorded, played, frame).isNormal

  expect(isNormal([fill(5, 2, 'taker')], [fill(6, 1, 'taker'), fill(6, 1, 'taker')])).toBe(true)
  expect(isNormal([fill(5, 2, 'taker'), fill(4, 1, 'maker')], [fill(6, 2, 'taker')])).toBe(true)
  expect(isNormal([fill(5, 2, 'taker')], [fill(6, 3, 'taker')])).toBe(false)
  expect(isNormal([fill(5, 2, 'taker', 'SYS')], [])).toBe(false)
  expect(isNormal([fill(4, 1, 'maker')], [fill(6, 2, 'taker')])).toBe(false)
})

test('a fill of an order by hand is explained by that', () => {
  const fill = {
    symbol: 'X',
    side: 'buy',
    scope: 'taker',
    source: 'API',
    filledAt: 0,
    orderId: '7',
  }
  const why = (byHand: readonly string[]) =>
    compareFills([fill as unknown as Fill], [], { instruments: new Map(), byHand: new Set(byHand) })
      .lines.find((line) => line.includes('why:'))
      ?.trim()

  expect(why(['7'])).toBe(
    'why: by hand: a person gave the order, and in a backtest nobody trades by hand',
  )
  expect(why(['8'])).toMatch(/^why: prices or time of decision/)
})

test('a fill of one of the two alone is the reason of what is wanted after it, and of nothing before it', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const symbols = ['ETHUSDT']
  const instruments = new Map(
    [...symbols, 'BTCUSDT'].map((symbol) => [symbol, { tick: grid, lot: grid }]),
  )
  const fill = (symbol: string, ticks: number, filledAt: number) => ({
    symbol,
    side: 'sell',
    ticks,
    lots: 2,
    scope: 'maker',
    source: 'API',
    filledAt,
  })
  const wish = (text: string, fillsBefore: number, prices: string): WishInForce => ({
    at: 0,
    readAt: 0,
    prices,
    intents: [],
    text,
    fillsBefore,
  })
  const both = fill('ETHUSDT', 50, 500)
  const recorded = [
    fill('BTCUSDT', 9, 100),
    both,
    fill('ETHUSDT', 60, 1000),
  ] as unknown as readonly Fill[]
  const played = [both] as unknown as readonly Fill[]
  const why = (was: WishInForce, is: WishInForce) =>
    compareWishes('grid', [[was], [is]], {
      instruments: instruments as never,
      symbols,
      fills: [recorded, played],
      lastReadAt: [0, 0],
    }).lines.at(-1)

  const target = { ...wish('a', 3, '1'), intents: [{ kind: 'target' }] } as unknown as WishInForce
  // Orders to a target never rest, so the fill is of another strategy.
  expect(why(target, wish('b', 1, '2'))).toBe('  why: prices: 1 recorded, 2 in the backtest')
  expect(why(wish('a', 3, '1'), wish('b', 1, '2'))).toBe(
    '  why: fills: an order that rested was filled in the recorded run alone until then, as is normal: 1970-01-01T00:00:01.000Z ETHUSDT sell 0.2 at 6 maker',
  )
  expect(why(wish('a', 2, '1'), wish('b', 1, '2'))).toBe(
    '  why: prices: 1 recorded, 2 in the backtest',
  )
  expect(why({ ...wish('a', 2, '1'), readAt: 500 }, wish('b', 1, '2'))).toBe(
    '  why: time of decision: on the prices of 1970-01-01T00:00:00.500Z recorded, of 1970-01-01T00:00:00.000Z in the backtest',
  )
  expect(why(wish('a', 2, '1'), wish('b', 1, '1'))).toMatch(
    /^ {2}why: neither prices, time of decision nor fills: /,
  )
})

test('a change that one of the two lacks is explained by an end before only where that run had ended', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const symbols = ['ETHUSDT']
  const instruments = new Map([['ETHUSDT', { symbol: 'ETHUSDT', tick: grid, lot: grid }]])
  const fill = {
    symbol: 'ETHUSDT',
    side: 'sell',
    ticks: 50,
    lots: 2,
    scope: 'maker',
    source: 'API',
  }
  const wish: WishInForce = {
    at: 900,
    readAt: 890,
    intents: [],
    text: 'a',
    prices: '',
    fillsBefore: 0,
  }
  const why = (filledAt: number, endOfRecorded: number) =>
    compareWishes('grid', [[], [wish]], {
      instruments: instruments as never,
      symbols,
      lastReadAt: [endOfRecorded, 2e3],
      fills: [
        [
          {
            ...fill,
            filledAt,
          } as unknown as Fill,
        ],
        [],
      ],
    }).lines.at(-1)

  expect(why(500, 889)).toBe('  why: time of decision: the recorded run had ended before')
  expect(why(500, 2000)).toMatch(
    /^ {2}why: fills: an order that rested was filled in the recorded run alone until/,
  )
  expect(why(901, 2000)).toBe(
    '  why: time of decision: the recorded run wanted nothing else to its end',
  )
})

test('one change of what a strategy wants is said in the singular', () => {
  const wish: WishInForce = {
    at: 900,
    readAt: 890,
    intents: [],
    text: 'a',
    prices: '',
    fillsBefore: 0,
  }
  const head = (wishes: readonly WishInForce[]) =>
    compareWishes('grid', [wishes, wishes], {
      instruments: new Map(),
      symbols: [],
      lastReadAt: [0, 0],
      fills: [[], []],
    }).lines[0]

  expect(head([wish])).toBe(
    'grid: 1 change of what it wants recorded, 1 in the backtest, all the same',
  )
  expect(head([])).toContain('grid: 0 changes of what it wants recorded')
  expect(head([wish, wish])).toContain('grid: 2 changes of what it wants recorded')
})

test('fills that one of the two has more of are found wherever they stand', () => {
  expect(unmatched(['b', 'a', 'a', 'c'], ['a', 'b', 'd'], (text) => text)).toEqual(['a', 'c'])
})

test.each([
  [['a', 'b'], ['a', 'b'], undefined],
  [['a', 'b'], ['a', 'c'], 1],
  [['a', 'b'], ['a'], 1],
  [[], ['a'], 0],
])('%j and %j part at %s', (one, other, index) => {
  expect(firstOther(one, other, (text) => text)).toBe(index)
})

test.each([
  ['before its first quote', 70, [70, 80, 90, 100, 110, 120, 200], [5, 5, 5, 5, 6, 7, 7]],
  ['between two quotes', 115, [115, 100, 110, 120, 200], [6, 5, 6, 7, 7]],
  ['at a quote', 110, [110, 100, 110, 120, 200], [6, 5, 6, 7, 7]],
])(
  'a run that begins %s has the price that stood then, and the last one to its end',
  (_, fromAt, at, bid) => {
    const columns = new Map([
      ['at', Float64Array.of(100, 110, 120)],
      ['bid', Float64Array.of(5, 6, 7)],
    ] as const)
    const table = { kind: 'quotes', source: 'made', columns, whereOf: String } as const

    const tables = standStill([table], { fromAt, toAt: 200 })

    expect(tables.flatMap((one) => [...(one.columns.get('at') ?? [])])).toEqual(at)
    expect(tables.flatMap((one) => [...(one.columns.get('bid') ?? [])])).toEqual(bid)
  },
)

test('restrictions and releases are traced, those of the beginning first', () => {
  const trace = new RunTrace(
    { strategies: new Map() },
    { fromAt: 0, restrictions: [{ scope: 'ETHUSDT', mode: 'halted', code: 'operator' }] as never },
  )
  const record = (kind: string, rest: object) =>
    trace.recorded({ kind, at: 1, reason: '', by: '', ...rest } as unknown as JournalRecord)
  record('restricted', { scope: '*', mode: 'reducing', code: 'dailyLoss' })
  record('decision', {})
  record('released', { scope: '*' })
  record('released', { scope: 'ETHUSDT', code: 'operator' })

  expect(trace.restricted).toEqual([
    'ETHUSDT halted (operator)',
    '* reducing (dailyLoss)',
    '* released',
    'ETHUSDT released (operator)',
  ])
})
