import { describe, expect, test } from 'vitest'
import {
  Bench,
  benchInstruments,
  failures,
  limit,
  market,
  openAccount,
  type ItemText,
} from './bench.ts'

describe('a tradeSide that does not fit the position mode', () => {
  const without = market('buy', '0.1', { clientOid: 'without' })
  const withSide = market('buy', '0.1', { clientOid: 'with', tradeSide: 'open' })

  test.each([
    ['sent in one-way mode', '1', 'without', 'with'],
    ['missing in hedge mode', '2', 'with', 'without'],
  ])('%s fails that order, and the others are placed', (_what, uid, placed, failed) => {
    const bench = new Bench()

    const result = bench.place(uid, [withSide, without])

    expect(result.successList).toMatchObject([{ clientOid: placed }])
    expect(result.failureList).toMatchObject([
      { orderId: '', clientOid: failed, errorCode: '40774' },
    ])
  })

  test('on every order is a success of the envelope with every order failed', () => {
    const bench = new Bench()

    const result = bench.place('1', [withSide, { ...withSide, clientOid: 'again' }])

    expect(result.successList).toEqual([])
    expect(result.failureList.map(({ errorCode }) => errorCode)).toEqual(['40774', '40774'])
    expect(bench.core.ledger('1').counts).toMatchObject({ ordersAccepted: 0, ordersRefused: 2 })
  })

  test('leaves the clientOid free', () => {
    const bench = new Bench()
    bench.place('1', [withSide])

    expect(failures(bench.place('1', [market('buy', '0.1', { clientOid: 'with' })]))).toEqual([])
  })
})

test('the refusal of a stop-loss names the mark price as prices are written', () => {
  const bench = new Bench()
  bench.quote({ bid: 60_000.3, ask: 60_000.4 })

  const item = limit('buy', '0.1', '59000', { presetStopLossPrice: '59500' })

  expect(failures(bench.place('1', [item]))).toEqual([
    expect.stringMatching(/^40917 Stop price for long positions please < mark price \d{5}(\.\d)?$/),
  ])
})

describe('the whole request is refused', () => {
  test('an unknown symbol, or one of another product type', () => {
    const { core, now } = new Bench()
    const request = {
      symbol: 'NOPEUSDT',
      productType: 'USDT-FUTURES' as const,
      marginCoin: 'USDT',
      marginMode: 'crossed' as const,
      orderList: [{ ...market('buy', '0.1'), orderType: 'market' as const }],
    }

    expect(core.answer('batchPlaceOrder', { uid: '1' }, request, now)).toMatchObject({
      ok: false,
      code: '40034',
    })
    expect(
      core.answer(
        'batchPlaceOrder',
        { uid: '1' },
        { ...request, symbol: 'BTCUSDT', productType: 'COIN-FUTURES' },
        now,
      ),
    ).toMatchObject({ ok: false, code: '40034', message: 'Parameter BTCUSDT does not exist' })
    expect(
      core.answer(
        'batchPlaceOrder',
        { uid: '1' },
        { ...request, symbol: 'BTCUSDT', marginCoin: 'USDC' },
        now,
      ),
    ).toMatchObject({ ok: false, code: '40020' })
  })

  test('another margin mode than that of the symbol’s position or open orders', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.1', '59900')], { marginMode: 'isolated' })

    expect(bench.tryPlace('1', [market('buy', '0.1')], { marginMode: 'crossed' })).toMatchObject({
      ok: false,
      code: '45117',
    })
    bench.cancelAll('1')
    expect(bench.tryPlace('1', [market('buy', '0.1')], { marginMode: 'crossed' })).toMatchObject({
      ok: true,
    })
  })
})

describe('one item is refused and the others are placed', () => {
  const cases: readonly (readonly [string, ItemText, string])[] = [
    [
      'a size below the minimum',
      market('buy', '0.0004'),
      '45111 less than the minimum order quantity',
    ],
    [
      'a size with too many decimals',
      market('buy', '0.1234'),
      '40808 Parameter verification exception size checkBDScale error value=0.1234 checkScale=3',
    ],
    [
      'a size above the maximum',
      market('buy', '220.001'),
      '45112 more than the maximum order quantity',
    ],
    ['a size beyond all numbers', limit('buy', '99999999999999999999', '59900'), '45112'],
    ['a sell at a price beyond all numbers', limit('sell', '1', '99999999999999'), '43039'],
    ['a price that integers cannot hold', limit('sell', '1', '99999999999999999999'), '45115'],
    [
      'a price between the ticks',
      limit('buy', '0.1', '59900.05'),
      '45115 The price you enter should be a multiple of 0.1',
    ],
    [
      'a buy more than 1 % above the mark price',
      limit('buy', '0.1', '60700'),
      '43039 Maximum price limit exceeded',
    ],
    [
      'a sell more than 1 % below the mark price',
      limit('sell', '0.1', '59300'),
      '43040 Minimum price limit exceeded',
    ],
    [
      'a cost above the balance',
      market('buy', '1.8'),
      '40762 The order amount exceeds the balance',
    ],
    [
      'a take-profit of a long below its price',
      limit('buy', '0.1', '59900', { presetStopSurplusPrice: '59900' }),
      '40830 The take profit price of the long position should be greater than the current price',
    ],
    [
      'a stop-loss of a long above its price',
      limit('buy', '0.1', '59900', { presetStopLossPrice: '59901' }),
      '40917 Stop price for long positions please < mark price',
    ],
    [
      'a take-profit of a short above its price',
      market('sell', '0.1', { presetStopSurplusPrice: '60100' }),
      '40832 The take profit price of short positions should be less than the current price',
    ],
    [
      'a stop-loss of a short below its price',
      market('sell', '0.1', { presetStopLossPrice: '59900' }),
      '45122 Short position stop loss price please > mark price',
    ],
    [
      'a reduce-only order without a position',
      market('buy', '0.1', { reduceOnly: 'YES' }),
      '22002 No position to close',
    ],
  ]

  test.each(cases)('%s', (_, item, failure) => {
    const bench = new Bench()

    const result = bench.place('1', [item, limit('buy', '0.01', '59900', { clientOid: 'good' })])

    expect(failures(result)).toEqual([expect.stringContaining(failure)])
    expect(result.successList).toMatchObject([{ clientOid: 'good' }])
    expect(bench.core.ledger('1').counts).toMatchObject({ ordersAccepted: 1, ordersRefused: 1 })
  })

  test('less than the minimum amount when it opens, but not when it closes', () => {
    const bench = new Bench()
    bench.quote({ bid: 3000, ask: 3000.01 }, 'ETHUSDT')
    bench.quote({ bid: 400, ask: 400.01 }, 'ETHUSDT')

    const opened = bench.place('1', [market('buy', '0.01'), market('buy', '0.02')], {
      symbol: 'ETHUSDT',
    })
    const closed = bench.place('1', [market('sell', '0.01')], { symbol: 'ETHUSDT' })

    expect(failures(opened)).toEqual(['45110 less than the minimum amount 5 USDT'])
    expect(closed.successList).toHaveLength(1)
  })

  test('more open orders than a symbol may have', () => {
    const bench = new Bench({}, [
      openAccount('1', 'one_way_mode', { balances: { USDT: '1000000' } }),
    ])
    const batch = Array.from({ length: 50 }, () => limit('buy', '0.001', '59900'))

    for (let call = 0; call < 4; call++) bench.place('1', batch)
    const result = bench.place('1', [limit('buy', '0.001', '59900'), market('buy', '0.001')])

    expect(failures(result)).toEqual([expect.stringContaining('45118 Reached the upper limit')])
    expect(result.successList).toHaveLength(1)
  })
})

describe('margin', () => {
  test('counts open orders: what they hold cannot open again', () => {
    const bench = new Bench()

    const first = bench.place('1', [limit('buy', '0.8', '59900'), limit('buy', '0.8', '59900')])
    const second = bench.place('1', [limit('buy', '0.1', '59900')])

    expect(first.successList).toHaveLength(2)
    expect(failures(second)).toEqual(['40762 The order amount exceeds the balance'])
    bench.cancelAll('1')
    expect(bench.place('1', [limit('buy', '0.1', '59900')]).successList).toHaveLength(1)
  })

  test('lets orders that would only reduce a one-way position go free', () => {
    const bench = new Bench()

    bench.place('1', [market('buy', '1.6')])
    const result = bench.place('1', [limit('sell', '1.6', '60500'), limit('sell', '0.3', '60500')])

    expect(result.successList).toHaveLength(1)
    expect(failures(result)).toEqual(['40762 The order amount exceeds the balance'])
  })

  test('43012 when the account has none of the coin', () => {
    const bench = new Bench({}, [openAccount('1', 'one_way_mode', { balances: { BTC: '1' } })])

    expect(failures(bench.place('1', [market('buy', '0.1')]))).toEqual([
      '43012 Insufficient balance',
    ])
  })

  test('40754 when losses have eaten what was free', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '1.6')])

    bench.settleAt(59_500)

    expect(failures(bench.place('1', [market('buy', '0.001')]))).toEqual([
      '40754 balance not enough',
    ])
  })
})

describe('accounts are refused at the start', () => {
  test.each([
    ['a shared key', { key: 'key-2' }, 'share a uid or an API key'],
    ['half a leverage', { leverage: 0.5 }, 'leverage must be a whole number'],
    ['a balance in words', { balances: { USDT: 'plenty' } }, 'the balance of USDT is no decimal'],
    ['a debt', { balances: { USDT: '-1' } }, 'the balance of USDT is below zero'],
    ['a coin without an instrument', { balances: { DOGE: '1' } }, 'SIMULATOR_COIN_UNKNOWN'],
  ])('%s', (_, more, sentence) => {
    const accounts = [openAccount('2', 'hedge_mode'), openAccount('1', 'one_way_mode', more)]

    expect(() => new Bench({}, accounts)).toThrow(sentence)
  })
})

describe('the answer', () => {
  test('gives each order an 18-digit id, rising, and its clientOid or one of the exchange', () => {
    const bench = new Bench()

    const { successList } = bench.place('1', [
      limit('buy', '0.01', '59900', { clientOid: 'mine' }),
      limit('buy', '0.01', '59900'),
    ])

    expect(successList).toEqual([
      { orderId: '110000000000000001', clientOid: 'mine' },
      { orderId: '110000000000000002', clientOid: 'SIM-110000000000000002' },
    ])
  })
})

describe('cancel-all', () => {
  test('with no open order is error 22001, or empty lists where the settings say so', () => {
    expect(new Bench().cancelAll('1')).toEqual({
      ok: false,
      code: '22001',
      message: 'No order to cancel',
    })
    expect(new Bench({ cancelAllEmpty: 'emptyLists' }).cancelAll('1')).toEqual({
      ok: true,
      data: { successList: [], failureList: [] },
    })
  })

  test('of a symbol leaves other symbols, of a product type other product types', () => {
    const bench = new Bench()
    bench.place('1', [limit('buy', '0.01', '59900', { clientOid: 'btc' })])
    bench.place('1', [limit('buy', '0.01', '59900', { clientOid: 'eth' })], { symbol: 'ETHUSDT' })
    bench.place('1', [limit('buy', '0.01', '59900', { clientOid: 'coin' })], { symbol: 'BTCUSD' })

    expect(bench.cancelAll('1', 'BTCUSDT')).toMatchObject({
      data: { successList: [{ clientOid: 'btc' }] },
    })
    expect(bench.openOrders('1')).toEqual(['eth', 'coin'])
    bench.core.answer('cancelAllOrders', { uid: '1' }, { productType: 'USDT-FUTURES' }, bench.now)
    expect(bench.openOrders('1')).toEqual(['coin'])
  })

  test('leaves trigger orders alone', () => {
    const bench = new Bench()
    bench.placePlan('1', { clientOid: 'plan' })
    bench.place('1', [limit('buy', '0.01', '59900')])

    bench.cancelAll('1')

    expect(bench.core.ledger('1').counts).toMatchObject({ ordersOpen: 0, planOrdersOpen: 1 })
  })
})

test('with limits raised beyond what price times size can be counted in, more is refused, and nothing throws', () => {
  const raised = benchInstruments.map((row) => ({
    ...row,
    limitLotsMax: 2 ** 50,
    marketLotsMax: 2 ** 50,
  }))
  const rich = openAccount('1', 'one_way_mode', { balances: { USDT: '1000000000000000' } })
  const bench = new Bench({}, [rich], raised)
  const codes = (result: ReturnType<Bench['place']>) =>
    result.failureList.map(({ errorCode }) => errorCode)
  const tooLarge = [limit('buy', '100000000', '60000'), market('sell', '100000000')]

  expect(codes(bench.place('1', tooLarge))).toEqual(['45112', '45112'])
  const placed = Array.from({ length: 5 }, () =>
    bench.place('1', [limit('buy', '100000', '59000')]),
  )
  expect(placed.flatMap(codes)).toEqual(['45112', '45112'])
  bench.quote({ bid: 58_000, ask: 58_000.1, bidSize: 1e6, askSize: 1e6 })
  expect(bench.positions('1')).toHaveLength(1)
})
