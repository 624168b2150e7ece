import { describe, expect, test } from 'vitest'
import { type Intent } from '../../../src/domain/intent.ts'
import { strategyScope } from '../../../src/domain/trading-mode.ts'
import { PLACES_MAX } from '../../../src/engine/strategies/take-decision.ts'
import { EngineBench, refused, STRATEGY, SYMBOL } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const QUOTE: Intent = { kind: 'quote', symbol: SYMBOL, levels: [BID] }
const CANCEL: Intent = { kind: 'cancelAll', symbol: SYMBOL }
const PLACE: Intent = { kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 5 }
const QUOTED = `${STRATEGY}|${SYMBOL}`

describe('of several intents for one instrument', () => {
  test('a ladder after a cancel-all stands, also when it is the one that stood before', () => {
    const bench = new EngineBench().start()
    bench.decide(QUOTE)
    bench.decide(CANCEL, QUOTE)

    expect(bench.book.quotes.get(QUOTED)).toEqual([BID])
  })

  test('a cancel-all takes back what stands before it', () => {
    const bench = new EngineBench().start()
    bench.decide(QUOTE, PLACE, CANCEL)

    expect([bench.book.quotes.size, bench.book.places.size]).toEqual([0, 0])
  })

  test('the last target counts', () => {
    const bench = new EngineBench().start()
    bench.decide(
      { kind: 'target', symbol: SYMBOL, lots: 3 },
      { kind: 'target', symbol: SYMBOL, lots: 4 },
    )

    expect(bench.recordsOf('decision').at(-1)?.targets).toEqual([{ symbol: SYMBOL, lots: 4 }])
  })
})

describe('of place intents that wait', () => {
  test('a strategy has so many at most, whatever others have; one that expired makes room', () => {
    const bench = new EngineBench().start()
    const placeSome = (first: number, count: number): void => {
      const keys = Array.from({ length: count }, (_, index) => `key ${first + index}`)
      bench.decide(...keys.map((key): Intent => ({ ...PLACE, key, ttlMs: 1000 })))
    }
    for (let first = 0; first < PLACES_MAX - 1; first += 333) placeSome(first, 333)
    placeSome(PLACES_MAX - 1, 3)

    expect(bench.book.places.size).toBe(PLACES_MAX)
    expect(bench.engine.denied.get('PLACES_TOO_MANY')).toBe(2)
    const denied = bench.recordsOf('denial').filter(({ code }) => code === 'PLACES_TOO_MANY')
    expect(denied.map(({ key }) => key)).toEqual([`key ${PLACES_MAX}`, `key ${PLACES_MAX + 1}`])

    bench.pass(1100)
    placeSome(2 * PLACES_MAX, 1)
    expect([bench.book.places.size, bench.engine.denied.get('PLACES_TOO_MANY')]).toEqual([1, 2])
  })
})

describe('[STR1] a strategy that failed ten times in a row', () => {
  test('wants nothing any more: its ladder, its orders and what waits of it are withdrawn', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...PLACE, ticks: 99_980, force: 'gtc' }, QUOTE)
    bench.accept(bench.grantBatch())
    bench.decide({ ...PLACE, key: 'b' })

    fail(bench, 10)

    expect([bench.book.quotes.size, bench.book.places.size, bench.book.withdrawn.size]).toEqual([
      0, 0, 2,
    ])
    expect(bench.take('askGrant').at(-1)).toMatchObject({ endpoint: 'cancelAllOrders' })
  })

  test('looks before its target of before is traded, once it is released', () => {
    const bench = new EngineBench().start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    fail(bench, 10)
    bench.pass(3000)

    release(bench)
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    expect(bench.take('sendBatch')).toEqual([])

    bench.price()
    bench.decide()
    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })

  test('has ten more failures once it is released', () => {
    const bench = new EngineBench().start()
    fail(bench, 10)
    release(bench)

    fail(bench, 9)
    expect(bench.halts.size).toBe(0)
    fail(bench, 1)
    expect(bench.halts.size).toBe(1)
  })
})

function fail(bench: EngineBench, times: number): void {
  for (let time = 0; time < times; time++) {
    bench.step({ kind: 'decisionFailed', strategyId: STRATEGY, reason: 'it threw' })
  }
}

function release(bench: EngineBench): void {
  const scope = strategyScope(STRATEGY)
  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope, reason: 'mended', by: 'anna' },
  })
}

describe('a ladder that was refused', () => {
  test('is asked for again on new prices, later and later, and never given up', () => {
    const bench = new EngineBench().start()
    bench.decide(QUOTE)
    const sentAt: number[] = []
    for (const endAt = bench.now + 150_000; bench.now < endAt;) {
      bench.pass(50)
      bench.decide(QUOTE)
      if (bench.take('askGrant').length === 0) continue
      const batch = bench.grantBatch()
      sentAt.push(bench.now)
      bench.answer(batch.batchId, refused('45111', 'definite'))
    }

    const waits = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0))
    expect(waits.length).toBeGreaterThan(8)
    expect(waits).toEqual(waits.toSorted((left, right) => left - right))
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_100)
  })
})

describe('tickers', () => {
  test('[MKT1] that were overtaken by later ones are no news', () => {
    const bench = new EngineBench().start()
    bench.price()
    bench.now -= 500
    bench.effects = []
    bench.price(10_000, bench.now)

    expect(bench.effects).toEqual([])
  })

  test('[MKT2] that are heard twice are decided on once', () => {
    const bench = new EngineBench().start()
    const heard = bench.price()
    bench.effects = []
    bench.step(heard)

    expect(bench.effects).toEqual([])
  })
})

describe('a grant', () => {
  test('that nobody waits for any more is given back, and nothing leaves', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.grantBatch()
    bench.effects = []
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })

    expect(bench.effects).toEqual([{ kind: 'returnGrant', endpoint: 'batchPlaceOrder' }])
  })
})
