import { type WireRequestOf } from '../../../src/protocol/endpoints.ts'
import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { describe, expect, test } from 'vitest'
import { ONE, STARTED_AT, TWO } from '../wallet/service-bench.ts'
import { openSpotBench, type SpotBench } from './spot-bench.ts'

type Query = WireRequestOf<'spotHistoryOrders'>

const DAY_MS = 86_400_000

describe('the history of spot orders', () => {
  test('pages by orderId, newest first, without gap or repetition', () => {
    const bench = openSpotBench()
    const placed = Array.from({ length: 7 }, () => bench.place({ size: '0.001' }))

    const first = ids(bench, { limit: '3' })
    const second = ids(bench, { limit: '3', idLessThan: first.at(-1) ?? '' })
    const third = ids(bench, { limit: '3', idLessThan: second.at(-1) ?? '' })

    expect([...first, ...second, ...third]).toEqual(placed.toReversed())
  })

  test('has at most 100 orders a page, whatever limit is asked for', () => {
    const bench = openSpotBench()
    for (let index = 0; index < 101; index++) bench.place({ size: '0.001' })

    expect(ids(bench, {})).toHaveLength(100)
    expect(ids(bench, { limit: '500' })).toHaveLength(100)
  })

  test('filters by symbol, order and time', () => {
    const bench = openSpotBench()
    const first = bench.place({})
    const at = bench.now
    const second = bench.place({ symbol: 'ETHUSDT', price: '2500', size: '0.1' })

    expect(ids(bench, { symbol: 'ETHUSDT' })).toEqual([second])
    expect(ids(bench, { orderId: first })).toEqual([first])
    expect(ids(bench, { endTime: String(at) })).toEqual([first])
    expect(ids(bench, { startTime: String(at + 1) })).toEqual([second])
  })

  test('reaches back 90 days and no further', () => {
    const bench = openSpotBench()
    const orderId = bench.place({})
    const at = bench.now

    bench.now = at + 90 * DAY_MS
    expect(ids(bench, {})).toEqual([orderId])

    bench.now = at + 90 * DAY_MS + 1
    expect(ids(bench, {})).toEqual([])
    expect(ids(bench, { startTime: String(at - DAY_MS) })).toEqual([])
  })

  test('of a managed sub-account begins when it was bound, and cannot be asked for more', () => {
    const boundAt = STARTED_AT + 1500
    const bench = openSpotBench({}, boundAt)
    bench.place({})
    const later = bench.place({})

    expect(ids(bench, {})).toEqual([later])
    expect(ids(bench, { startTime: String(boundAt) })).toEqual([later])
    const early = { startTime: String(boundAt - 1) }
    expect(bench.service.answer('spotHistoryOrders', ONE, early, bench.now)).toMatchObject({
      ok: false,
      code: '40020',
      message: 'Parameter startTime error',
    })
  })

  test('shows each account its own orders only', () => {
    const bench = openSpotBench()
    bench.place({})

    expect(bench.service.answer('spotHistoryOrders', TWO, {}, bench.now)).toMatchObject({
      ok: true,
      data: [],
    })
  })

  test('refuses a span that ends before it begins, and a pair that is not listed', () => {
    const { service } = openSpotBench()
    const span = { startTime: String(STARTED_AT), endTime: String(STARTED_AT - 1) }

    expect(service.answer('spotHistoryOrders', ONE, span, STARTED_AT)).toMatchObject({
      ok: false,
      code: '20001',
    })
    const unlisted = service.answer('spotHistoryOrders', ONE, { symbol: 'DOGEUSDT' }, STARTED_AT)
    expect(unlisted).toMatchObject({ ok: false, code: '40034' })
  })

  test('forgets the oldest orders that are done beyond what is kept, never an open one', () => {
    const bench = openSpotBench({ ordersMax: 3 })
    const open = bench.place({})
    const done = Array.from({ length: 4 }, () => bench.place({ price: '65500', size: '0.001' }))

    expect(ids(bench, {})).toEqual([...done.slice(2).toReversed(), open])
  })
})

describe('the detail of a spot order', () => {
  test('is found by the client’s own clientOid while nothing is filled, and by orderId always', () => {
    const bench = openSpotBench()
    const orderId = bench.place({ clientOid: 'own-1' })
    expect(detail(bench, { clientOid: 'own-1' })).toMatchObject([{ orderId, status: 'live' }])

    bench.setPrice({ bid: '63999', ask: '64000', size: 0.005 })

    expect(detail(bench, { clientOid: 'own-1' })).toEqual([])
    expect(detail(bench, { orderId })).toMatchObject([{ status: 'partially_filled' }])
  })

  test('is not found by a clientOid that the exchange made', () => {
    const bench = openSpotBench()
    const clientOid = String(bench.order(bench.place({}))['clientOid'])

    expect(detail(bench, { clientOid })).toEqual([])
  })

  test('goes by the orderId where both ids are given, and needs one', () => {
    const bench = openSpotBench()
    const first = bench.place({ clientOid: 'own-1' })
    bench.place({ clientOid: 'own-2' })

    expect(detail(bench, { orderId: first, clientOid: 'own-2' })).toMatchObject([
      { clientOid: 'own-1' },
    ])
    expect(bench.service.answer('spotOrderInfo', ONE, {}, bench.now)).toMatchObject({
      ok: false,
      code: '40924',
    })
  })

  test('has no fields of the history’s own', () => {
    const bench = openSpotBench()
    const [row] = detail(bench, { orderId: bench.place({}) })

    expect(Object.keys(row ?? {})).not.toContain('tpslType')
    expect(Object.keys(row ?? {})).not.toContain('triggerPrice')
  })
})

describe('the spot symbols', () => {
  test('are all listed when no symbol or a blank one is asked for, else the one', () => {
    const { service } = openSpotBench()

    expect(service.answer('spotSymbols', NOBODY, {}, STARTED_AT)).toEqual(
      service.answer('spotSymbols', NOBODY, { symbol: '' }, STARTED_AT),
    )
    expect(service.answer('spotSymbols', NOBODY, { symbol: 'BTCUSDT' }, STARTED_AT)).toMatchObject({
      ok: true,
      data: [
        { symbol: 'BTCUSDT', pricePrecision: '2', quantityPrecision: '6', orderQuantity: '200' },
      ],
    })
    expect(service.answer('spotSymbols', NOBODY, { symbol: 'DOGEUSDT' }, STARTED_AT)).toMatchObject(
      {
        ok: false,
        code: '40034',
      },
    )
  })

  // Document, status: offline (maintenance), gray (grey scale), online (normal), halt (trading suspended).
  test('are there in every status of the document, and only those online take orders', () => {
    const { service, now } = openSpotBench()
    const listed = service.answer('spotSymbols', NOBODY, {}, STARTED_AT)
    const rows = listed.ok ? listed.data : []
    const order = { side: 'buy', orderType: 'market', size: '100' } as const

    const codes = rows.map(({ symbol, status }) => {
      const reply = service.answer('spotPlaceOrder', ONE, { ...order, symbol }, now)
      return `${status} ${reply.ok ? 'accepted' : reply.code}`
    })

    expect(codes).toEqual([
      'online accepted',
      'online accepted',
      'gray 43120',
      'halt 45043',
      'offline 45043',
    ])
    for (const { symbol } of rows) {
      expect(service.answer('spotHistoryOrders', ONE, { symbol }, now)).toMatchObject({ ok: true })
    }
  })
})

function ids({ service, now }: SpotBench, query: Query): string[] {
  const reply = service.answer('spotHistoryOrders', ONE, query, now)
  if (!reply.ok || !Array.isArray(reply.data)) throw new Error('expected a list of orders')
  return reply.data.map(({ orderId }) => orderId)
}

function detail({ service, now }: SpotBench, query: { orderId?: string; clientOid?: string }) {
  const reply = service.answer('spotOrderInfo', ONE, query, now)
  if (!reply.ok) throw new Error(reply.message)
  return reply.data
}
