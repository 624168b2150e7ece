import { marginLedger } from '../../../src/simulator/margin/margin.ts'
import { describe, expect, test } from 'vitest'
import { ALICE, dataOf, DAY_MS, HOUR_MS, MarginBench } from './margin-bench.ts'

const long = { orderType: 'market', loanType: 'autoLoan' } as const
const short = { side: 'sell', orderType: 'market', loanType: 'autoLoan' } as const

describe('an isolated balance', () => {
  test('is taken over when its risk ratio reaches 1, and not before', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '1000')
    bench.place('isolated', { ...long, quoteSize: '9000' })

    bench.show('BTCUSDT', '56100', '56101')
    expect(bench.records('isolated', 'place_order')).toEqual([])
    expect(
      Number(marginLedger(bench.service.state, ALICE.uid).balances[0]?.riskRatio),
    ).toBeGreaterThan(0.98)
    bench.show('BTCUSDT', '56050', '56051')

    expect(bench.records('isolated', 'place_order')).toHaveLength(1)
    expect(bench.coin('isolated', 'USDT')).toMatchObject({
      frozen: '0',
      borrowed: '0',
      interest: '0',
    })
  })

  test('that is long sells all its base coin, pays, and swaps the dust', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '1000')
    bench.place('isolated', { ...long, quoteSize: '9000' })

    bench.show('BTCUSDT', '56000', '56001')

    // 0.149997 bought, less the fee of 0.00015: 0.149847.
    const [order, ...others] = bench.records('isolated', 'place_order')
    expect(others).toEqual([])
    expect(order).toEqual({
      symbol: 'BTCUSDT',
      orderType: 'market',
      side: 'liquidation-sell',
      orderId: order?.orderId,
      priceAvg: '56000',
      price: '56000',
      fillSize: '0.149847',
      size: '0.149847',
      amount: '8391.432',
      fromCoin: '',
      toCoin: '',
      fromSize: '',
      toSize: '',
      cTime: String(bench.now),
      uTime: String(bench.now),
    })
    expect(bench.coin('isolated', 'BTC').available).toBe('0')
    expect(bench.defects()).toEqual([])
  })

  test('that is short buys back what it owes, and the lot dust is swapped into the quote coin', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '1000')
    bench.place('isolated', { ...short, baseSize: '0.1234' })
    bench.wait(3 * HOUR_MS)

    bench.show('BTCUSDT', '65000', '65001')

    const [order] = bench.records('isolated', 'place_order')
    expect(order).toMatchObject({ side: 'liquidation-buy', priceAvg: '65001' })
    const [swap] = bench.records('isolated', 'swap')
    expect(swap).toMatchObject({
      symbol: '',
      orderType: '',
      side: '',
      priceAvg: '',
      price: '',
      fillSize: '',
      size: '',
      amount: '',
      fromCoin: 'BTC',
      toCoin: 'USDT',
    })
    expect(Number(swap?.fromSize)).toBeGreaterThan(0)
    expect(bench.coin('isolated', 'BTC')).toEqual({
      available: '0',
      frozen: '0',
      borrowed: '0',
      interest: '0',
    })
    expect(bench.defects()).toEqual([])
  })

  test('whose equity is gone leaves no debt: the insurance fund pays', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '1000')
    bench.place('isolated', { ...long, quoteSize: '9000' })

    bench.show('BTCUSDT', '40000', '40001')

    expect(bench.coin('isolated', 'USDT')).toEqual({
      available: '0',
      frozen: '0',
      borrowed: '0',
      interest: '0',
    })
    const usdt = bench.wallet.statement(ALICE.uid).find(({ coin }) => coin === 'USDT')
    expect(Number(usdt?.bookings.insurance)).toBeGreaterThan(1900)
    expect(bench.defects()).toEqual([])
  })

  test('loses its own orders and keeps those of other balances', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '1000')
    bench.deposit('isolated', 'USDT', '1000', 'ETHUSDT')
    bench.place('isolated', { ...long, quoteSize: '9000' })
    const own = bench.place('isolated', { side: 'sell', price: '90000', baseSize: '0.01' })
    const other = bench.place('isolated', { symbol: 'ETHUSDT', price: '2000', baseSize: '0.1' })

    bench.show('BTCUSDT', '56000', '56001')

    expect(bench.order(own).status).toBe('cancelled')
    expect(bench.order(other).status).toBe('live')
  })

  test('that is large is sold at once, level by level, and its owner trades on', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '20000')
    bench.place('isolated', { ...long, quoteSize: '180000' })

    bench.show('BTCUSDT', '56000', '56001')

    // 0.89 are displayed, and 2.997 sold: four levels, a hundredth apart.
    const [forced, ...others] = bench.records('isolated', 'place_order')
    expect(others).toEqual([])
    expect(forced).toMatchObject({
      price: '56000',
      fillSize: forced?.size ?? '',
      cTime: String(bench.now),
    })
    expect(Number(forced?.size)).toBeGreaterThan(2.99)
    expect(Number(forced?.priceAvg)).toBeCloseTo(55_999.987, 2)
    expect(bench.order(forced?.orderId ?? '')).toMatchObject({
      side: 'sell',
      status: 'filled',
      enterPointSource: 'SYS',
      orderType: 'market',
      price: '56000',
      loanType: 'autoRepay',
    })
    expect(bench.open('isolated')).toEqual([])
    expect(bench.tryPlace('isolated', { price: '50000', baseSize: '0.0001' }).ok).toBe(true)
    expect(bench.defects()).toEqual([])
  })
})

describe('a crossed balance', () => {
  test('sells as much as its debt takes, and says so in the side of its order', () => {
    const bench = new MarginBench()
    bench.deposit('crossed', 'BTC', '5')
    bench.place('crossed', { ...long, symbol: 'ETHUSDT', quoteSize: '500000' })

    bench.show('ETHUSDT', '1300', '1300.1')
    bench.show('BTCUSDT', '35000', '35001')

    const records = bench.records('crossed', 'place_order')
    expect(records.length).toBeGreaterThan(0)
    expect(bench.order(records[0]?.orderId ?? '')).toMatchObject({
      side: 'liquidation-sell',
      enterPointSource: 'SYS',
      status: 'filled',
    })
    expect(records.every(({ amount, priceAvg }) => amount !== '' && priceAvg !== '')).toBe(true)
    expect(bench.coin('crossed', 'USDT')).toMatchObject({ borrowed: '0', interest: '0' })
    expect(bench.defects()).toEqual([])
  })

  test('swaps between coins that have no pair', () => {
    const bench = new MarginBench()
    bench.deposit('crossed', 'BTC', '0.1')
    const loan = { mode: 'crossed', coin: 'ETH', amount: '4' } as const
    dataOf(bench.borrow(loan))
    bench.place('crossed', { ...short, symbol: 'ETHUSDT', baseSize: '4', loanType: 'normal' })

    bench.show('ETHUSDT', '3800', '3800.1')

    expect(bench.records('crossed', 'place_order')[0]).toMatchObject({
      symbol: 'ETHUSDT',
      side: 'liquidation-buy',
    })
    const [swap] = bench.records('crossed', 'swap')
    expect(swap).toMatchObject({ fromCoin: 'BTC', toCoin: 'ETH' })
    expect(Number(swap?.toSize)).toBeGreaterThan(1)
    expect(bench.coin('crossed', 'ETH')).toMatchObject({ borrowed: '0', interest: '0' })
    expect(bench.defects()).toEqual([])
  })

  test('writes the filled amount where an isolated one writes the order amount', () => {
    const bench = new MarginBench()
    for (const mode of ['isolated', 'crossed'] as const) {
      bench.deposit(mode, 'USDT', '20000')
      bench.place(mode, { ...long, quoteSize: mode === 'isolated' ? '180000' : '55000' })
    }

    bench.show('BTCUSDT', '56000', '56001')
    for (const bid of ['55500', '55000', '54500', '39000']) bench.show('BTCUSDT', bid, `${bid}.5`)

    const [isolated] = bench.records('isolated', 'place_order')
    const [crossed] = bench.records('crossed', 'place_order')
    expect(Number(isolated?.amount)).toBeCloseTo(
      Number(isolated?.price) * Number(isolated?.size),
      6,
    )
    expect(Number(isolated?.priceAvg)).toBeLessThan(Number(isolated?.price))
    expect(Number(crossed?.amount)).toBeCloseTo(
      Number(crossed?.priceAvg) * Number(crossed?.fillSize),
      3,
    )
  })

  test.each([
    ['sells for a debt in quote coin', 'USDT', '100000', 'systemRepay-selll'],
    ['buys a base coin that it owes', 'BTC', '2', 'systemRepay-buy'],
  ] as const)('whose loan has run out %s', (_, coin, amount, side) => {
    const bench = new MarginBench({ loanTermMs: 30 * DAY_MS })
    bench.deposit('crossed', coin === 'USDT' ? 'BTC' : 'USDT', coin === 'USDT' ? '5' : '300000')
    dataOf(bench.borrow({ mode: 'crossed', coin, amount }))
    if (coin === 'USDT') bench.place('crossed', { orderType: 'market', quoteSize: amount })
    else bench.place('crossed', { side: 'sell', orderType: 'market', baseSize: amount })

    bench.wait(30 * DAY_MS - HOUR_MS)
    expect(bench.order(bench.lastEnded())).toMatchObject({ enterPointSource: 'API' })
    bench.wait(HOUR_MS)

    expect(bench.order(bench.lastEnded())).toMatchObject({
      side,
      status: 'filled',
      enterPointSource: 'SYS',
    })
    expect(bench.coin('crossed', coin)).toMatchObject({ borrowed: '0', interest: '0' })
    expect(bench.records('crossed', 'place_order')).toEqual([])
    expect(bench.defects()).toEqual([])
  })
})

test('the side of a record is written as the document’s table has it when that is asked for', () => {
  const bench = new MarginBench({ liquidationSide: 'underscore' })
  bench.deposit('isolated', 'USDT', '1000')
  bench.place('isolated', { ...long, quoteSize: '9000' })

  bench.show('BTCUSDT', '56000', '56001')

  expect(bench.records('isolated', 'place_order')[0]?.side).toBe('liquidation_sell')
})
