import assert from 'node:assert/strict'
import { type Ccxt, type Sdk } from '../clients.ts'
import { type ConformedExchange } from '../exchange.ts'
import { assertFields, at, listAt, numberAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'

const SYMBOL = 'BTC/USDT:USDT'
const PLACE = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'crossed',
}

/** A price so far below the market that nothing trades there; whole, so a multiple of the tick. */
export async function restingPrice(sdk: Sdk, symbol = 'BTCUSDT'): Promise<number> {
  const { data } = await sdk.getFuturesAllTickers({ productType: 'USDT-FUTURES' })
  const row = listAt(data).find((ticker) => at(ticker, 'symbol') === symbol)
  return Math.floor(numberAt(row, 'lastPr') * 0.95)
}

interface Context {
  readonly exchange: ConformedExchange
  readonly ccxt: Ccxt
  readonly sdk: Sdk
  readonly price: number
  readonly limitItem: Readonly<Record<string, string>>
}

/** Orders in one-way mode: placed, refused, doubled, cancelled, modified. */
export async function tryFuturesOrders(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  await ccxt.loadMarkets()
  const price = await restingPrice(sdk)
  const limitItem = {
    size: '0.01',
    price: String(price),
    side: 'buy',
    orderType: 'limit',
    force: 'gtc',
  }
  const context = { exchange, ccxt, sdk, price, limitItem }
  await tryOrders(report, context)
  await tryBatches(report, context)
  await tryDoubles(report, context)
  await tryTriggerOrders(report, context)
  await report.try('ccxt sets the leverage and reads the balance', async () => {
    const flat = { symbol: 'BTCPERP', productType: 'USDC-FUTURES', marginCoin: 'USDC' }
    await ccxt.setLeverage(7, 'BTC/USDC:USDC')
    const account = (await sdk.getFuturesAccountAsset(flat)).data
    assert.equal(numberAt(account, 'crossedMarginLeverage'), 7)
    const balance = await ccxt.fetchBalance({ type: 'swap', productType: 'USDT-FUTURES' })
    assert.ok(numberAt(balance, 'USDT', 'total') > 900_000)
    return 'crossedMarginLeverage 7; USDT total as opened'
  })
}

async function tryOrders(report: Report, { ccxt, price }: Context): Promise<void> {
  await report.try('ccxt places a batch of limit orders, one-way', async () => {
    const orders = await ccxt.createOrders(
      [0, 1].map((step) => ({
        symbol: SYMBOL,
        type: 'limit' as const,
        side: 'buy' as const,
        amount: 0.01,
        price: price - step,
        params: { clientOid: `ccxt-limit-${step}` },
      })),
    )
    assert.equal(orders.length, 2)
    const open = await ccxt.fetchOpenOrders(SYMBOL)
    for (const [step, { id, clientOrderId }] of orders.entries()) {
      assert.match(id, /^\d+$/, 'an order id of digits')
      assert.equal(clientOrderId, `ccxt-limit-${step}`, 'the clientOid comes back')
      const found = open.find((order) => order.id === id)
      assert.equal(found?.price, price - step, 'price of the open order')
      assert.equal(found?.amount, 0.01, 'amount of the open order')
    }
    return 'ids, clientOids; price and amount among the open orders'
  })

  await report.try('ccxt reads, then cancels one order', async () => {
    const [first] = await ccxt.fetchOpenOrders(SYMBOL)
    assert.ok(first)
    const read = await ccxt.fetchOrder(first.id, SYMBOL)
    assert.equal(read.status, 'open')
    await ccxt.cancelOrder(first.id, SYMBOL)
    const after = await ccxt.fetchOrder(first.id, SYMBOL)
    assert.equal(after.status, 'canceled')
    return 'order detail: open, then canceled'
  })

  await report.try('ccxt cancels all orders of a symbol (batch-cancel)', async () => {
    const open = await ccxt.fetchOpenOrders(SYMBOL)
    const cancelled = await ccxt.cancelAllOrders(SYMBOL)
    assert.deepEqual(cancelled.map(({ id }) => id).sort(), open.map(({ id }) => id).sort())
    assert.equal((await ccxt.fetchOpenOrders(SYMBOL)).length, 0)
    return `${open.length} cancelled, none open`
  })
}

async function tryBatches(
  report: Report,
  { exchange, sdk, price, limitItem }: Context,
): Promise<void> {
  await report.try('SDK places 50 limit orders at once', async () => {
    const orderList = Array.from({ length: 50 }, (_, step) => ({
      ...limitItem,
      price: String(price - step),
      clientOid: `sdk-fifty-${step}`,
    }))
    const { data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    const oids = listAt(data, 'successList').map((item) => textAt(item, 'clientOid'))
    assert.deepEqual(
      oids,
      orderList.map(({ clientOid }) => clientOid),
      'every clientOid, in order',
    )
    assert.equal(listAt(data, 'failureList').length, 0)
    return '50 in successList in their order, failureList empty'
  })

  await report.try('SDK cancels all orders', async () => {
    const { data } = await sdk.futuresCancelAllOrders({
      productType: 'USDT-FUTURES',
      symbol: 'BTCUSDT',
    })
    const cancelled = listAt(data, 'successList')
    assertFields(cancelled, ['orderId', 'clientOid'])
    assert.equal(cancelled.length, 50)
    assert.equal(listAt(data, 'failureList').length, 0)
    const pending = listAt(
      (await sdk.getFuturesOpenOrders({ productType: 'USDT-FUTURES' })).data,
      'entrustedList',
    )
    assert.equal(pending.length, 0, 'nothing is open')
    return '50 in successList, nothing open after it'
  })

  await report.try('SDK cancels all when nothing is open', async () => {
    const refused = await exchange.refusalOf(() =>
      sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES' }),
    )
    assert.deepEqual([refused.status, refused.code], [400, '22001'])
    return 'HTTP 400, 22001 No order to cancel'
  })

  await report.try('SDK places a batch of which some fail', async () => {
    const orderList = [
      { ...limitItem, clientOid: 'part-good' },
      { ...limitItem, clientOid: 'part-small', size: '0.0001' },
      { ...limitItem, clientOid: 'part-tick', price: `${price}.05` },
      { ...limitItem, clientOid: 'part-large', size: '1199' },
    ]
    const { code, data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    assert.equal(code, '00000', 'the envelope is a success')
    assert.deepEqual(
      listAt(data, 'successList').map((item) => at(item, 'clientOid')),
      ['part-good'],
    )
    const failed = listAt(data, 'failureList')
    assertFields(failed, ['orderId', 'clientOid', 'errorMsg', 'errorCode'])
    const lines = failed.map((item) => `${textAt(item, 'clientOid')} ${textAt(item, 'errorCode')}`)
    assert.equal(failed.length, 3, lines.join(', '))
    return `1 success; ${lines.join(', ')}`
  })

  await report.try('SDK sends tradeSide with one order of two, one-way', async () => {
    const orderList = [
      { ...limitItem, clientOid: 'side-good' },
      { ...limitItem, clientOid: 'side-bad', tradeSide: 'open' },
    ]
    const { code, data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    assert.equal(code, '00000', 'the envelope is a success')
    assert.equal(at(data, 'successList', 0, 'clientOid'), 'side-good')
    assert.equal(at(data, 'failureList', 0, 'errorCode'), '40774')
    return 'a partial failure: the other order is placed, 40774 in failureList'
  })
}

async function tryDoubles(
  report: Report,
  { exchange, ccxt, sdk, limitItem }: Context,
): Promise<void> {
  await report.try('SDK sends the same clientOid again', async () => {
    const { data } = await sdk.futuresBatchSubmitOrders({
      ...PLACE,
      orderList: [{ ...limitItem, clientOid: 'part-good' }],
    })
    assert.equal(listAt(data, 'successList').length, 0)
    assert.equal(at(data, 'failureList', 0, 'errorCode'), '40786')
    const query = { productType: 'USDT-FUTURES', clientOid: 'part-good' }
    const open = listAt((await sdk.getFuturesOpenOrders(query)).data, 'entrustedList')
    assert.equal(open.length, 1, 'one order, not two')
    return '40786 in failureList, one order open'
  })

  await report.try('ccxt sends the clientOid of a filled order again', async () => {
    const order = [SYMBOL, 'market', 'buy', 0.01, undefined, { clientOid: 'again-filled' }] as const
    await ccxt.createOrder(...order)
    const refused = await exchange.refusalOf(() => ccxt.createOrder(...order))
    assert.deepEqual([refused.status, refused.code], [400, '40786'])
    assert.equal(at(await ccxt.fetchPosition(SYMBOL), 'contracts'), 0.01, 'filled once')
    return 'HTTP 400, 40786 Duplicate clientOid; position 0.01'
  })
}

async function tryTriggerOrders(report: Report, { ccxt, sdk, price }: Context): Promise<void> {
  await report.try('ccxt places and modifies a trigger order', async () => {
    // As texts: ccxt puts numbers of `params` into the body as they are, see the next case.
    const [first, second] = [String(price - 100), String(price - 200)]
    const placed = await ccxt.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, {
      triggerPrice: first,
    })
    await ccxt.editOrder(placed.id, SYMBOL, 'market', 'sell', 0.02, undefined, {
      triggerPrice: second,
    })
    const open = await ccxt.fetchOpenOrders(SYMBOL, undefined, undefined, { trigger: true })
    const found = open.find(({ id }) => id === placed.id)
    assert.equal(found?.triggerPrice, price - 200)
    assert.equal(found?.amount, 0.02)
    return 'new trigger price and amount among the pending trigger orders'
  })

  await report.try('ccxt places a trigger order, price as a JSON number', async () => {
    const params = { triggerPrice: price - 300 }
    const { id } = await ccxt.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, params)
    await ccxt.cancelOrder(id, SYMBOL, { trigger: true })
    return '"triggerPrice":61000 and the like: what ccxt sends for a number'
  })

  await report.try('SDK sets and removes the exits of a trigger order', async () => {
    const plan = { productType: 'USDT-FUTURES', planType: 'normal_plan' }
    const pending = async () =>
      listAt((await sdk.getFuturesPlanOrders(plan)).data, 'entrustedList')[0]
    const orderId = textAt(await pending(), 'orderId')
    await sdk.futuresModifyPlanOrder({
      orderId,
      productType: 'USDT-FUTURES',
      newStopSurplusTriggerPrice: String(price - 3e3),
      newStopSurplusTriggerType: 'mark_price',
    })
    assert.equal(
      numberAt(await pending(), 'stopSurplusTriggerPrice'),
      price - 3000,
      'the take-profit is set',
    )
    const answer = await sdk.futuresModifyPlanOrder({
      orderId,
      productType: 'USDT-FUTURES',
      newSurplusTriggerPrice: '0',
    })
    assertFields([answer.data], ['orderId', 'clientOid'])
    const removed = at(await pending(), 'stopSurplusTriggerPrice')
    assert.ok(
      removed === '' || removed === null || removed === undefined,
      `removed, and not ${String(removed)}`,
    )
    return 'both spellings of the take-profit: set, then removed by 0'
  })
}
