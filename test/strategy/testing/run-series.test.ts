import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type Decision,
  defineStrategy,
  sma,
  type SnapshotView,
  z,
} from '../../../src/strategy/contract.ts'
import { type Strategy } from '../../../src/strategy/define-strategy.ts'
import { checkPurity } from '../../../src/strategy/testing/check-purity.ts'
import { matchGolden, runSeries } from '../../../src/strategy/testing/testing.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import grid from '../../../strategies/grid.ts'
import trend from '../../../strategies/trend.ts'

const directory = mkdtempSync(join(tmpdir(), 'intentd-golden-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const base = { params: z.strictObject({}), initialState: () => 0 }

/** Holds one lot while the close is above its average, and counts its decisions. */
const follower = defineStrategy({
  ...base,
  name: 'follower',
  needs: { indicators: { average: sma({ interval: '2m', period: 2 }) } },
  decides: 'candle',
  decide(snapshot, { state }) {
    const intents = snapshot.instruments.flatMap((market) => {
      const { average } = market.indicators
      return average === undefined ? [] : [market.target(market.last > average ? 1 : 0)]
    })
    return { intents, state: state + 1 }
  },
})

test('a strategy is asked at the first price and at each closed candle, and sees what it holds', () => {
  const decisions = runSeries({
    strategy: follower,
    params: {},
    prices: [10, 11, 12, 13, 20, 21, 1, 1],
  })

  expect(
    decisions.map(({ at, intents, netLots, state }) => [
      (at / 60_000) % 10,
      intents.length,
      netLots,
      state,
    ]),
  ).toEqual([
    [0, 0, 0, 1],
    [2, 0, 0, 2],
    [4, 1, 0, 3],
    [6, 1, 1, 4],
  ])
  expect(decisions.at(-1)?.intents[0]).toMatchObject({ kind: 'target', lots: 0 })
})

test('a candle is four prices, and makes the candle that it was', () => {
  const seen: unknown[] = []
  const watcher = defineStrategy({
    ...base,
    name: 'watcher',
    needs: { candles: { '1m': 3 } },
    decides: 'candle' as const,
    decide(snapshot, { state }) {
      seen.push(snapshot.instruments[0]?.candles('1m').at(-1))
      return {
        intents: [],
        state,
      }
    },
  })
  const candles = [
    { open: 10, high: 14, low: 9, close: 12 },
    { open: 12, high: 13, low: 8, close: 9 },
  ]
  runSeries({ strategy: watcher, params: {}, candles })

  expect(seen).toEqual([
    undefined,
    { openAt: 1_704_067_200_000, open: 10, high: 14, low: 9, close: 12, ticks: 4 },
  ])
})

test('a kept run is held against the next one', () => {
  const file = join(directory, 'follower.golden')
  const decisions = runSeries({
    strategy: follower,
    params: {},
    prices: [10, 11, 12, 13, 20, 21, 1, 1],
  })
  matchGolden(file, decisions)
  expect(() => matchGolden(file, decisions)).not.toThrow()

  writeFileSync(file, readFileSync(file, 'utf8').replace('"lots":1', '"lots":2'))
  expect(() => matchGolden(file, decisions)).toThrow(/line 1 of .*kept.*"lots":2.*found.*"lots":1/s)
})

const CLEAN = { problems: [], failing: [], notes: [] }

describe('a strategy is a function of what it is shown', () => {
  const check = (decide: (snapshot: SnapshotView) => Decision<number>) =>
    checkPurity(defineStrategy({ ...base, name: 'checked', decide }), {}, [madeInstrument()])
      .problems

  test('those that ship are', () => {
    const size = '0.01'
    const gridParams = grid.params.parse({ spacingBps: 5, levels: 4, size, recentreAfterLevels: 4 })
    expect(checkPurity(grid, gridParams, [madeInstrument()])).toEqual(CLEAN)
    const trendParams = trend.params.parse({
      fastSeconds: 4,
      slowSeconds: 15,
      size,
      thresholdBps: 3,
    })
    expect(checkPurity(trend, trendParams, [madeInstrument()])).toEqual(CLEAN)
    expect(checkPurity(follower, {}, [madeInstrument()])).toEqual(CLEAN)
  })

  test('what it always throws is an error, and what of it makes no sense is noted', () => {
    const decided = (decide: (snapshot: SnapshotView) => Decision<number>) =>
      checkPurity(defineStrategy({ ...base, name: 'noted', decide }), {}, [madeInstrument()])
    const threw = decided(() => {
      throw new Error('no such thing')
    })
    expect(threw).toEqual({
      problems: [],
      failing: [expect.stringMatching(/fails: STRATEGY_THREW[^]*no such thing/)],
      notes: [],
    })
    const nonsense = decided((snapshot) => ({
      intents: snapshot.instruments.map((market) => market.target(Number.NaN)),
      state: 0,
    }))
    expect(nonsense.problems).toEqual([])
    expect(nonsense.notes).toEqual([
      expect.stringMatching(/^on made-up prices 300 of its intents are denied, /),
    ])
  })

  test('one of two instruments is shown both, at prices of their own', () => {
    const prices = [10, 11, 12]
    const seen: unknown[] = []
    const pair = defineStrategy({
      ...base,
      name: 'pair',
      decide(snapshot, { state }) {
        seen.push(snapshot.instruments.map(({ symbol, last, netLots }) => [symbol, last, netLots]))
        return {
          intents: snapshot.instruments.map((market) => market.target(market.last > 11 ? 2 : 1)),
          state,
        }
      },
    })
    const other = { instrument: { symbol: 'ETHUSDT' }, prices: [20, 30, 40] }
    runSeries({ strategy: pair, params: {}, prices, others: [other] })
    expect(seen).toEqual([
      [['BTCUSDT', 10, 0], ['ETHUSDT', 20, 0]], // prettier-ignore
      [['BTCUSDT', 11, 1], ['ETHUSDT', 30, 2]], // prettier-ignore
      [['BTCUSDT', 12, 1], ['ETHUSDT', 40, 2]], // prettier-ignore
    ])
  })

  test.each([[[10, Number.NaN]], [[10, 0]], [[10, Number.POSITIVE_INFINITY]]])(
    'prices %j are refused',
    (prices) => {
      expect(() => runSeries({ strategy: follower, params: {}, prices })).toThrow(/price 2 of 2 is/)
    },
  )

  test('one that remembers outside of its state is found', () => {
    let calls = 0
    const found = check((snapshot) => {
      calls += 1
      return { intents: snapshot.instruments.map((market) => market.target(calls)), state: 0 }
    })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/asked again on the same prices \(decision 1/)
  })

  test.each([
    ['Date.now()', () => Date.now()],
    ['new Date()', () => new Date().getFullYear()],
    ['Math.random()', () => Math.random()],
    ['performance.now()', () => performance.now()],
  ])('one that asks %s is told where, also when it says the same', (call, ask) => {
    const asked = new RegExp(
      `run-series\\.test\\.ts:\\d+ asks ${call.replace(/[()]/g, '\\$&')}, which says`,
    )
    const params = { seen: ask() }

    const [same, other] = [0, 1].map((times) => {
      const decide: Strategy['decide'] = () => ({ intents: [], state: Number(ask()) * times })
      const strategy = defineStrategy({
        ...base,
        name: 'asking',
        initialState: () => 0,
        decide: decide as never,
      })
      return checkPurity(strategy, params, [madeInstrument()])
    })

    expect(same).toEqual({ ...CLEAN, notes: [expect.stringMatching(asked)] })
    // A clock may say the same twice.
    if (call === 'Math.random()') expect(other?.problems).toEqual([expect.stringMatching(asked)])
  })

  test('the clock is asked for a date that a strategy names, and by nobody else, as before', () => {
    const seen: unknown[] = []
    const before = Date
    const notes = checkPurity(
      defineStrategy({
        ...base,
        name: 'dating',
        initialState: () => 0,
        decide: (snapshot) => {
          const date = new Date(snapshot.exchangeTime)
          seen.push(date instanceof Date, date.constructor === before, Date.UTC(2024, 0, 1))
          return {
            intents: [],
            state: 0,
          }
        },
      }),
      {},
      [madeInstrument()],
    )
    expect(notes).toEqual(CLEAN)
    expect(seen.slice(0, 3)).toEqual([true, true, 1_704_067_200_000])
    expect(Date).toBe(before)
  })

  test('one that leaves something in a global is found', () => {
    const found = check(() => {
      Reflect.set(globalThis, 'leftBehind', {})
      return { intents: [], state: 0 }
    })
    Reflect.deleteProperty(globalThis, 'leftBehind')
    expect(found).toEqual([expect.stringContaining('the global leftBehind')])
  })
})

test('a feed is shown from its reading on', () => {
  const strategy = defineStrategy({
    name: 'crowd',
    params: base.params,
    initialState: () => ({ data: 0 as unknown, ageMs: 0 }),
    decide: (snapshot, { state }) => ({
      intents: [],
      state: { ...state, ...snapshot.feed('ratio') },
    }),
  })
  const startAt = Date.UTC(2025, 5, 1)
  const feeds = {
    ratio: [0.5, 2].map((data, index) => ({ data, readAt: startAt + (2 * index + 1) * 60_000 })),
  }

  const decisions = runSeries({ strategy, params: {}, prices: [10, 11, 12, 13], startAt, feeds })

  expect(decisions.map(({ state }) => state)).toEqual([
    { data: 0, ageMs: 0 },
    { data: 0.5, ageMs: 0 },
    { data: 0.5, ageMs: 60_000 },
    { data: 2, ageMs: 0 },
  ])
})

describe('mistakes in what a test gives', () => {
  const strategy = defineStrategy({
    name: 'plain',
    params: z.strictObject({ size: z.number() }),
    initialState: () => 0,
    decide: () => ({
      intents: [],
      state: 0,
    }),
  })

  test('a misspelt column is named, with the one that was meant', () => {
    const columns = { fundingRte: 0.1 } as Record<string, number>
    expect(() => runSeries({ strategy, params: { size: 1 }, prices: [1, 2], columns })).toThrow(
      'columns: no column fundingRte; did you mean fundingRate?',
    )
  })

  test('params are refused in the words of the schema, with their path', () => {
    expect(() => runSeries({ strategy, params: { size: 'x' }, prices: [1, 2] })).toThrow(
      /^params of plain: size: /,
    )
  })
})
