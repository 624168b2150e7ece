import { describe, expect, test } from 'vitest'
import { ANNA, BERT, depositMargin, ExchangeBench } from '../exchange-bench.ts'

async function openQuoted() {
  const bench = await ExchangeBench.open()
  bench.wait(2000)
  const [ticker] = bench.data(ANNA, 'symbolTicker')
  return { bench, price: String(Math.floor(Number(ticker?.bidPr) * 0.99)) }
}

describe('spot', () => {
  test('an open order stands among the unfilled ones until it is cancelled', async () => {
    const { bench, price } = await openQuoted()
    const limit = {
      symbol: 'BTCUSDT',
      side: 'buy',
      orderType: 'limit',
      force: 'gtc',
      price,
      size: '0.01',
    }
    const unfilled = () =>
      bench.data(ANNA, 'spotUnfilledOrders').map(({ orderId, priceAvg, basePrice, status }) => ({
        orderId,
        priceAvg,
        basePrice,
        status,
      }))
    const before = unfilled()

    const { orderId } = bench.data(ANNA, 'spotPlaceOrder', { body: limit })
    const during = unfilled()
    bench.data(ANNA, 'spotCancelOrder', { body: { symbol: 'BTCUSDT', orderId } })

    expect(during[0]).toEqual({
      orderId,
      priceAvg: `${price}.${'0'.repeat(16)}`,
      basePrice: '0',
      status: 'live',
    })
    expect(during.slice(1)).toEqual(before)
    expect(unfilled()).toEqual(before)
  })

  test('the assets are the spot balance, and what an order ties up is frozen', async () => {
    const { bench, price } = await openQuoted()
    const dollars = () => bench.data(ANNA, 'spotAssets', { query: 'coin=usdt' })[0]
    const before = dollars()

    const order = { side: 'buy', orderType: 'limit', force: 'gtc', price, size: '0.01' }
    bench.data(ANNA, 'spotPlaceOrder', { body: { symbol: 'BTCUSDT', ...order } })

    const frozen = Number(dollars()?.frozen) - Number(before?.frozen)
    expect(frozen).toBeCloseTo(Number(price) * 0.01, 6)
    expect(Number(before?.available) - Number(dollars()?.available)).toBeCloseTo(frozen, 6)
    expect(bench.data(ANNA, 'spotAssets').map(({ coin }) => coin)).toContain('BTC')
  })
})

describe.each(['isolated', 'crossed'] as const)('%s margin', (mode) => {
  test('an order is cancelled by either id, once, and by its owner in its own mode', async () => {
    const { bench, price } = await openQuoted()
    const deposit = { symbol: 'BTCUSDT', coin: 'USDT', amount: '5000' }
    depositMargin(bench.exchange, ANNA, { mode, ...deposit }, bench.now)
    const order = { symbol: 'BTCUSDT', side: 'buy', orderType: 'limit', price, baseSize: '0.01' }
    const place = (clientOid: string) =>
      bench.data(ANNA, `${mode}PlaceOrder`, { body: { ...order, loanType: 'normal', clientOid } })
        .orderId
    const cancel = (body: object, account = ANNA, ofMode: typeof mode = mode) =>
      bench.call(account, `${ofMode}CancelOrder`, { body: { symbol: 'BTCUSDT', ...body } })
    const first = place('first')
    place('second')

    const refused = [
      cancel({ orderId: first }, BERT).code,
      cancel({ orderId: first }, ANNA, mode === 'isolated' ? 'crossed' : 'isolated').code,
      cancel({}).code,
      cancel({ orderId: first, symbol: 'NOPEUSDT' }).code,
    ]
    const cancelled = [cancel({ orderId: first }).data, cancel({ clientOid: 'second' }).data]

    expect(refused).toEqual(['43001', '43001', '40924', '40034'])
    expect(cancelled).toMatchObject([
      { orderId: first, clientOid: 'first' },
      { clientOid: 'second' },
    ])
    expect(cancel({ orderId: first }).code).toBe('50062')
  })
})

test('the history of futures orders has those that are done, newest first, page by page', async () => {
  const { bench, price } = await openQuoted()
  const futures = {
    symbol: 'BTCUSDT',
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    marginMode: 'crossed',
  }
  const limit = { ...futures, side: 'buy', orderType: 'limit', force: 'gtc', price, size: '0.01' }
  const place = (body: object) => bench.data(ANNA, 'placeOrder', { body }).orderId
  const ids = [
    place(limit),
    place({ ...limit, orderType: 'market', price: undefined }),
    place(limit),
  ]
  const [cancelled, filled] = ids
  bench.data(ANNA, 'cancelOrder', { body: { ...futures, orderId: cancelled } })

  const page = (query: string) =>
    bench.data(ANNA, 'ordersHistory', { query: `${query}productType=USDT-FUTURES` })
  const first = page('limit=1&')
  const second = page(`idLessThan=${first.endId}&`)

  expect(first.entrustedList).toMatchObject([{ orderId: filled, status: 'filled' }])
  expect(second.entrustedList).toMatchObject([
    { orderId: cancelled, status: 'canceled', cancelReason: 'user' },
  ])
  expect(page(`idLessThan=${second.endId}&`)).toEqual({ entrustedList: [], endId: '' })
  expect(page(`startTime=${bench.now + 1}&`).entrustedList).toEqual([])
})
