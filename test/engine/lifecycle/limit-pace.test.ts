import { expect, test } from 'vitest'
import { type PlaceIntent } from '../../../src/domain/intent.ts'
import { strategyScope } from '../../../src/domain/trading-mode.ts'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { EngineBench, refused, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const SETTINGS = new EngineBench().settings
const SCOPE = strategyScope(STRATEGY)

function limitedAccount(limits: Partial<EngineSettings['limits']>): EngineBench {
  return new EngineBench({ limits: { ...SETTINGS.limits, ...limits } }).start()
}

function limitedStrategy(change: {
  readonly identicalPerMinute?: number
  readonly rejectionsPerMinute?: number
}): EngineBench {
  const strategies = [...SETTINGS.strategies].map(([id, strategy]) => {
    const limits = [...strategy.limits].map(
      ([symbol, limit]) => [symbol, { ...limit, ...change }] as const,
    )
    return [id, { ...strategy, limits: new Map(limits) }] as const
  })
  return new EngineBench({ strategies: new Map(strategies) }).start()
}

function place(key: string, change: Partial<PlaceIntent> = {}): PlaceIntent {
  return {
    kind: 'place',
    symbol: SYMBOL,
    key,
    action: 'openLong',
    lots: 2,
    ticks: 99_900,
    ...change,
  }
}

function denied(bench: EngineBench, code: 'IDENTICAL_PACE'): number {
  return bench.engine.denied.get(code) ?? 0
}

function codesOf(bench: EngineBench): readonly string[] {
  return bench.engine.restrictions.map(({ code }) => code)
}

test.each([
  ['account', limitedAccount],
  ['strategy', limitedStrategy],
])('[RSK1] the same order under new keys, limited for the %s', (_, limited) => {
  const bench = limited({ identicalPerMinute: 2 })
  bench.decide(place('a'), place('b'), place('c'), place('other', { lots: 3 }))

  expect([...bench.book.places.values()].map(({ key }) => key)).toEqual(['a', 'b', 'other'])
  expect(bench.recordsOf('denial')).toMatchObject([{ code: 'IDENTICAL_PACE', key: 'c' }])

  bench.pass(61_000)
  bench.decide(place('d'))
  expect(denied(bench, 'IDENTICAL_PACE')).toBe(1)
  expect([...bench.book.places.values()].map(({ key }) => key)).toContain('d')
})

test('[RSK1] what reduces risk may be repeated', () => {
  const bench = limitedAccount({ identicalPerMinute: 1 })
  bench.decide(
    ...['a', 'b', 'c'].map((key) => place(key, { action: 'closeLong', lots: 1, ticks: 100_100 })),
  )

  expect(denied(bench, 'IDENTICAL_PACE')).toBe(0)
})

test('[RSK2] a strategy whose orders are rejected with one code is halted, and counted anew after a release', () => {
  const bench = limitedStrategy({ rejectionsPerMinute: 2 })
  const reject = (key: string, code: string): void => {
    bench.decide(place(key))
    bench.answer(bench.grantBatch().batchId, refused(code, 'definite'))
  }
  reject('a', '40762')
  reject('b', '45110')
  expect(codesOf(bench)).toEqual([])

  reject('c', '40762')
  expect(bench.engine.restrictions).toMatchObject([
    { scope: SCOPE, mode: 'halted', code: 'rejections' },
  ])
  expect(bench.take('announce').filter(({ event }) => event === 'limits.reached')).toHaveLength(1)

  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope: SCOPE, reason: 'looked', by: 'anna' },
  })
  bench.price()
  reject('d', '40762')
  expect(codesOf(bench)).toEqual([])
})

test('[RSK2] the account only reduces while answers are 429', () => {
  const bench = limitedAccount({ rateLimitedPerMinute: 2 })
  const fail = (status: number): unknown =>
    bench.step({ kind: 'readFailed', what: 'fills', reason: '', status })
  fail(429)
  fail(500)
  expect(codesOf(bench)).toEqual([])

  bench.pass(1000)
  fail(429)
  expect(bench.engine.restrictions).toMatchObject([
    { scope: '*', mode: 'reducing', code: 'rateLimited' },
  ])
  bench.decide(place('a', { ttlMs: 120_000 }))
  expect(bench.take('askGrant')).toEqual([])

  bench.pass(60_000)
  expect(codesOf(bench)).toEqual([])
  expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'batchPlaceOrder' }])
  const logged = bench.take('announce').filter(({ event }) => event.startsWith('limits.'))
  expect(logged.map(({ event }) => event)).toEqual(['limits.reached', 'limits.ended'])
})

test('[RSK2] the account only reduces while more orders are unknown than allowed', () => {
  const bench = limitedAccount({ unknownOrdersMax: 1 })
  bench.quote({ side: 'buy', ticks: 99_900, lots: 2 }, { side: 'buy', ticks: 99_800, lots: 3 })
  bench.answer(bench.grantBatch().batchId, TIMED_OUT)

  expect(bench.states()).toEqual(['unknown', 'unknown'])
  expect(bench.engine.restrictions).toMatchObject([
    { scope: '*', mode: 'reducing', code: 'unknownOrders' },
  ])

  bench.restart().start()
  for (let second = 0; second < 120 && codesOf(bench).length > 0; second++) {
    for (const { cancelId } of bench.take('sendCancelAll'))
      bench.answerCancel(cancelId, refused('22001', 'definite'))
    bench.pass(1000)
    if (bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')) {
      bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
    }
  }
  expect(bench.states()).not.toContain('unknown')
  expect(codesOf(bench)).toEqual([])
})

test('[BND1] nothing is counted where nothing is limited, and no more than the limit where it is', () => {
  const many = Array.from({ length: 20 }, (_, index) =>
    place(`${index}`, { lots: 1 + (index % 2) }),
  )
  const countedIn = (bench: EngineBench): number[] =>
    [...parseCore(bench.engine.write()).lastMinute.values()].map((times) => times.length)
  const free = new EngineBench().start()
  free.decide(...many)
  expect(countedIn(free)).toEqual([])

  const limited = limitedAccount({ identicalPerMinute: 3 })
  limited.decide(...many)
  expect(countedIn(limited)).toEqual([3, 3])
  limited.pass(61_000)
  limited.decide(place('later', { lots: 5 }))
  expect(countedIn(limited)).toEqual([1])
})
