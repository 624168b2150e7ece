import { describe, expect, test } from 'vitest'
import { type PlaceIntent } from '../../../src/domain/intent.ts'
import { accepted, EngineBench, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const DAY_MS = 86_400_000
const PLACE: PlaceIntent = { kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 10 }
const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const

/** A core whose order of the key was filled so long ago, with a prune every hour since. */
function filledAgo(ms: number): EngineBench {
  const bench = new EngineBench().start()
  bench.decide(PLACE)
  bench.accept(bench.grantBatch())
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [bench.fill({ lots: 10, scope: 'taker', ticks: 100_001 })] })
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.now = Math.min(endAt, bench.now + 3_600_000)
    bench.step({ kind: 'timePassed' })
  }
  bench.price()
  return bench
}

describe('[ORD2] an intent key', () => {
  test.each([
    ['6.9 days', 6.9 * DAY_MS],
    ['a month', 30 * DAY_MS],
  ])(
    'that comes again %s after its order is dropped, though the book has forgotten both',
    (_, ms) => {
      const bench = filledAgo(ms)
      expect([bench.states(), bench.book.keys.size]).toEqual([[], 0])

      bench.decide(PLACE)

      expect(bench.engine.denied.get('KEY_REUSED')).toBe(1)
      bench.decide({ ...PLACE, key: 'b' })
      expect(bench.engine.denied.get('KEY_REUSED')).toBe(1)
    },
  )

  test('[ORD3] has no next generation while the fate of the one before is open', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...PLACE, ttlMs: 60_000 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)

    bench.decide({ ...PLACE, ttlMs: 60_000 })
    bench.pass(5_000)

    expect([...bench.book.orders.values()].map(({ terms }) => terms.generation)).toEqual([0])
    expect(bench.engine.denied.get('KEY_REUSED')).toBe(1)
  })
})

describe('[ORD5] a fill of an orderId that nothing has named yet', () => {
  test('heard before the answer belongs to the order that the answer names', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const batch = bench.grantBatch()
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [bench.fill({ orderId: `${batch.batchId}001` as never })] })
    expect(bench.book.orphans.size).toBe(1)

    bench.accept(batch)

    expect([...bench.book.orders.values()]).toMatchObject([{ state: 'live', filledLots: 4 }])
    expect([bench.book.orphans.size, bench.book.holdings.get(`s|${SYMBOL}`)?.longLots]).toEqual([
      0, 4,
    ])
  })

  test('is reported to its strategy when it is bound, and its rung waits for that look', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const batch = bench.grantBatch()
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [bench.fill({ orderId: `${batch.batchId}001` as never, lots: 10 })] })
    bench.take('decide')

    bench.accept(batch)

    expect(bench.states()).toEqual(['filled'])
    expect(bench.take('decide').at(-1)?.snapshot.instruments[0]?.holding.longLots).toBe(10)
    bench.step({ kind: 'timePassed' })
    expect(bench.take('sendBatch')).toEqual([])
    expect(bench.take('announce').map(({ event }) => event)).toContain('order.fillAttributed')
  })

  test('heard twice is bound once', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const batch = bench.grantBatch()
    const fills = [bench.fill({ orderId: `${batch.batchId}001` as never })]
    for (let time = 0; time < 2; time++) {
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ fills })
    }
    bench.accept(batch)
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills })

    expect([...bench.book.orders.values()]).toMatchObject([{ filledLots: 4 }])
  })

  test('finds an order that had ended, once a resolution names it', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const batch = bench.grantBatch()
    bench.answer(batch.batchId, TIMED_OUT)
    bench.pass(10_050)
    const { cancelId } = bench.grantCancel()
    const fills = [bench.fill({ orderId: '77' as never, filledAt: bench.now - 100 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills, holding: { longLots: 4, shortLots: 0 } })

    const [clientOid = ''] = batch.clientOids
    bench.answerCancel(
      cancelId,
      accepted({ successList: [{ clientOid, orderId: '77' }], failureList: [] }),
    )
    bench.quote()
    bench.pass(3_000, { fills, holding: { longLots: 4, shortLots: 0 } })

    expect([...bench.book.orders.values()]).toMatchObject([
      { state: 'done', filledLots: 4, orderId: '77' },
    ])
  })
})
