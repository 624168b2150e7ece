import { describe, expect, test } from 'vitest'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { type PlaceIntent } from '../../../src/domain/intent.ts'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import { pairKey } from '../../../src/engine/book/book.ts'
import { accepted, EngineBench, refused, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const EMPTY = refused('22001', 'definite')
/** Cannot rest, and is wanted for an hour. */
const IOC: PlaceIntent = {
  kind: 'place',
  symbol: SYMBOL,
  key: 'a',
  action: 'openLong',
  lots: 10,
  ticks: 100_010,
  force: 'ioc',
  ttlMs: 3_600_000,
}

/** A run with a resting bid whose journal was damaged and repaired, and the next run on what is left of it. */
function repaired(keep: (records: EngineBench['records']) => EngineBench['records']): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  const kept = keep(bench.records.splice(0))
  bench.records.push(...kept)
  repair(bench)
  return bench.restart().start()
}

function repair({ records, now: at }: EngineBench): void {
  records.push({
    kind: 'repaired',
    at,
    strategies: [STRATEGY],
    symbols: [SYMBOL],
    reason: 'damaged',
  })
}

/** The answer of its only attempt is the last thing that is known of an order. */
function answered(answer: Parameters<EngineBench['answer']>[1]): EngineBench {
  const bench = new EngineBench().start()
  bench.decide(IOC)
  bench.answer(bench.grantBatch().batchId, answer)
  return bench
}

describe('after a repair of the journal', () => {
  test('[ORD3] what had not ended is unknown, and everything is halted, over restarts and checkpoints', () => {
    const bench = repaired((records) => records)

    expect([bench.states(), bench.halts.get('*')]).toEqual([['unknown'], 'damaged'])
    expect(toBookRows(fromBookRows(toBookRows(bench.book)))).toEqual(toBookRows(bench.book))
    expect(bench.restart().start().halts.get('*')).toBe('damaged')
  })

  test.each([
    ['never left', refused('CONNECT_FAILED', 'notSent'), 0],
    ['was proved absent', TIMED_OUT, 13_000],
  ])(
    '[ORD3] what %s and waited to be sent again may have been sent meanwhile',
    (_, answer, waitMs) => {
      const bench = answered(answer)
      bench.pass(waitMs)
      expect(bench.states()).toEqual(['queued'])
      repair(bench)
      const repairedAt = bench.now

      bench.restart().start()

      const [order] = bench.book.orders.values()
      expect(order).toMatchObject({ state: 'unknown', attempts: 1, unansweredAt: repairedAt })
      const fills = [
        bench.fill({ orderId: '77' as never, lots: 10, scope: 'taker', ticks: 100_001 }),
      ]
      bench.pass(12_000, { fills, holding: { longLots: 10, shortLots: 0 } })
      bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
      bench.pass(3_000, { fills, holding: { longLots: 10, shortLots: 0 } })
      expect([bench.states(), bench.take('sendBatch')]).toEqual([['filled'], []])
      expect(bench.book.holdings.get(`${STRATEGY}|${SYMBOL}`)).toEqual({
        longLots: 10,
        shortLots: 0,
      })
    },
  )

  test('[ORD2] a waiting order by name may have been sent, so it does not leave again after the release', () => {
    const bench = new EngineBench().start()
    bench.decide(IOC)
    const { clientOids } = bench.grantBatch()
    bench.records.splice(bench.records.findIndex(({ kind }) => kind === 'send'))
    expect(bench.recordsOf('decision').flatMap(({ places = [] }) => places)).toHaveLength(1)
    repair(bench)

    const fills = [bench.fill({ orderId: '77' as never, lots: 10, scope: 'taker', ticks: 100_001 })]
    const account = { fills, holding: { longLots: 10, shortLots: 0 } }
    bench.restart().start(account)
    bench.pass(12_000, account)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(13_000, account)
    for (const scope of ['*', SYMBOL])
      bench.step({
        kind: 'commanded',
        command: { kind: 'release', scope, reason: 'compared', by: 'me' },
      })
    bench.pass(1000, account)
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })

    expect(bench.take('sendBatch').flatMap(({ batch }) => batch.clientOids)).not.toContain(
      clientOids[0],
    )
    bench.decide(IOC)
    expect([bench.book.places.size, bench.take('sendBatch')]).toEqual([0, []])
  })

  test.each([
    ['an order that is known', (records: EngineBench['records']) => records],
    ['nothing', () => []],
  ])(
    '[ORD4] with %s left, each instrument is cancelled once nothing can arrive any more',
    (_, keep) => {
      const bench = repaired(keep)

      bench.pass(3_000)
      expect(bench.take('askGrant')).toEqual([])
      bench.pass(4_000)
      expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
      bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
      bench.pass(3_000)

      expect(bench.states().filter((state) => state === 'unknown')).toEqual([])
      expect(bench.engine.phase).toBe('running')
    },
  )

  test('[RSK2] nothing is opened until a person has looked, and then under no name that could have been used', () => {
    const bench = repaired(() => [])
    bench.pass(12_000)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(3_000)
    bench.take('askGrant')
    bench.quote(BID)
    expect(bench.take('askGrant')).toEqual([])

    bench.step({
      kind: 'commanded',
      command: { kind: 'release', scope: '*', reason: 'compared', by: 'me' },
    })
    bench.pass(200)
    bench.quote(BID)
    const batch = bench.grantBatch()

    const [key] = [...bench.book.orders.values()].map(({ terms }) => terms.key)
    expect(key).toBe(`quote:${SYMBOL}:1000000000`)
    bench.answer(batch.batchId, accepted({ successList: [], failureList: [] }))
  })

  test('[ORD2] closes of what was traded by hand are under no name that could have been used', () => {
    const { ordinals } = repaired(() => []).book

    expect(ordinals.get(pairKey(MANUAL, SYMBOL))).toBe(ordinals.get(pairKey(STRATEGY, SYMBOL)))
  })
})
