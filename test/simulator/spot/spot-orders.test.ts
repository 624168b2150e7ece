import { describe, expect, test } from 'vitest'
import { ONE } from '../wallet/service-bench.ts'
import { openSpotBench } from './spot-bench.ts'

describe('a limit order', () => {
  test('sets its money aside and fills at its own price when the market goes through it', () => {
    const bench = openSpotBench()
    const before = bench.money('USDT')
    const orderId = bench.place({ price: '64000', size: '0.01' })
    expect(bench.money('USDT').frozen).toBe('640')

    bench.setPrice({ bid: '63998', ask: '63999', last: '63999' })

    expect(bench.order(orderId)).toMatchObject({
      status: 'full_fill',
      price: '64000.0000000000000000',
      priceAvg: '64000.0000000000000000',
      baseVolume: '0.0100000000000000',
      quoteVolume: '640.0000000000000000',
    })
    expect(bench.money('USDT')).toEqual({
      available: String(Number(before.available) - 640),
      frozen: '0',
    })
  })

  test('takes the displayed price when it reaches it, and gets back what it saved', () => {
    const bench = openSpotBench()

    const orderId = bench.place({ price: '65500', size: '0.1' })

    expect(bench.order(orderId)).toMatchObject({
      status: 'full_fill',
      quoteVolume: '6500.0100000000000000',
    })
    expect(bench.money('USDT').frozen).toBe('0')
  })

  test('takes no more than is displayed, and goes on taking while it reaches', () => {
    const bench = openSpotBench()
    bench.setPrice({ size: 0.015384, level: 1000 })
    const orderId = bench.place({ price: '65500', size: '0.03' })
    expect(bench.order(orderId)).toMatchObject({
      status: 'partially_fill',
      baseVolume: '0.0153840000000000',
    })

    bench.setPrice({ ask: '65100' })

    expect(bench.order(orderId)).toMatchObject({ status: 'full_fill' })
    expect(bench.money('USDT').frozen).toBe('0')
  })

  test('that only touches the market gets what is left at that price', () => {
    const bench = openSpotBench()
    const orderId = bench.place({ price: '64000', size: '0.01' })

    bench.setPrice({ bid: '63999', ask: '64000', size: 0.005 })

    expect(bench.order(orderId)).toMatchObject({
      status: 'partially_fill',
      baseVolume: '0.0050000000000000',
    })
  })

  test('fills when a trade went through it, but not by a trade of before', () => {
    const bench = openSpotBench()
    bench.setPrice({ last: '64500', bid: '64999.9', ask: '65000.1' })
    const orderId = bench.place({ price: '64900' })

    bench.setPrice({ bid: '64999.8' })
    expect(bench.status(orderId)).toBe('new')

    bench.setPrice({ last: '64800' })
    expect(bench.status(orderId)).toBe('full_fill')
  })

  test.each(['ioc', 'fok'])(
    '%s that finds nothing is cancelled and gets its money back',
    (force) => {
      const bench = openSpotBench()
      const before = bench.money('USDT')

      const orderId = bench.place({ price: '64000', force })

      expect(bench.order(orderId)).toMatchObject({
        status: 'cancelled',
        cancelReason: 'normal_cancel',
      })
      expect(bench.money('USDT')).toEqual(before)
    },
  )

  test('fok takes all of it or nothing', () => {
    const bench = openSpotBench()
    bench.setPrice({ size: 0.015384, level: 1000 })

    const orderId = bench.place({ price: '65500', size: '0.03', force: 'fok' })

    expect(bench.order(orderId)).toMatchObject({
      status: 'cancelled',
      baseVolume: '0.0000000000000000',
    })
  })

  test('can be cancelled once', () => {
    const bench = openSpotBench()
    const orderId = bench.place({ clientOid: 'mine-1' })
    const request = { symbol: 'BTCUSDT', clientOid: 'mine-1' }

    expect(bench.service.answer('spotCancelOrder', ONE, request, bench.now)).toMatchObject({
      ok: true,
      data: { orderId },
    })
    expect(bench.service.answer('spotCancelOrder', ONE, request, bench.now)).toMatchObject({
      ok: false,
      code: '43001',
    })
    expect(bench.money('USDT').frozen).toBe('0')
  })
})

describe('a market order', () => {
  test('spends quote coin when it buys, and leaves what buys no more base', () => {
    const bench = openSpotBench()

    const orderId = bench.place({ orderType: 'market', size: '20', price: undefined })

    expect(bench.order(orderId)).toMatchObject({
      status: 'full_fill',
      price: '0',
      size: '20.0000000000000000',
      baseVolume: '0.0003070000000000',
      quoteVolume: '19.9550307000000000',
      orderSource: 'market',
    })
    expect(bench.money('USDT').frozen).toBe('0')
  })

  test('has its size in quote coin in the history, a sell in base coin in the detail', () => {
    const bench = openSpotBench()

    const orderId = bench.place({
      side: 'sell',
      orderType: 'market',
      size: '0.01',
      price: undefined,
    })

    expect(bench.order(orderId)).toMatchObject({ size: '649.9990000000000000' })
    const detail = bench.service.answer('spotOrderInfo', ONE, { orderId }, bench.now)
    expect(detail).toMatchObject({
      ok: true,
      data: [{ size: '0.0100000000000000', status: 'filled' }],
    })
  })

  test('walks worse levels, and is cancelled where they end', () => {
    const bench = openSpotBench()
    bench.setPrice({ size: 0.001538, level: 6.5 })

    const orderId = bench.place({ orderType: 'market', size: '5000', price: undefined })

    const order = bench.order(orderId)
    expect(order).toMatchObject({ status: 'cancelled' })
    // Twenty levels: 65000.1, 65006.6, … 65123.6.
    expect(order).toMatchObject({
      baseVolume: '0.0307600000000000',
      priceAvg: '65061.8500000000000000',
    })
    expect(bench.money('USDT').frozen).toBe('0')
  })
})

describe('a take-profit or stop-loss order', () => {
  test('waits for its trigger, then trades', () => {
    const bench = openSpotBench()
    const request = {
      side: 'sell',
      orderType: 'market',
      size: '0.01',
      price: undefined,
      tpslType: 'tpsl',
    }
    const orderId = bench.place({ ...request, triggerPrice: '64000' })
    expect(bench.order(orderId)).toMatchObject({
      status: 'init',
      tpslType: 'tpsl',
      triggerPrice: '64000.0000000000000000',
    })

    bench.setPrice({ bid: '63990', ask: '63991', last: '63990' })

    expect(bench.order(orderId)).toMatchObject({
      status: 'full_fill',
      quoteVolume: '639.9000000000000000',
    })
  })

  test('is filled no better than its trigger, which the price has jumped past', () => {
    const bench = openSpotBench()
    const request = {
      side: 'buy',
      orderType: 'limit',
      price: '63995',
      size: '0.01',
      tpslType: 'tpsl',
    }
    const orderId = bench.place({ ...request, triggerPrice: '64000' })

    bench.setPrice({ bid: '62999', ask: '63000', last: '62999' })

    // The limit is better than the trigger, and what it gets.
    expect(bench.order(orderId)).toMatchObject({
      status: 'full_fill',
      quoteVolume: '639.9500000000000000',
    })
  })

  test('stands in the history of its own kind only', () => {
    const bench = openSpotBench()
    bench.place({ tpslType: 'tpsl', triggerPrice: '66000', price: '66100' })

    expect(bench.service.answer('spotHistoryOrders', ONE, {}, bench.now)).toMatchObject({
      ok: true,
      data: [],
    })
    const own = bench.service.answer('spotHistoryOrders', ONE, { tpslType: 'tpsl' }, bench.now)
    expect(own).toMatchObject({ ok: true, data: [{ status: 'init' }] })
  })
})

describe('self-trade prevention', () => {
  test.each([
    { stpMode: 'none', resting: 'new', incoming: 'full_fill' },
    { stpMode: 'cancel_taker', resting: 'new', incoming: 'cancelled' },
    { stpMode: 'cancel_maker', resting: 'cancelled', incoming: 'full_fill' },
    { stpMode: 'cancel_both', resting: 'cancelled', incoming: 'cancelled' },
  ])('$stpMode leaves the resting order $resting and the incoming one $incoming', (row) => {
    const bench = openSpotBench()
    const resting = bench.place({ side: 'sell', price: '65200', size: '0.01' })
    bench.setPrice({ bid: '65100', ask: '65300' })

    const incoming = bench.place({ price: '65300', size: '0.01', stpMode: row.stpMode })

    expect([bench.status(resting), bench.status(incoming)]).toEqual([row.resting, row.incoming])
    for (const orderId of [resting, incoming]) {
      if (bench.status(orderId) !== 'cancelled') continue
      expect(bench.order(orderId)).toMatchObject({ cancelReason: 'stp_cancel' })
    }
  })

  test('cancel_taker takes what the market has at better prices than its own order, and no more', () => {
    const bench = openSpotBench()
    bench.setPrice({ size: 0.004, level: 1000 })
    bench.place({ side: 'sell', price: '65200', size: '0.01' })

    const incoming = bench.place({ price: '66100', size: '0.01', stpMode: 'cancel_taker' })

    expect(bench.order(incoming)).toMatchObject({
      status: 'cancelled',
      cancelReason: 'stp_cancel',
      baseVolume: '0.0040000000000000',
    })
  })
})

describe('an order is refused', () => {
  test.each([
    ['40034', 'for a pair that is not listed', { symbol: 'DOGEUSDT' }],
    ['40808', 'for too many decimals in its size', { size: '0.0000001' }],
    ['40808', 'for too many decimals in its price', { price: '64000.001' }],
    ['45110', 'below the minimum value', { size: '0.00001' }],
    ['43009', 'as a buy far above the market', { price: '70000' }],
    ['43008', 'as a sell far below the market', { side: 'sell', price: '60000' }],
    ['40815', 'as a post-only buy that would take', { price: '65100', force: 'post_only' }],
    [
      '40816',
      'as a post-only sell that would take',
      { side: 'sell', price: '64900', force: 'post_only' },
    ],
    ['43012', 'beyond the balance', { size: '10' }],
    ['40019', 'without the price of a limit order', { price: undefined }],
    ['40019', 'without the trigger of a tpsl order', { tpslType: 'tpsl' }],
    ['40020', 'with a trigger that is no number', { tpslType: 'tpsl', triggerPrice: 'soon' }],
  ])('with %s %s', (code, _title, request) => {
    const bench = openSpotBench()
    const before = bench.money('USDT')

    expect(bench.tryPlace(request)).toBe(code)

    expect(bench.money('USDT')).toEqual(before)
  })

  test('with 43118 for a clientOid that was used', () => {
    const bench = openSpotBench()
    bench.place({ clientOid: 'twice' })

    expect(bench.tryPlace({ clientOid: 'twice' })).toBe('43118')
  })

  test('with 43128 beyond the open orders of a pair', () => {
    const bench = openSpotBench()
    for (let count = 0; count < 200; count++) bench.place({ size: '0.0001' })

    expect(bench.tryPlace({ size: '0.0001' })).toBe('43128')
    expect(bench.tryPlace({ symbol: 'ETHUSDT', price: '2500', size: '0.01' })).toBe('placed')
  })
})
