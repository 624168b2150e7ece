import assert from 'node:assert/strict'
import { type ConformedExchange } from '../exchange.ts'
import { at, listAt, numberAt, textAt } from '../read.ts'
import { type Report } from '../report.ts'
import { restingPrice } from './futures-orders.ts'

const SYMBOL = 'BTC/USDT:USDT'
const PLACE = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  marginMode: 'isolated',
}
const POSITION = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }

/** Long and short at a time: the direction rules of the document. */
export async function tryHedgeMode(report: Report, exchange: ConformedExchange): Promise<void> {
  const ccxt = await exchange.ccxt('hedge')
  const sdk = await exchange.sdk('hedge')
  await ccxt.loadMarkets()

  const totals = async () => {
    const rows = listAt((await sdk.getFuturesPosition(POSITION)).data)
    for (const row of rows) assert.equal(at(row, 'posMode'), 'hedge_mode')
    return Object.fromEntries(rows.map((row) => [textAt(row, 'holdSide'), numberAt(row, 'total')]))
  }

  await report.try('SDK opens long and short in one batch, hedge', async () => {
    const open = { size: '0.03', orderType: 'market', tradeSide: 'open' }
    const orderList = [
      { ...open, side: 'buy', clientOid: 'hedge-long' },
      { ...open, side: 'sell', clientOid: 'hedge-short' },
    ]
    const { data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    assert.equal(listAt(data, 'successList').length, 2, JSON.stringify(data))
    assert.deepEqual(await totals(), { long: 0.03, short: 0.03 })
    return 'buy/open and sell/open: long 0.03, short 0.03'
  })

  await report.try('SDK closes by the document’s rule, hedge', async () => {
    const close = { size: '0.01', orderType: 'market', tradeSide: 'close' }
    const orderList = [
      { ...close, side: 'buy' },
      { ...close, side: 'sell' },
    ]
    const { data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    assert.equal(listAt(data, 'successList').length, 2, JSON.stringify(data))
    assert.deepEqual(await totals(), { long: 0.02, short: 0.02 })
    return 'buy/close the long, sell/close the short: 0.02 each'
  })

  await report.try('ccxt opens and closes with hedged orders', async () => {
    const hedged = { hedged: true, marginMode: 'isolated' }
    await ccxt.createOrder(SYMBOL, 'market', 'buy', 0.02, undefined, hedged)
    assert.deepEqual(await totals(), { long: 0.04, short: 0.02 })
    await ccxt.createOrder(SYMBOL, 'market', 'sell', 0.01, undefined, {
      ...hedged,
      reduceOnly: true,
    })
    assert.deepEqual(await totals(), { long: 0.03, short: 0.02 })
    return 'Open and Close as ccxt writes them: long 0.03, short 0.02'
  })

  await report.try('ccxt reads both positions', async () => {
    const rows = (await ccxt.fetchPositions([SYMBOL])).map(
      (row) => `${textAt(row, 'side')} ${numberAt(row, 'contracts')}`,
    )
    assert.deepEqual(rows.sort(), ['long 0.03', 'short 0.02'])
    return 'all positions: long 0.03, short 0.02'
  })

  await report.try('SDK closes long by a resting limit order, hedge', async () => {
    const price = await restingPrice(sdk)
    const above = String(Math.ceil(price / 0.95) + 2000)
    const orderList = [
      {
        size: '0.01',
        orderType: 'limit',
        force: 'gtc',
        side: 'buy',
        tradeSide: 'close',
        price: above,
      },
    ]
    const { data } = await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    assert.equal(listAt(data, 'successList').length, 1, JSON.stringify(data))
    const rows = listAt((await sdk.getFuturesPosition(POSITION)).data)
    const long = rows.find((row) => at(row, 'holdSide') === 'long')
    assert.equal(numberAt(long, 'locked'), 0.01)
    assert.equal(numberAt(long, 'available'), 0.02)
    return 'locked 0.01, available 0.02 of the long'
  })

  await report.try('ccxt changes the position mode only when flat', async () => {
    const refused = await exchange.refusalOf(() => ccxt.setPositionMode(false, SYMBOL))
    await sdk.futuresCancelAllOrders({ productType: 'USDT-FUTURES' })
    const close = { orderType: 'market', tradeSide: 'close' }
    const orderList = [
      { ...close, side: 'buy', size: '0.03' },
      { ...close, side: 'sell', size: '0.02' },
    ]
    await sdk.futuresBatchSubmitOrders({ ...PLACE, orderList })
    await ccxt.setPositionMode(false, SYMBOL)
    const { data } = await sdk.getFuturesAccountAsset(POSITION)
    assert.equal(at(data, 'posMode'), 'one_way_mode')
    return `refused with ${refused.code} while it holds; then one_way_mode`
  })
}
