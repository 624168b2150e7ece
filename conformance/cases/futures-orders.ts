import assert from 'node:assert/strict'
import { type Sdk } from '../clients.ts'
import { type ConformedExchange } from '../exchange.ts'
import { assertAllowed, assertFields, assertNewestFirst, at, listAt, numberAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'

const SYMBOL = 'BTC/USDT:USDT'
const PLACE = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT', marginMode: 'crossed' }
const ETH_PLACE = { ...PLACE, symbol: 'ETHUSDT' }
const QUERY = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES' }

/** Document: Futures fill. */
const FILL_FIELDS = [
  ...['tradeId', 'symbol', 'orderId', 'price', 'baseVolume', 'quoteVolume', 'side', 'profit'],
  ...['enterPointSource', 'tradeSide', 'posMode', 'tradeScope', 'cTime'],
]

/** Document: Futures position. */
const POSITION_FIELDS = [
  ...['symbol', 'marginCoin', 'holdSide', 'openDelegateSize', 'marginSize', 'available', 'locked', 'total'],
  ...['leverage', 'achievedProfits', 'openPriceAvg', 'marginMode', 'posMode', 'unrealizedPL'],
  ...['liquidationPrice', 'keepMarginRate', 'markPrice', 'marginRatio', 'breakEvenPrice', 'totalFee'],
  ...['deductedFee', 'assetMode', 'cTime', 'uTime'],
]

/** A price so far below the market that nothing trades there, and the same as a multiple of the tick. */
export async function restingPrice(sdk: Sdk, symbol = 'BTCUSDT'): Promise<number> {
  const { data } = await sdk.getFuturesAllTickers({ productType: 'USDT-FUTURES' })
  const row = listAt(data).find((ticker) => at(ticker, 'symbol') === symbol)
  return Math.floor(numberAt(row, 'lastPr') * 0.95)
}

/** Orders in one-way mode: placed, refused, doubled, cancelled, filled, read. */
export async function tryFuturesOrders(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('oneWay')
  const sdk = await exchange.sdk('oneWay')
  await ccxt.loadMarkets()
  const price = await restingPrice(sdk)
  const limitItem = { size: '0.01', price: String(price), side: 'buy', orderType: 'limit', force: 'gtc' }

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
    const { data } = await sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES', symbol: 'BTCUSDT' })
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

  await report.try('ccxt trades at the market, buys and sells', async () => {
    const sides = ['buy', 'buy', 'sell'] as const
    const orders = await ccxt.createOrders(
      sides.map((side, index) => ({
        symbol: SYMBOL,
        type: 'market' as const,
        side,
        amount: 0.02,
        params: { clientOid: `market-${index}` },
      })),
    )
    const trades = await ccxt.fetchMyTrades(SYMBOL)
    for (const [index, { id }] of orders.entries()) {
      const own = trades.filter(({ order }) => order === id)
      const amount = own.reduce((sum, trade) => sum + trade.amount, 0)
      assert.ok(Math.abs(amount - 0.02) < 1e-9, `order ${index} is filled`)
      assert.ok(own.every(({ side, takerOrMaker }) => side === sides[index] && takerOrMaker === 'taker'))
    }
    return '3 orders filled as taker, on their sides'
  })

  await report.try('ccxt position is the sum of the fills', async () => {
    const trades = await ccxt.fetchMyTrades(SYMBOL, undefined, 100)
    const held = trades.reduce((sum, { side, amount }) => sum + (side === 'buy' ? amount : -amount), 0)
    const position = await ccxt.fetchPosition(SYMBOL)
    assert.ok(Math.abs(numberAt(position, 'contracts') - held) < 1e-9, `${held} held`)
    assert.equal(at(position, 'side'), 'long')
    assert.equal(at(position, 'hedged'), false)
    assert.equal(at(position, 'marginMode'), 'cross')
    return `contracts ${held.toFixed(3)}, long, cross, not hedged`
  })

  await report.try('SDK position has the documented fields', async () => {
    const { data } = await sdk.getFuturesPosition({ ...QUERY, marginCoin: 'USDT' })
    const rows = listAt(data)
    assert.equal(rows.length, 1)
    assertFields(rows, POSITION_FIELDS)
    assertAllowed(rows, 'holdSide', ['long', 'short'])
    assertAllowed(rows, 'marginMode', ['isolated', 'crossed'])
    assertAllowed(rows, 'posMode', ['one_way_mode'])
    assertAllowed(rows, 'assetMode', ['single', 'union'])
    const [row] = rows
    const sum = numberAt(row, 'available') + numberAt(row, 'locked')
    assert.ok(Math.abs(numberAt(row, 'total') - sum) < 1e-9, 'total is available and locked')
    return `${POSITION_FIELDS.length} fields; total = available + locked`
  })

  await report.try('SDK position of a symbol that is flat', async () => {
    const { data } = await sdk.getFuturesPosition({ ...QUERY, symbol: 'ETHUSDT', marginCoin: 'USDT' })
    assert.deepEqual(listAt(data), [])
    return 'an empty list'
  })

  await report.try('SDK pages through the fills', async () => {
    const orderList = Array.from({ length: 12 }, (_, index) => ({
      ...{ size: '0.1', side: index % 2 === 0 ? 'buy' : 'sell', orderType: 'market' },
    }))
    await sdk.futuresBatchSubmitOrders({ ...ETH_PLACE, orderList })
    const query = { productType: 'USDT-FUTURES', symbol: 'ETHUSDT' }
    const whole = listAt((await sdk.getFuturesFills(query)).data, 'fillList')
    assertFields(whole, FILL_FIELDS)
    assertAllowed(whole, 'tradeScope', ['taker', 'maker'])
    assertAllowed(whole, 'tradeSide', ['open', 'close'])
    assertNewestFirst(whole, 'tradeId')
    for (const fill of whole) {
      assertFields(listAt(fill, 'feeDetail'), ['deduction', 'feeCoin', 'totalFee'])
    }
    const paged = await readPages(sdk, query, 5)
    assert.deepEqual(
      paged.rows.map((row) => at(row, 'tradeId')),
      whole.map((row) => at(row, 'tradeId')),
      'the pages together are the whole',
    )
    return `${whole.length} fills, newest first, in ${paged.pages} pages of 5`
  })

  await report.try('SDK fees of fills, totalDeductionFee as a String', async () => {
    const { data } = await sdk.getFuturesFills({ productType: 'USDT-FUTURES' })
    const fees = listAt(data, 'fillList').flatMap((fill) => listAt(fill, 'feeDetail'))
    assertFields(fees, ['totalDeductionFee'])
    return `${fees.length} fees`
  })

  await report.try('ccxt pages through the fills', async () => {
    // By hand: its own pagination looks for endId in the fills themselves, and ends after one page anywhere.
    const ids: string[] = []
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const cursor = ids.length === 0 ? {} : { idLessThan: ids.reduce(lesserId) }
      const page = await ccxt.fetchMyTrades('ETH/USDT:USDT', undefined, 5, cursor)
      ids.push(...page.map(({ id }) => id))
      if (page.length < 5) break
    }
    const { data } = await sdk.getFuturesFills({ productType: 'USDT-FUTURES', symbol: 'ETHUSDT' })
    assert.equal(new Set(ids).size, ids.length, 'none twice')
    assert.equal(ids.length, listAt(data, 'fillList').length)
    return `${ids.length} fills, none twice`
  })

  await report.try('SDK fills of one order, and of a span of time', async () => {
    const all = listAt((await sdk.getFuturesFills(QUERY)).data, 'fillList')
    const orderId = textAt(all[0], 'orderId')
    const own = listAt((await sdk.getFuturesFills({ ...QUERY, orderId })).data, 'fillList')
    assert.ok(own.length > 0 && own.every((fill) => at(fill, 'orderId') === orderId))
    const endTime = textAt(all.at(-1), 'cTime')
    const early = listAt((await sdk.getFuturesFills({ ...QUERY, endTime })).data, 'fillList')
    assert.ok(early.every((fill) => numberAt(fill, 'cTime') <= Number(endTime)))
    assert.ok(early.length < all.length)
    return `${own.length} of the order, ${early.length} of ${all.length} up to endTime`
  })

  await report.try('ccxt places and modifies a trigger order', async () => {
    // As texts: ccxt puts numbers of `params` into the body as they are, see the next case.
    const [first, second] = [String(price - 100), String(price - 200)]
    const placed = await ccxt.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, { triggerPrice: first })
    await ccxt.editOrder(placed.id, SYMBOL, 'market', 'sell', 0.02, undefined, { triggerPrice: second })
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
    const pending = async () => listAt((await sdk.getFuturesPlanOrders(plan)).data, 'entrustedList')[0]
    const orderId = textAt(await pending(), 'orderId')
    await sdk.futuresModifyPlanOrder({
      ...{ orderId, productType: 'USDT-FUTURES' },
      newStopSurplusTriggerPrice: String(price - 3000),
      newStopSurplusTriggerType: 'mark_price',
    })
    assert.equal(numberAt(await pending(), 'stopSurplusTriggerPrice'), price - 3000, 'the take-profit is set')
    const answer = await sdk.futuresModifyPlanOrder({
      ...{ orderId, productType: 'USDT-FUTURES', newSurplusTriggerPrice: '0' },
    })
    assertFields([answer.data], ['orderId', 'clientOid'])
    const removed = at(await pending(), 'stopSurplusTriggerPrice')
    assert.ok(
      removed === '' || removed === null || removed === undefined,
      `removed, and not ${String(removed)}`,
    )
    return 'both spellings of the take-profit: set, then removed by 0'
  })

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

async function readPages(sdk: Sdk, query: Readonly<Record<string, string>>, limit: number) {
  const rows: unknown[] = []
  let idLessThan: string | undefined
  for (let pages = 1; pages <= PAGES_MAX; pages++) {
    const { data } = await sdk.getFuturesFills({ ...query, limit: String(limit), idLessThan })
    const page = listAt(data, 'fillList')
    assert.ok(page.length <= limit)
    rows.push(...page)
    if (page.length < limit) return { rows, pages }
    idLessThan = textAt(data, 'endId')
    assert.equal(idLessThan, at(page.at(-1), 'tradeId'), 'endId is the final trade id')
  }
  assert.fail('the pages do not end')
}

const PAGES_MAX = 8

function lesserId(left: string, right: string): string {
  return BigInt(left) < BigInt(right) ? left : right
}
