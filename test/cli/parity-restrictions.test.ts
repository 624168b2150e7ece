import { expect, test } from 'vitest'
import { compareFills, compareWishes } from '../../src/cli/parity/describe-parity.ts'
import {
  type AloneTime,
  findAloneTimes,
  RestrictedTimes,
} from '../../src/cli/parity/restricted-times.ts'
import { type Wish } from '../../src/cli/parity/run-trace.ts'
import { type Fill } from '../../src/domain/fill.ts'
import { type JournalRecord } from '../../src/domain/record.ts'
import { createBook } from '../../src/engine/book/book.ts'

test('the times in which a run was restricted follow from its book and its records', () => {
  const restricted = new RestrictedTimes()
  const book = createBook('one_way_mode')
  const record = (kind: string, at: number, rest: object) =>
    restricted.recorded({ kind, at, reason: '', by: '', ...rest } as unknown as JournalRecord)

  restricted.begin(book, 100)
  record('restricted', 200, { scope: '*', mode: 'reducing', code: 'operator' })
  record('restricted', 300, { scope: '*', mode: 'halted', code: 'operator' })
  record('restricted', 350, { scope: '*', mode: 'halted', code: 'operator', reason: 'another' })
  record('restricted', 400, { scope: 'ETHUSDT', mode: 'halted', code: 'contradiction' })
  record('released', 500, { scope: '*' })
  // Another process: what it was released from meanwhile is in no record of the recording.
  restricted.begin(createBook('one_way_mode'), 600)
  record('restricted', 700, { scope: '*', mode: 'reducing', code: 'dailyLoss' })

  expect(restricted.times).toEqual([
    { scope: '*', mode: 'reducing', code: 'operator', fromAt: 200, toAt: 300 },
    { scope: '*', mode: 'halted', code: 'operator', fromAt: 300, toAt: 500 },
    { scope: 'ETHUSDT', mode: 'halted', code: 'contradiction', fromAt: 400, toAt: 600 },
    {
      scope: '*',
      mode: 'reducing',
      code: 'dailyLoss',
      fromAt: 700,
      toAt: Number.POSITIVE_INFINITY,
    },
  ])
})

test.each([
  ['a limit that both reach a moment apart', [[0, 90_000]], [[800, 90_500]], []],
  [
    'one that the backtest does not reach',
    [[5, Infinity]],
    [],
    [['the recorded run', 5, Infinity]],
  ],
  [
    'one that the recorded run does not reach',
    [],
    [[5, Infinity]],
    [['the backtest', 5, Infinity]],
  ],
  [
    'a release of one alone',
    [[0, 30_000]],
    [[100, Infinity]],
    [['the backtest', 30_000, Infinity]],
  ],
  [
    'a short one of one alone',
    [[0, 1000]],
    [[2000, 3000]],
    [
      ['the recorded run', 0, 1000],
      ['the backtest', 2000, 3000],
    ],
  ],
  [
    'two within one',
    [
      [0, 30_000],
      [60_000, 90_000],
    ],
    [[0, 90_000]],
    [['the backtest', 30_000, 60_000]],
  ],
] as const)('%s: when one was restricted alone', (_, recorded, played, alone) => {
  const toTimes = (times: readonly (readonly [number, number])[]) =>
    times.map(
      ([fromAt, toAt]) => ({ scope: '*', mode: 'halted', code: 'operator', fromAt, toAt }) as const,
    )

  const found = findAloneTimes(toTimes(recorded), toTimes(played))

  expect(found.map(({ where, fromAt, toAt }) => [where, fromAt, toAt])).toEqual(alone)
})

test('a restriction of one of the two alone is the reason of what differs after it and is concerned', () => {
  const grid = { units: 1, scale: 10, decimals: 1 }
  const instruments = new Map([['ETHUSDT', { symbol: 'ETHUSDT', tick: grid, lot: grid }]]) as never
  const fill = {
    symbol: 'ETHUSDT',
    side: 'sell',
    ticks: 50,
    lots: 2,
    scope: 'maker',
    source: 'API',
    filledAt: 500,
  } as unknown as Fill
  const aloneIn = (scope: string, fromAt: number): AloneTime => ({
    scope,
    mode: 'halted',
    code: 'operator',
    fromAt,
    toAt: 900,
    where: 'the recorded run',
  })
  const wish: Wish = {
    at: 500,
    readAt: 490,
    intents: [],
    text: 'a',
    fillsBefore: 0,
    shown: new Map(),
  }
  const why = (...alone: readonly AloneTime[]) =>
    compareWishes('grid', [[wish], []], {
      instruments,
      symbols: ['ETHUSDT'],
      fills: [[], [fill]],
      lastReadAt: [2e3, 2e3],
      alone,
    }).lines.at(-1)
  const fills = (...alone: readonly AloneTime[]) => {
    const strategies = new Map([['grid', { symbols: ['ETHUSDT'] }]])
    const { isNormal, lines } = compareFills([], [fill], { instruments, strategies, alone })
    return [isNormal, lines.at(-1)]
  }
  const because =
    'why: the recorded run alone was restricted before: * halted (operator) from 1970-01-01T00:00:00.400Z to 1970-01-01T00:00:00.900Z'

  expect(why(aloneIn('BTCUSDT', 100), aloneIn('*', 400))).toBe(`  ${because}`)
  expect(why(aloneIn('strategy:grid', 400))).toMatch(
    /alone was restricted before: strategy:grid halted/,
  )
  expect(why(aloneIn('strategy:other', 400), aloneIn('*', 501))).toMatch(
    /an order that rested was filled/,
  )
  expect(fills(aloneIn('*', 400))).toEqual([false, `    ${because}`])
  expect(fills(aloneIn('strategy:grid', 400))[0]).toBe(false)
  expect(fills(aloneIn('BTCUSDT', 400), aloneIn('*', 501))[0]).toBe(true)
})
