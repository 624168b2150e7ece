import { describe, expect, test } from 'vitest'
import { MarginBench, refusalOf } from './margin-bench.ts'

describe.each(['isolated', 'crossed'] as const)('an %s order', (mode) => {
  test('by market buys at the ask what its quote size pays for, and pays its fee in what it gets', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '10000')

    const id = bench.place(mode, { orderType: 'market', quoteSize: '6000.1' })

    expect(bench.order(id)).toMatchObject({ status: 'filled', size: '0.1', amount: '6000.1' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '3999.9', frozen: '0' })
    expect(bench.coin(mode, 'BTC')).toMatchObject({ available: '0.0999' })
    expect(bench.defects()).toEqual([])
  })

  test('by market sells its base size at the bid', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'BTC', '1')

    bench.place(mode, { side: 'sell', orderType: 'market', baseSize: '0.5' })

    expect(bench.coin(mode, 'BTC')).toMatchObject({ available: '0.5' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '29970' })
  })

  test('that rests sets its price aside, and is filled at it when the price goes through', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '10000')
    const id = bench.place(mode, { price: '59000', baseSize: '0.1' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '4100', frozen: '5900' })

    bench.show('BTCUSDT', '58000', '58001')

    expect(bench.order(id)).toMatchObject({ status: 'filled', price: '59000', amount: '5900' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '4100', frozen: '0' })
  })

  test('above the ask takes at the ask and gets the difference back', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '10000')

    const id = bench.place(mode, { price: '61000', baseSize: '0.1' })

    expect(bench.order(id)).toMatchObject({ status: 'filled', amount: '6000.1' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '3999.9', frozen: '0' })
  })

  test('whose price is touched gets what is displayed, at the next quote the next of it', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '100000')
    const id = bench.place(mode, { price: '50000', baseSize: '1.5' })

    bench.show('BTCUSDT', '49999', '50000')
    expect(bench.open(mode)[0]).toMatchObject({
      status: 'partial_fill',
      size: '1',
      amount: '50000',
    })
    bench.show('BTCUSDT', '49999', '50000')

    expect(bench.order(id)).toMatchObject({ status: 'filled', size: '1.5', amount: '75000' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '25000', frozen: '0' })
  })

  test('goes on taking at the market price, not at its own, until a price does not reach it', () => {
    const level = 20_000
    const bench = new MarginBench({ prices: { BTCUSDT: { bid: '49999', ask: '50000', level } } })
    bench.deposit(mode, 'USDT', '200000')
    const id = bench.place(mode, { price: '55000', baseSize: '3' })
    expect(bench.order(id)).toMatchObject({ size: '1', amount: '50000' })

    bench.show('BTCUSDT', '39999', '40000', { level })
    expect(bench.order(id)).toMatchObject({ size: '2.25', amount: '100000' })
    bench.show('BTCUSDT', '55999', '56000')
    bench.show('BTCUSDT', '54000', '54001')

    expect(bench.order(id)).toMatchObject({ status: 'filled', size: '3', amount: '141250' })
  })

  test('post only that would take is rejected, and what it set aside is free', () => {
    const bench = new MarginBench()
    bench.deposit(mode, 'USDT', '10000')

    const id = bench.place(mode, { price: '60001', baseSize: '0.1', force: 'post_only' })

    expect(bench.order(id)).toMatchObject({ status: 'reject', size: '0' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '10000', frozen: '0' })
  })

  test('ioc takes what is displayed and cancels the rest; fok takes all of it or nothing', () => {
    const bench = new MarginBench({
      prices: { BTCUSDT: { bid: '49999', ask: '50000', last: '50000' } },
    })
    bench.deposit(mode, 'USDT', '500000')

    const whole = bench.place(mode, { price: '50000', baseSize: '2', force: 'fok' })
    const part = bench.place(mode, { price: '50000', baseSize: '2', force: 'ioc' })

    expect(bench.order(whole)).toMatchObject({ status: 'cancelled', size: '0' })
    expect(bench.order(part)).toMatchObject({ status: 'cancelled', size: '1' })
    expect(bench.coin(mode, 'USDT')).toMatchObject({ available: '450000', frozen: '0' })
  })

  test('by market walks a tick a level, and its rest is cancelled after the last', () => {
    const bench = new MarginBench({
      levelsMax: 2,
      prices: { BTCUSDT: { bid: '50000', ask: '50000.01', last: '50000' } },
    })
    bench.deposit(mode, 'BTC', '10')

    const id = bench.place(mode, { side: 'sell', orderType: 'market', baseSize: '5' })

    expect(bench.order(id)).toMatchObject({ status: 'cancelled', size: '2', amount: '99999.99' })
    expect(bench.coin(mode, 'BTC')).toMatchObject({ available: '8', frozen: '0' })
  })
})

describe('an order is refused', () => {
  const cases = [
    ['an unknown symbol', { symbol: 'XRPUSDT' }, '40034 Parameter XRPUSDT does not exist'],
    ['no price', { price: undefined }, '40019 Parameter price cannot be empty'],
    [
      'a price between ticks',
      { price: '59000.001' },
      '45115 The price you enter should be a multiple of 0.01',
    ],
    ['a price that is none', { price: '-1' }, '40020 Parameter price error'],
    ['no size', { baseSize: undefined }, '40019 Parameter baseSize cannot be empty'],
    [
      'a size between lots',
      { baseSize: '0.0000001' },
      '40808 Parameter verification exception baseSize checkBDScale error value=0.0000001 checkScale=6',
    ],
    [
      'a size below the smallest',
      { baseSize: '0.00009' },
      '45111 less than the minimum order quantity',
    ],
    ['a value below the smallest', { price: '1' }, '45110 less than the minimum amount 1 USDT'],
    ['the wrong size', { quoteSize: '5' }, '40017 Parameter verification failed quoteSize'],
    [
      'a price by market',
      { orderType: 'market', quoteSize: '5', baseSize: undefined },
      '40017 Parameter verification failed price',
    ],
    ['too little money', { baseSize: '1' }, '50020 Insufficient balance'],
    ['a clientOid that was used', { clientOid: 'first' }, '50060 Duplicated clientOid'],
  ] as const

  test.each(cases)('with %s, and nothing changes', (_, order, refusal) => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '10000')
    bench.place('isolated', { price: '59000', baseSize: '0.01', clientOid: 'first' })
    const before = bench.wallet.statement('1001')

    const reply = bench.tryPlace('isolated', { price: '59000', baseSize: '0.1', ...order })

    expect(refusalOf(reply)).toBe(refusal)
    expect(bench.wallet.statement('1001')).toEqual(before)
  })

  test('beyond the open orders of a mode, and taken again when one has ended', () => {
    const bench = new MarginBench({ openOrdersMax: 2 })
    bench.deposit('isolated', 'USDT', '10000')
    bench.place('isolated', { price: '59000', baseSize: '0.01' })
    bench.place('isolated', { price: '58000', baseSize: '0.01' })

    expect(refusalOf(bench.tryPlace('isolated', { price: '57000', baseSize: '0.01' }))).toBe(
      '50048 The maximum number of orders is exceeded',
    )
    bench.show('BTCUSDT', '58500', '58501')

    expect(bench.tryPlace('isolated', { price: '57000', baseSize: '0.01' }).ok).toBe(true)
  })

  test('while no price is displayed', () => {
    const bench = new MarginBench({ prices: {} })

    expect(refusalOf(bench.tryPlace('isolated', { price: '1', baseSize: '1' }))).toBe(
      '50029 The trading pair has no order price',
    )
  })
})
