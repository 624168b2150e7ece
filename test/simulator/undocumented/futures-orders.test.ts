import { describe, expect, test } from 'vitest'
import { ANNA, BERT, ExchangeBench } from '../exchange-bench.ts'
import { createMemoryStore } from '../futures/memory-store.ts'

const MARKET = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }
const QUERY = 'productType=USDT-FUTURES&symbol=BTCUSDT'

async function openBench() {
  const bench = await ExchangeBench.open()
  bench.wait(2000)
  const [ticker] = bench.data(ANNA, 'tickers')
  const resting = String(Math.floor(Number(ticker?.bidPr) * 0.995))
  const limit = {
    ...MARKET,
    marginMode: 'crossed',
    side: 'buy',
    orderType: 'limit',
    force: 'GTC',
    price: resting,
  }
  const place = (body: object = {}, account = ANNA) =>
    bench.data(account, 'placeOrder', { body: { ...limit, size: '0.01', ...body } })
  return { bench, place, limit, resting }
}

describe('one order', () => {
  test('is placed, found by either id, listed and cancelled', async () => {
    const { bench, place, resting } = await openBench()

    const { orderId } = place({ clientOid: 'mine', presetStopLossPrice: '1000' })
    const byId = bench.data(ANNA, 'orderDetail', { query: `orderId=${orderId}&${QUERY}` })
    const byName = bench.data(ANNA, 'orderDetail', { query: `clientOid=mine&${QUERY}` })
    const listed = bench.data(ANNA, 'ordersPending')
    const cancelled = bench.data(ANNA, 'cancelOrder', { body: { ...MARKET, orderId } })

    expect(byName).toEqual(byId)
    expect(byId).toMatchObject({
      orderId,
      clientOid: 'mine',
      state: 'live',
      price: resting,
      size: '0.01',
      baseVolume: '0',
      priceAvg: '',
      presetStopLossPrice: '1000',
      presetStopSurplusPrice: '',
    })
    expect(listed).toMatchObject({ entrustedList: [{ orderId, status: 'live' }], endId: orderId })
    expect(cancelled).toEqual({ orderId, clientOid: 'mine' })
    expect(bench.data(ANNA, 'ordersPending')).toEqual({ entrustedList: [], endId: '' })
    expect(bench.data(ANNA, 'orderDetail', { query: `orderId=${orderId}&${QUERY}` })).toMatchObject(
      {
        state: 'canceled',
        cancelReason: 'user',
      },
    )
  })

  test('that fills shows what it traded, to the last digit of its fills', async () => {
    const { bench, place } = await openBench()

    const { orderId } = place({
      orderType: 'market',
      force: undefined,
      price: undefined,
      size: '0.03',
    })
    const detail = bench.data(ANNA, 'orderDetail', { query: `orderId=${orderId}&${QUERY}` })
    const { fillList } = bench.data(ANNA, 'orderFills', { query: `orderId=${orderId}&${QUERY}` })

    const fills = Array.isArray(fillList) ? fillList : []
    const volume = fills.reduce((sum, { quoteVolume }) => sum + Number(quoteVolume), 0)
    expect(detail).toMatchObject({ state: 'filled', baseVolume: '0.03', price: '' })
    expect(Number(detail.quoteVolume)).toBeCloseTo(volume, 8)
    expect(Number(detail.priceAvg)).toBeCloseTo(volume / 0.03, 6)
    expect(Number(detail.fee)).toBeLessThan(0)
  })

  test('in hedge mode is written as public clients write it', async () => {
    const { bench, place } = await openBench()

    const { orderId } = place({ tradeSide: 'Open' }, BERT)

    expect(bench.data(BERT, 'orderDetail', { query: `orderId=${orderId}&${QUERY}` })).toMatchObject(
      {
        tradeSide: 'open',
        posSide: 'long',
        posMode: 'hedge_mode',
        force: 'gtc',
      },
    )
  })

  test.each([
    ['too small', { size: '0.0001' }, '45111'],
    ['off the tick', { price: '60000.01' }, '45115'],
    ['a trade side in one-way mode', { tradeSide: 'open' }, '40774'],
    ['a clientOid that was used', { clientOid: 'used' }, '40786'],
    ['another margin coin', { marginCoin: 'BTC' }, '40020'],
    ['an unlisted symbol', { symbol: 'XRPUSDT' }, '40034'],
  ])('is refused as a whole when it is %s', async (_what, body, code) => {
    const { bench, place, limit } = await openBench()
    place({ clientOid: 'used' })

    const answer = bench.call(ANNA, 'placeOrder', { body: { ...limit, size: '0.01', ...body } })

    expect(answer).toMatchObject({ status: 400, code, data: null })
  })

  test('of nobody, of another account or of another symbol is not found', async () => {
    const { bench, place } = await openBench()
    const { orderId } = place()

    const codes = [
      bench.call(ANNA, 'orderDetail', { query: `orderId=1&${QUERY}` }).code,
      bench.call(BERT, 'orderDetail', { query: `orderId=${orderId}&${QUERY}` }).code,
      bench.call(ANNA, 'orderDetail', {
        query: `orderId=${orderId}&productType=USDT-FUTURES&symbol=ETHUSDT`,
      }).code,
      bench.call(ANNA, 'cancelOrder', { body: { ...MARKET, orderId: '1' } }).code,
      bench.call(ANNA, 'cancelOrder', { body: { ...MARKET } }).code,
    ]

    expect(codes).toEqual(['40109', '40109', '40109', '43001', '43001'])
  })
})

test('a list is cancelled with an outcome each; without a list everything of the symbol is', async () => {
  const { bench, place } = await openBench()
  const { orderId } = place()
  place({ clientOid: 'two' })
  place({ clientOid: 'three' })

  const named = bench.data(ANNA, 'batchCancelOrders', {
    body: { ...MARKET, orderIdList: [{ orderId }, { clientOid: 'two' }, { orderId: '7' }] },
  })
  const all = bench.data(ANNA, 'batchCancelOrders', { body: { ...MARKET } })

  expect(named).toMatchObject({
    successList: [{ orderId }, { clientOid: 'two' }],
    failureList: [{ orderId: '7', errorCode: '43001', errorMsg: 'The order does not exist' }],
  })
  expect(all).toMatchObject({ successList: [{ clientOid: 'three' }], failureList: [] })
})

test('pending orders come newest first, and page by page through endId', async () => {
  const { bench, place } = await openBench()
  const ids = ['a', 'b', 'c'].map((clientOid) => place({ clientOid }).orderId)

  const first = bench.data(ANNA, 'ordersPending', { query: `limit=2&${QUERY}` })
  const second = bench.data(ANNA, 'ordersPending', { query: `idLessThan=${first.endId}&${QUERY}` })

  expect(first.entrustedList?.map(({ orderId }) => orderId)).toEqual([ids[2], ids[1]])
  expect(second.entrustedList?.map(({ orderId }) => orderId)).toEqual([ids[0]])
})

describe('trigger orders', () => {
  const plan = {
    ...MARKET,
    planType: 'normal_plan',
    marginMode: 'crossed',
    triggerPrice: '90000',
    triggerType: 'fill_price',
    side: 'buy',
    orderType: 'market',
    size: '0.01',
    stopLossTriggerType: '',
  }

  test('are placed, modified by the document’s own endpoint, listed and cancelled', async () => {
    const { bench } = await openBench()

    const { orderId } = bench.data(ANNA, 'placePlanOrder', { body: { ...plan, clientOid: 'plan' } })
    bench.data(ANNA, 'modifyPlanOrder', {
      body: { orderId, productType: 'USDT-FUTURES', newTriggerPrice: '91000' },
    })
    const listed = bench.data(ANNA, 'ordersPlanPending')
    const trailing = bench.data(ANNA, 'ordersPlanPending', {
      query: `planType=track_plan&${QUERY}`,
    })
    const cancelled = bench.data(ANNA, 'cancelPlanOrder', {
      body: {
        ...MARKET,
        orderIdList: [
          { orderId, clientOid: '' },
          { orderId: '', clientOid: 'none' },
        ],
      },
    })

    expect(listed).toMatchObject({
      entrustedList: [
        { orderId, clientOid: 'plan', triggerPrice: '91000', planStatus: 'not_trigger' },
      ],
      endId: orderId,
    })
    expect(trailing.entrustedList).toEqual([])
    expect(cancelled).toMatchObject({
      successList: [{ orderId, clientOid: 'plan' }],
      failureList: [{ orderId: '', clientOid: 'none', errorCode: '43025' }],
    })
  })

  test('without a list all of them are cancelled, those of one type where it is named', async () => {
    const { bench } = await openBench()
    bench.data(ANNA, 'placePlanOrder', { body: plan })
    bench.data(ANNA, 'placePlanOrder', {
      body: { ...plan, planType: 'track_plan', callbackRatio: '1' },
    })

    const trailing = bench.data(ANNA, 'cancelPlanOrder', {
      body: { ...MARKET, planType: 'track_plan' },
    })
    const rest = bench.data(ANNA, 'cancelPlanOrder', { body: MARKET })

    expect([trailing, rest]).toMatchObject([{ successList: [{}] }, { successList: [{}] }])
    expect(bench.exchange.ledger(ANNA.uid).counts.planOrdersOpen).toBe(0)
  })
})

test('orders that ended in a contract which is no longer listed are forgotten at a start', async () => {
  const store = createMemoryStore()
  const bench = await ExchangeBench.open({ store })
  bench.wait(2000)
  const order = { ...MARKET, marginMode: 'crossed', side: 'buy', orderType: 'market', size: '0.01' }
  const placed = [1, 2].map(() => bench.data(ANNA, 'placeOrder', { body: order }))
  const plan = { ...order, planType: 'normal_plan', triggerPrice: '1', triggerType: 'fill_price' }
  const { orderId } = bench.data(ANNA, 'placePlanOrder', { body: plan })
  bench.data(ANNA, 'cancelPlanOrder', { body: { ...MARKET, orderIdList: [{ orderId }] } })
  // Over the day of its delivery: these were of a contract that has left the list.
  const ended = (store.load() ?? []).filter(
    ({ table, json }) =>
      table === 'plan_orders' || (table === 'orders' && json?.includes('"sequence":1,')),
  )
  store.save(ended.map((row) => ({ ...row, json: row.json?.replace('BTCUSDT', 'BTCUSD_230630') })))

  const again = await ExchangeBench.open({ store, now: bench.now })

  const { entrustedList } = again.data(ANNA, 'ordersHistory', { query: 'productType=USDT-FUTURES' })
  expect(entrustedList?.map((row) => row.orderId)).toEqual([placed[1]?.orderId])
  expect(again.data(ANNA, 'ordersPlanPending').entrustedList).toEqual([])
})
