import { expect, test } from 'vitest'
import { ANNA, BERT, ExchangeBench } from '../exchange-bench.ts'

const MARKET = { productType: 'USDT-FUTURES', marginCoin: 'USDT', marginMode: 'crossed' }

async function openBench() {
  const bench = await ExchangeBench.open()
  bench.wait(2000)
  const open = (account: typeof ANNA, symbol: string, item: object) => {
    const order = { size: '0.05', side: 'buy', orderType: 'market', ...item }
    return bench.data(account, 'batchPlaceOrder', {
      body: { ...MARKET, symbol, orderList: [order] },
    })
  }
  const close = (account: typeof ANNA, body: object) => {
    bench.wait(1000)
    return bench.data(account, 'closePositions', { body: { productType: 'USDT-FUTURES', ...body } })
  }
  return { bench, open, close }
}

test('every position is closed at the market, each by an order that fills show', async () => {
  const { bench, open, close } = await openBench()
  open(ANNA, 'BTCUSDT', {})
  open(ANNA, 'ETHUSDT', { side: 'sell' })

  const { successList, failureList } = close(ANNA, {})

  expect([successList?.length, failureList]).toEqual([2, []])
  expect(bench.data(ANNA, 'allPositions')).toEqual([])
  for (const { orderId } of successList ?? []) {
    const query = `orderId=${orderId}&productType=USDT-FUTURES`
    expect(bench.data(ANNA, 'orderFills', { query }).fillList).toMatchObject([
      { tradeSide: 'close' },
    ])
    expect(bench.data(ANNA, 'ordersHistory', { query })).toMatchObject({
      entrustedList: [{ orderId, status: 'filled' }],
    })
  }
})

test('in hedge mode only the direction that is named', async () => {
  const { bench, open, close } = await openBench()
  open(BERT, 'BTCUSDT', { tradeSide: 'open' })
  open(BERT, 'BTCUSDT', { tradeSide: 'open', side: 'sell' })

  expect(close(BERT, { symbol: 'BTCUSDT', holdSide: 'long' }).successList).toHaveLength(1)
  expect(bench.data(BERT, 'allPositions')).toMatchObject([{ holdSide: 'short' }])
})

test('without a position, or of an unknown symbol, it is refused', async () => {
  const { bench } = await openBench()
  const code = (symbol: string) => {
    bench.wait(1000)
    return bench.call(ANNA, 'closePositions', { body: { productType: 'USDT-FUTURES', symbol } })
      .code
  }

  expect([code('BTCUSDT'), code('NOPEUSDT')]).toEqual(['22002', '40034'])
})

test('what resting orders of a hedge position hold is not closed a second time', async () => {
  const { bench, open, close } = await openBench()
  open(BERT, 'BTCUSDT', { tradeSide: 'open' })
  const [ticker] = bench.data(BERT, 'symbolTicker')
  const price = String(Math.ceil(Number(ticker?.lastPr) * 1.01))
  open(BERT, 'BTCUSDT', { tradeSide: 'close', orderType: 'limit', force: 'gtc', price })

  expect(close(BERT, {})).toMatchObject({ successList: [], failureList: [{ errorCode: '40757' }] })
})
