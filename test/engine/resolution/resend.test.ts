import { describe, expect, test } from 'vitest'
import { type PlaceIntent } from '../../../src/domain/intent.ts'
import { EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const MINUTE_MS = 60_000
const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
/** Cannot rest, and is wanted for an hour. */
const IOC: PlaceIntent = {
  kind: 'place',
  symbol: SYMBOL,
  key: 'a',
  action: 'openLong',
  lots: 10,
  ticks: 100_010,
  force: 'ioc',
  ttlMs: 60 * MINUTE_MS,
}
/** Longer than the acceptance window, what fills need, and two reads of them. */
const PROVED_MS = 13_000

/** An order whose answer was lost, and the batch that carried it. */
function lost(intent: PlaceIntent) {
  const bench = new EngineBench().start()
  bench.decide(intent)
  const batch = bench.grantBatch()
  bench.answer(batch.batchId, TIMED_OUT)
  return { bench, batch }
}

describe('R4: an order that cannot rest, proved absent', () => {
  test('[ORD2] [ORD4] and still wanted leaves again under its own name, to the byte', () => {
    const { bench, batch } = lost(IOC)

    bench.pass(PROVED_MS)

    expect(bench.states()).toEqual(['queued'])
    expect(bench.grantBatch().body).toBe(batch.body)
    expect([...bench.book.orders.values()]).toMatchObject([{ state: 'sent', attempts: 2 }])
  })

  test('[ORD7] ends there when its time is over', () => {
    const { bench } = lost({ ...IOC, ttlMs: 5_000 })

    bench.pass(PROVED_MS)

    expect([bench.states(), bench.take('askGrant')]).toEqual([['absent'], []])
    expect(bench.book.places.size).toBe(0)
  })

  test('[RSK2] does not leave again while its instrument is halted', () => {
    const { bench } = lost(IOC)
    bench.step({
      kind: 'commanded',
      command: { kind: 'restrict', scope: SYMBOL, mode: 'halted', reason: 'a test', by: 'a test' },
    })

    bench.pass(PROVED_MS)

    expect(bench.states()).toEqual(['absent'])
    expect(bench.take('sendBatch')).toEqual([])
  })

  test('[ORD2] leaves under the next generation once the window is over, never under the old name', () => {
    const { bench, batch } = lost(IOC)
    bench.restart()
    bench.now += 16 * MINUTE_MS
    bench.start()

    bench.pass(PROVED_MS)

    expect(bench.states()).toEqual(['absent'])
    const again = bench.grantBatch()
    expect(again.clientOids[0]?.replace(/-1$/, '-0')).toBe(batch.clientOids[0])
  })

  test('[ORD3] that is refused the second time is unknown: the first copy is not disproved by that', () => {
    const { bench } = lost(IOC)
    bench.pass(PROVED_MS)

    bench.answer(bench.grantBatch().batchId, refused('40762', 'definite'))

    expect(bench.states()).toEqual(['unknown'])
  })
})

describe('[ORD2] a waiting copy', () => {
  test('leaves one moment before the window ends', () => {
    const { bench } = lost(IOC)
    bench.pass(PROVED_MS)

    bench.now += 15 * MINUTE_MS - PROVED_MS - 1
    bench.price()

    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })

  test('does not leave when it is over: evidence has to say what became of it', () => {
    const { bench } = lost(IOC)
    bench.pass(PROVED_MS)

    bench.now += 15 * MINUTE_MS - PROVED_MS
    bench.price()
    bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })

    expect(bench.take('sendBatch')).toEqual([])
    bench.step({ kind: 'timePassed' })
    expect(bench.states()).toEqual(['unknown'])
  })
})

describe('[LIM3] [ORD5] a 429, or a stale timestamp', () => {
  test.each(['429', '40008'])('%s leaves an order unknown, and is looked into at once', (code) => {
    const bench = new EngineBench().start()
    bench.quote(BID)

    bench.answer(bench.grantBatch().batchId, refused(code, 'retry'))

    expect(bench.states()).toEqual(['unknown'])
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })

  test('that hid a success does not double what was filled meanwhile', () => {
    const bench = new EngineBench().start()
    bench.decide(IOC)
    bench.answer(bench.grantBatch().batchId, refused('429', 'retry'))

    const fills = [bench.fill({ orderId: '77' as never, lots: 10, scope: 'taker', ticks: 100_001 })]
    bench.pass(3_000, { fills, holding: { longLots: 10, shortLots: 0 } })

    expect(bench.states()).toEqual(['filled'])
    expect(bench.take('sendBatch')).toEqual([])
  })

  test('that hid nothing costs a few seconds, not the acceptance window', () => {
    const bench = new EngineBench().start()
    bench.decide(IOC)
    const { body, batchId } = bench.grantBatch()
    bench.answer(batchId, refused('429', 'retry'))

    bench.pass(3_000)

    expect(bench.grantBatch().body).toBe(body)
  })

  test('[ORD3] after an earlier copy that nobody answered waits for its acceptance deadline all the same', () => {
    const { bench } = lost(IOC)
    bench.pass(PROVED_MS)
    bench.answer(bench.grantBatch().batchId, refused('429', 'retry'))

    bench.pass(9_000)

    expect(bench.states()).toEqual(['unknown'])
  })
})
