import { describe, expect, test } from 'vitest'
import { type Intent } from '../../../src/domain/intent.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PLACE: Intent = {
  kind: 'place',
  symbol: SYMBOL,
  key: 'now',
  action: 'openLong',
  lots: 5,
  ttlMs: 6e4,
}

describe('our clock is set back while nothing runs', () => {
  test('[ORD7] what waited to be placed is dropped: nobody knows how long it has waited', () => {
    const bench = new EngineBench().start()
    bench.decide(PLACE)
    expect([...bench.book.places.keys()]).toEqual([`${STRATEGY}|now`])

    bench.now -= HOUR_MS
    bench.restart().start()

    expect([...bench.book.places]).toEqual([])
    expect(bench.records.findLast(({ kind }) => kind === 'expire')).toMatchObject({
      places: [{ strategyId: STRATEGY, key: 'now' }],
      reason: 'our clock was set back since it was decided',
    })
    bench.pass(5000)
    expect(bench.take('sendBatch')).toEqual([])
  })

  test('by less than a second, or set on, it waits as before', () => {
    for (const ms of [-500, 20_000]) {
      const bench = new EngineBench().start()
      bench.decide(PLACE)

      bench.now += ms
      bench.restart().start()

      expect([...bench.book.places.keys()]).toEqual([`${STRATEGY}|now`])
    }
  })

  test('[ORD4] a repair that was dated ahead is resolved within the usual time', () => {
    const bench = new EngineBench().start()
    bench.records.push({
      kind: 'repaired',
      at: bench.now + 365 * DAY_MS,
      reason: 'damaged',
      strategies: [STRATEGY],
      symbols: [SYMBOL],
    })
    bench.restart().start()

    bench.pass(7000)

    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })
})

describe("the exchange's clock is a day ahead for a while", () => {
  test('[ORD5] fills of the time after it are still to be taken', () => {
    const bench = new EngineBench().start()
    const begin = bench.now
    for (let second = 0; second < 120; second++) {
      bench.now += 1000
      bench.step({ kind: 'clockSynchronised', offsetMs: DAY_MS })
      bench.step({ kind: 'timePassed' })
      bench.step({ kind: 'pollDue', what: 'fills' })
      for (const { sinceAt } of bench.take('readFills')) {
        const reading = {
          fills: [],
          sinceAt,
          requestedAt: bench.now,
          exchangeTime: bench.now + DAY_MS,
        }
        bench.step({ kind: 'fillsRead', reading })
      }
    }

    expect(bench.book.fillsThroughAt).toBeGreaterThan(begin + DAY_MS - HOUR_MS)
    expect(bench.book.tradesSinceAt).toBeLessThanOrEqual(bench.now)

    // The clock is right again, and nothing can be read for ten minutes: all of them are asked for.
    for (const isAnotherRun of [false, true]) {
      if (isAnotherRun) bench.restart()
      bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
      bench.now += 600_000
      bench.take('readFills')
      bench.step(isAnotherRun ? { kind: 'started' } : { kind: 'pollDue', what: 'fills' })
      expect(bench.now - (bench.take('readFills')[0]?.sinceAt ?? Number.NaN)).toBeGreaterThan(
        600_000,
      )
      expect(bench.book.tradesSinceAt).toBeLessThanOrEqual(bench.now - 600_000)
    }
  })
})
