import { expect, expectTypeOf, test } from 'vitest'
import { appendCandle, candleKey, createCandleSeries } from '../../src/domain/candles.ts'
import { type Bands, bollinger, defineStrategy, ema, sma, z } from '../../src/strategy/contract.ts'
import { resolveNeeds } from '../../src/strategy/needs.ts'
import { StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { madeInstrument, madeSnapshot } from '../support/market-moment.ts'

const clock = { now: () => 0, monotonic: () => 0 }

/** Says what it is shown. */
const watcher = defineStrategy({
  name: 'watcher',
  params: z.strictObject({ period: z.int() }),
  needs: ({ period }) => ({
    candles: { '1m': 30 },
    indicators: {
      average: sma({ interval: '1m', period }),
      bands: bollinger({ interval: '5m', period: 2 }),
    },
  }),
  decides: 'candle',
  initialState: () => ({ seen: [] as (number | null)[] }),
  decide(snapshot) {
    const [market] = snapshot.instruments
    if (!market) return { intents: [], state: { seen: [] } }
    expectTypeOf(market.indicators.average).toEqualTypeOf<number | undefined>()
    expectTypeOf(market.indicators.bands).toEqualTypeOf<Bands | undefined>()
    const candles = market.candles('1m')
    const seen = [
      candles.length,
      candles.at(-1)?.close,
      candles.at(0)?.openAt,
      market.indicators.average,
    ]
    return { intents: [], state: { seen: seen.map((value) => value ?? null) } }
  },
})

function decideOn(strategy: typeof watcher, closes: readonly number[]) {
  const series = createCandleSeries(60_000, 30)
  closes.forEach((close, index) =>
    appendCandle(series, [index * 60_000, close, close, close, close, 1]),
  )
  const runner = new StrategyRunner({
    strategyId: 'w',
    strategy,
    params: { period: 3 },
    instruments: [madeInstrument()],
    clock,
  })
  const candles = new Map([[candleKey('BTCUSDT', 60_000), series]])
  return runner.decide({ ...madeSnapshot([{ bid: 1, ask: 2 }]), candles })
}

test('a strategy sees its candles, the newest last, and its indicators once they are warm', () => {
  expect(decideOn(watcher, [10, 11])).toMatchObject({ state: { seen: [2, 11, 0, null] } })
  expect(decideOn(watcher, [10, 11, 15])).toMatchObject({ state: { seen: [3, 15, 0, 12] } })
})

test('candles that were not declared are a mistake, not an empty list', () => {
  const curious = defineStrategy({
    name: 'curious',
    params: z.strictObject({ period: z.int() }),
    initialState: () => 0,
    needs: { candles: { '1m': 5 } },
    decide: (snapshot) => ({
      intents: [],
      state: snapshot.instruments[0]?.candles('4h').length ?? 0,
    }),
  })
  expect(decideOn(curious, [10])).toMatchObject({ kind: 'failed', code: 'STRATEGY_NEEDS' })
})

test('an indicator that was not declared is a mistake that names the one that was meant', () => {
  const hasty = defineStrategy({
    name: 'hasty',
    params: z.strictObject({ period: z.int() }),
    initialState: () => 0,
    needs: {
      candles: { '1m': 5 },
      indicators: {
        average: sma({
          interval: '1m',
          period: 3,
        }),
      },
    },
    decide(snapshot) {
      const indicators = snapshot.instruments[0]?.indicators as unknown as Readonly<
        Record<string, number>
      >
      return {
        intents: [],
        state: indicators?.['avrage'] ?? 0,
      }
    },
  })

  const decision = decideOn(hasty, [10, 11, 15])

  expect(decision).toMatchObject({ kind: 'failed', code: 'STRATEGY_NEEDS' })
  expect(JSON.stringify(decision)).toContain('did you mean average?')
})

test('the indicators of an instrument can be listed, copied and compared', () => {
  let seen: unknown
  const lister = defineStrategy({
    name: 'lister',
    params: z.strictObject({ period: z.int() }),
    initialState: () => 0,
    needs: {
      candles: { '1m': 5 },
      indicators: {
        average: sma({
          interval: '1m',
          period: 3,
        }),
      },
    },
    decide(snapshot) {
      seen = JSON.parse(JSON.stringify(snapshot.instruments[0]?.indicators))
      expect(snapshot.instruments[0]?.indicators).toEqual({ average: 12 })
      return {
        intents: [],
        state: Object.keys(snapshot.instruments[0]?.indicators ?? {}).length,
      }
    },
  })

  expect(decideOn(lister, [10, 11, 15])).toMatchObject({ state: 1 })
  expect(seen).toEqual({ average: 12 })
})

test('what several parts need of one interval is kept once, as long as the longest', () => {
  const { candles, decides } = resolveNeeds(watcher, { period: 50 })
  expect([...candles]).toEqual([
    [60_000, 50],
    [300_000, 2],
  ])
  expect(decides).toEqual(['candle'])
})

test.each([
  ['an interval that does not divide a day', { needs: { candles: { '7m': 3 } } }],
  ['no number of candles', { needs: { candles: { '1m': 0 } } }],
  ['a decision on candles without any', { decides: 'candle' as const }],
  [
    'an indicator that cannot be',
    { needs: () => ({ indicators: { odd: ema({ interval: '1m', period: 0 }) } }) },
  ],
  ['a misspelt part', { needs: Object.fromEntries([['indicator', {}]]) }],
  ['another time to decide', { decides: 'hour' as 'candle' }],
])('%s is refused', (_, wrong) => {
  const strategy = defineStrategy({
    name: 'wrong',
    params: z.strictObject({}),
    initialState: () => 0,
    decide: () => ({
      intents: [],
      state: 0,
    }),
    ...wrong,
  })
  expect(() => resolveNeeds(strategy, {})).toThrow('STRATEGY_NEEDS')
})
