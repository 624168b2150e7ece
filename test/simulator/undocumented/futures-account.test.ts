import { describe, expect, test } from 'vitest'
import { ANNA, BERT, ExchangeBench } from '../exchange-bench.ts'
import { createMemoryStore } from '../futures/memory-store.ts'

const MARKET = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' }
const BUY = {
  ...MARKET,
  marginMode: 'crossed',
  orderList: [{ size: '0.02', side: 'buy', orderType: 'market' }],
}

describe('the account', () => {
  test('shows its money, its modes and its leverage', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(2000)
    bench.data(ANNA, 'batchPlaceOrder', { body: BUY })

    const one = bench.data(ANNA, 'account')
    const [row] = bench.data(ANNA, 'accounts')

    const [coin] = bench.exchange.ledger(ANNA.uid).coins
    const [held] = bench.exchange.ledger(ANNA.uid).positions
    expect(one).toMatchObject({
      marginCoin: 'USDT',
      posMode: 'one_way_mode',
      marginMode: 'crossed',
      crossedMarginLeverage: '10',
      unrealizedPL: held?.unrealised,
      isolatedUnrealizedPL: '0',
    })
    expect(Number(one.accountEquity)).toBeCloseTo(
      Number(coin?.balance) + Number(held?.unrealised),
      9,
    )
    expect(Number(one.locked)).toBeCloseTo(0, 9)
    expect(row).toMatchObject({ marginCoin: 'USDT', accountEquity: one.accountEquity })
    expect(Number(row?.crossedMargin)).toBeGreaterThan(0)
  })

  test('locks what open orders hold', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(2000)
    const [ticker] = bench.data(ANNA, 'tickers')
    const price = String(Math.floor(Number(ticker?.bidPr) * 0.995))
    bench.data(ANNA, 'batchPlaceOrder', {
      body: {
        ...BUY,
        orderList: [{ size: '0.01', price, side: 'buy', orderType: 'limit', force: 'gtc' }],
      },
    })

    const { locked } = bench.data(ANNA, 'account')

    expect(Number(locked)).toBeGreaterThan(Number(price) * 0.001)
  })

  test('lists every position of a product type', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(2000)
    for (const symbol of ['ETHUSDT', 'BTCUSDT']) {
      const orderList = [{ size: '0.05', side: 'sell', tradeSide: 'open', orderType: 'market' }]
      bench.data(BERT, 'batchPlaceOrder', { body: { ...BUY, symbol, orderList } })
    }

    const rows = bench.data(BERT, 'allPositions')

    expect(rows.map(({ symbol, holdSide }) => `${symbol} ${holdSide}`)).toEqual([
      'BTCUSDT short',
      'ETHUSDT short',
    ])
    expect(bench.data(BERT, 'allPositions', { query: 'productType=COIN-FUTURES' })).toEqual([])
  })

  test('of another margin coin or an unlisted symbol is refused', async () => {
    const bench = await ExchangeBench.open()
    const ask = (query: string) => bench.call(ANNA, 'account', { query }).code

    expect(ask('marginCoin=BTC&productType=USDT-FUTURES&symbol=BTCUSDT')).toBe('40020')
    expect(ask('marginCoin=USDT&productType=USDT-FUTURES&symbol=XRPUSDT')).toBe('40034')
  })
})

describe('modes', () => {
  const leverage = (value: string) => ({ body: { ...MARKET, leverage: value } })
  const mode = (posMode: string) => ({ body: { productType: 'USDT-FUTURES', posMode } })

  test('can be changed while nothing is held or open, and hold for what comes after', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(2000)

    expect(bench.data(ANNA, 'setLeverage', leverage('25'))).toMatchObject({
      longLeverage: '25',
      crossMarginLeverage: '25',
    })
    expect(bench.data(ANNA, 'setMarginMode')).toMatchObject({ marginMode: 'isolated' })
    expect(bench.data(ANNA, 'setPositionMode', mode('hedge_mode'))).toEqual({
      posMode: 'hedge_mode',
    })
    const orderList = [{ size: '0.02', side: 'buy', tradeSide: 'open', orderType: 'market' }]
    bench.data(ANNA, 'batchPlaceOrder', { body: { ...BUY, orderList } })

    expect(bench.data(ANNA, 'singlePosition')).toMatchObject([
      { leverage: '25', posMode: 'hedge_mode', holdSide: 'long' },
    ])
    expect(bench.data(ANNA, 'account')).toMatchObject({
      marginMode: 'isolated',
      isolatedLongLever: '25',
    })
  })

  test('are refused while something is held', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(2000)
    bench.data(ANNA, 'batchPlaceOrder', { body: BUY })

    const codes = [
      bench.call(ANNA, 'setLeverage', leverage('5')).code,
      bench.call(ANNA, 'setMarginMode').code,
      bench.call(ANNA, 'setPositionMode', mode('hedge_mode')).code,
    ]

    expect(codes).toEqual(['22020', '45117', '40920'])
  })

  test('a leverage is refused with what stands against it: a position, or an order', async () => {
    const bench = await ExchangeBench.open()
    bench.wait(2000)
    const [ticker] = bench.data(ANNA, 'tickers')
    const price = String(Math.floor(Number(ticker?.bidPr) * 0.995))
    const resting = { size: '0.01', price, side: 'buy', orderType: 'limit', force: 'gtc' }

    bench.data(ANNA, 'batchPlaceOrder', { body: { ...BUY, orderList: [resting] } })
    const ordered = bench.call(ANNA, 'setLeverage', leverage('5'))
    bench.data(ANNA, 'batchPlaceOrder', { body: BUY })
    const held = bench.call(ANNA, 'setLeverage', leverage('5'))

    expect(ordered).toMatchObject({
      code: '45097',
      msg: expect.stringMatching(/currently an order/),
    })
    expect(held).toMatchObject({ code: '22020', msg: expect.stringMatching(/current position/) })
  })

  test.each([
    ['126', '25223'],
    ['0', '40020'],
    ['2.5', '40020'],
    ['x', '40020'],
  ])('a leverage of %s is refused', async (value, code) => {
    const bench = await ExchangeBench.open()

    expect(bench.call(ANNA, 'setLeverage', leverage(value)).code).toBe(code)
  })

  test('survive a restart, and so do the positions that were opened under them', async () => {
    const store = createMemoryStore()
    const bench = await ExchangeBench.open({ store })
    bench.wait(2000)
    bench.data(ANNA, 'setLeverage', leverage('25'))
    bench.data(ANNA, 'setPositionMode', mode('hedge_mode'))
    const orderList = [{ size: '0.02', side: 'buy', tradeSide: 'open', orderType: 'market' }]
    bench.data(ANNA, 'batchPlaceOrder', { body: { ...BUY, orderList } })

    const again = await ExchangeBench.open({ store, now: bench.now })

    expect(again.data(ANNA, 'singlePosition')).toEqual(bench.data(ANNA, 'singlePosition'))
    expect(again.data(ANNA, 'account')).toMatchObject({
      posMode: 'hedge_mode',
      isolatedLongLever: '25',
    })
  })
})
