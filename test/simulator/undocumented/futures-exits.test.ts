import { expect, test } from 'vitest'
import { ANNA, BERT, ExchangeBench } from '../exchange-bench.ts'

const MARKET = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }
const PROFIT_LOSS = { query: 'planType=profit_loss&productType=USDT-FUTURES' }

async function openPosition(account: typeof ANNA, item: object = {}) {
  const bench = await ExchangeBench.open()
  bench.wait(2000)
  const [ticker] = bench.data(account, 'tickers')
  const last = Number(ticker?.lastPr)
  const prices = {
    takeProfit: String(Math.round(last * 1.2)),
    stopLoss: String(Math.round(last * 0.8)),
  }
  const presets = {
    presetStopSurplusPrice: prices.takeProfit,
    presetStopLossPrice: prices.stopLoss,
  }
  const order = { size: '0.02', side: 'buy', orderType: 'market', ...presets, ...item }
  bench.data(account, 'batchPlaceOrder', {
    body: { ...MARKET, marginMode: 'crossed', orderList: [order] },
  })
  return { bench, prices }
}

test('a position shows its exits, and they are listed under the ids that it names', async () => {
  const { bench, prices } = await openPosition(ANNA)

  const [position] = bench.data(ANNA, 'allPositions')
  const listed = bench.data(ANNA, 'ordersPlanPending', PROFIT_LOSS)

  const { takeProfitId, stopLossId } = position ?? {}
  expect(position).toMatchObject(prices)
  expect(listed).toMatchObject({
    entrustedList: [
      {
        planType: 'pos_loss',
        orderId: stopLossId,
        triggerPrice: prices.stopLoss,
        side: 'sell',
        size: '0.02',
      },
      {
        planType: 'pos_profit',
        orderId: takeProfitId,
        triggerPrice: prices.takeProfit,
        tradeSide: '',
      },
    ],
    endId: takeProfitId,
  })
  expect(bench.data(ANNA, 'ordersPlanPending').entrustedList).toEqual([])
})

test('without exits the fields are empty, and nothing is listed', async () => {
  const none = { presetStopSurplusPrice: '', presetStopLossPrice: '' }
  const { bench } = await openPosition(ANNA, none)

  expect(bench.data(ANNA, 'allPositions')).toMatchObject([
    { takeProfit: '', stopLoss: '', takeProfitId: '', stopLossId: '' },
  ])
  expect(bench.data(ANNA, 'ordersPlanPending', PROFIT_LOSS)).toEqual({
    entrustedList: [],
    endId: '',
  })
})

test('in hedge mode an exit closes a position under its direction', async () => {
  const { bench } = await openPosition(BERT, { tradeSide: 'open', presetStopSurplusPrice: '' })

  expect(bench.data(BERT, 'ordersPlanPending', PROFIT_LOSS)).toMatchObject({
    entrustedList: [{ planType: 'pos_loss', side: 'buy', tradeSide: 'close', posSide: 'long' }],
  })
})

test('an exit is cancelled by its id, and not with all trigger orders', async () => {
  const { bench } = await openPosition(ANNA)
  const [before] = bench.data(ANNA, 'allPositions')
  const orderId = before?.takeProfitId

  const all = bench.data(ANNA, 'cancelPlanOrder', { body: MARKET })
  const one = bench.data(ANNA, 'cancelPlanOrder', {
    body: { ...MARKET, orderIdList: [{ orderId }] },
  })
  const again = bench.data(ANNA, 'cancelPlanOrder', {
    body: { ...MARKET, orderIdList: [{ orderId }] },
  })

  expect(all).toEqual({ successList: [], failureList: [] })
  expect(one).toMatchObject({ successList: [{ orderId }] })
  expect(again).toMatchObject({ failureList: [{ orderId, errorCode: '43025' }] })
  expect(bench.data(ANNA, 'allPositions')).toMatchObject([
    { takeProfit: '', takeProfitId: '', stopLoss: before?.stopLoss },
  ])
})

test('an exit is moved by its id, and never to where the price has been', async () => {
  const { bench, prices } = await openPosition(ANNA)
  const { orderId } = bench.data(ANNA, 'ordersPlanPending', PROFIT_LOSS).entrustedList?.[0] ?? {}
  const [ticker] = bench.data(ANNA, 'tickers')
  const { symbol, productType } = MARKET
  const move = (change: object) =>
    bench.call(ANNA, 'modifyTpslOrder', { body: { ...MARKET, orderId, size: '', ...change } })
  const nearer = String(Math.round(Number(ticker?.lastPr) * 0.9))

  expect(move({ triggerPrice: nearer })).toMatchObject({ code: '00000', data: { orderId } })
  expect(bench.data(ANNA, 'allPositions')).toMatchObject([
    { takeProfit: prices.takeProfit, stopLoss: nearer, stopLossId: orderId },
  ])
  expect(move({ triggerPrice: prices.takeProfit })).toMatchObject({ code: '40917' })
  expect(move({ triggerPrice: nearer, size: '1' })).toMatchObject({ code: '40017' })
  expect(move({ orderId: '150000000000009999', triggerPrice: nearer }).code).not.toBe('00000')
  const asPlan = { body: { orderId, symbol, productType, newTriggerPrice: nearer } }
  expect(bench.call(ANNA, 'modifyPlanOrder', asPlan)).toMatchObject({ code: '43025' })
})
