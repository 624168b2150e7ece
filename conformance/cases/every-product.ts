import assert from 'node:assert/strict'
import { type ConformedExchange } from '../exchange.ts'
import { at, listAt, numberAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'
import { restingPrice } from './futures-orders.ts'

const SYMBOL = 'BTC/USDT:USDT'
const QUERY = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' }
const PLACE = { ...QUERY, marginCoin: 'USDT', marginMode: 'crossed' }

/** Every product type, and every way in which an order may end. */
export async function tryEveryProduct(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  const markets = Object.values(await ccxt.loadMarkets())
  const price = await restingPrice(sdk)
  const limitItem = {
    size: '0.01',
    price: String(price),
    side: 'buy',
    orderType: 'limit',
    force: 'gtc',
  }

  for (const { symbol } of markets.filter(({ type }) => type !== 'spot')) {
    await report.try(`ccxt opens and closes ${symbol}`, async () => {
      await ccxt.createOrder(symbol, 'market', 'buy', 0.05)
      assert.equal(at(await ccxt.fetchPosition(symbol), 'contracts'), 0.05)
      await ccxt.createOrder(symbol, 'market', 'sell', 0.08, undefined, { reduceOnly: true })
      assert.equal(
        at(await ccxt.fetchPosition(symbol), 'contracts'),
        undefined,
        'flat, not reversed',
      )
      const amounts = (await ccxt.fetchMyTrades(symbol)).map(({ side, amount }) =>
        side === 'buy' ? amount : -amount,
      )
      const sum = amounts.reduce((total, amount) => total + amount, 0)
      assert.ok(Math.abs(sum) < 1e-9, `${sum} is left`)
      return 'buy 0.05, reduce-only sell 0.08: flat; fills add up to 0'
    })
  }

  await report.try('SDK ioc and fok away from the market', async () => {
    const orderList = ['ioc', 'fok'].map((force) => ({
      ...limitItem,
      force,
      clientOid: `force-${force}`,
    }))
    const { data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    const ids = listAt(data, 'successList').map((item) => textAt(item, 'orderId'))
    for (const id of ids) assert.equal((await ccxt.fetchOrder(id, SYMBOL)).status, 'canceled')
    return `${ids.length} accepted, then canceled without a fill`
  })

  await report.try('SDK cancels all of one symbol only', async () => {
    const eth = await restingPrice(sdk, 'ETHUSDT')
    await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList: [limitItem] })
    await sdk.futuresBatchSubmitOrders({
      ...PLACE,
      symbol: 'ETHUSDT',
      orderList: [
        {
          ...limitItem,
          size: '0.1',
          price: String(eth),
        },
      ],
    })
    await sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES', symbol: 'ETHUSDT' })
    assert.equal((await ccxt.fetchOpenOrders('ETH/USDT:USDT')).length, 0)
    assert.equal((await ccxt.fetchOpenOrders(SYMBOL)).length, 1)
    return 'ETHUSDT cancelled, BTCUSDT open'
  })

  await report.try('SDK cancels all of coin futures, with marginCoin', async () => {
    await ccxt.createOrder('BTC/USD:BTC', 'limit', 'buy', 0.01, price)
    const request = { productType: 'COIN-FUTURES', marginCoin: 'BTC' }
    const { data } = await sdk.futuresCancelAllOrders(request)
    assert.equal(listAt(data, 'successList').length, 1)
    assert.equal(
      (await ccxt.fetchOpenOrders(SYMBOL)).length,
      1,
      'the other product type is left alone',
    )
    return '1 cancelled, the order of USDT futures open'
  })

  await report.try('SDK cancels all inside its receiveWindow', async () => {
    const request = { requestTime: String(exchange.clock.now()), receiveWindow: '60000' }
    const { data } = await sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES', ...request })
    assert.equal(listAt(data, 'successList').length, 1)
    return 'receiveWindow 60000: 1 cancelled'
  })

  await report.try('SDK sends one clientOid three times at once', async () => {
    const orderList = [{ ...limitItem, clientOid: 'at-once' }]
    const answers = await Promise.all(
      [1, 2, 3].map(() => sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })),
    )
    const taken = answers.flatMap(({ data }) => listAt(data, 'successList'))
    const refused = answers.flatMap(({ data }) => listAt(data, 'failureList'))
    assert.deepEqual([taken.length, refused.length], [1, 2])
    for (const item of refused) assert.equal(at(item, 'errorCode'), '40786')
    assert.equal((await ccxt.fetchOpenOrders(SYMBOL)).length, 1)
    return '1 taken, 2 with 40786, 1 open'
  })

  await report.try('SDK sends one clientOid twice in a batch', async () => {
    const orderList = [1, 2].map(() => ({ ...limitItem, clientOid: 'in-a-batch' }))
    const { data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    assert.equal(listAt(data, 'successList').length, 1)
    assert.equal(at(data, 'failureList', 0, 'errorCode'), '40786')
    return '1 taken, 1 with 40786'
  })

  await report.try('ccxt modifies a trailing order', async () => {
    const trailing = { trailingPercent: '2', trailingTriggerPrice: String(price - 500) }
    const { id } = await ccxt.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, trailing)
    await ccxt.editOrder(id, SYMBOL, 'market', 'sell', undefined, undefined, {
      trailingPercent: '3',
    })
    const plan = { productType: 'USDT-FUTURES', planType: 'track_plan' }
    const [row] = listAt((await sdk.getFuturesPlanOrders(plan)).data, 'entrustedList')
    assert.equal(numberAt(row, 'callbackRatio'), 3)
    return 'callbackRatio 2, then 3'
  })

  await report.try('SDK opens with exits, and the position has them', async () => {
    const [high, low] = [String(Math.floor(price * 1.2)), String(price)]
    const orderList = [
      {
        size: '0.01',
        side: 'buy',
        orderType: 'market',
        clientOid: 'with-exits',
        presetStopSurplusPrice: high,
        presetStopLossPrice: low,
      },
    ]
    await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    const query = { productType: 'USDT-FUTURES', marginCoin: 'USDT' }
    const [row] = listAt((await sdk.getPrivate('/api/v2/mix/position/all-position', query)).data)
    assert.deepEqual(
      [numberAt(row, 'takeProfit'), numberAt(row, 'stopLoss')],
      [Number(high), Number(low)],
    )
    return `takeProfit ${high}, stopLoss ${low}`
  })

  await report.try('SDK fills by startTime alone', async () => {
    const startTime = String(exchange.clock.now() - 86_400_000)
    const some = listAt((await sdk.getFuturesFills({ ...QUERY, startTime })).data, 'fillList')
    assert.ok(some.length > 0)
    const none = listAt(
      (await sdk.getFuturesFills({ ...QUERY, startTime: String(exchange.clock.now() + 1) })).data,
      'fillList',
    )
    assert.equal(none.length, 0)
    return `${some.length} since yesterday, none from now on`
  })
}
