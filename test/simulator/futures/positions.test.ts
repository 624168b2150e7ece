import { describe, expect, test } from 'vitest'
import { Bench, failures, limit, market } from './bench.ts'

describe('hedge mode: side is the direction of the position', () => {
  test('buy and sell open, buy/close ends the long, sell/close the short', () => {
    const bench = new Bench()

    bench.place('2', [
      market('buy', '0.3', { tradeSide: 'open' }),
      market('sell', '0.2', { tradeSide: 'open' }),
    ])
    expect(bench.positions('2')).toMatchObject([
      { holdSide: 'long', total: '0.3', posMode: 'hedge_mode' },
      { holdSide: 'short', total: '0.2' },
    ])
    bench.place('2', [
      market('buy', '0.3', { tradeSide: 'close' }),
      market('sell', '0.1', { tradeSide: 'close' }),
    ])

    expect(bench.positions('2')).toMatchObject([{ holdSide: 'short', total: '0.1' }])
    expect(
      bench.fills('2').map(({ side, tradeSide, price }) => `${side}/${tradeSide} ${price}`),
    ).toEqual(['buy/open 60000.1', 'sell/open 60000', 'buy/close 60000', 'sell/close 60000.1'])
  })

  test('closing without a position is refused', () => {
    const bench = new Bench()

    const result = bench.place('2', [market('sell', '0.1', { tradeSide: 'close' })])

    expect(failures(result)).toEqual(['22002 No position to close'])
  })

  test('a resting close locks its part of the position', () => {
    const bench = new Bench()

    bench.place('2', [
      market('buy', '0.3', { tradeSide: 'open' }),
      limit('buy', '0.1', '60100', { tradeSide: 'close' }),
    ])

    expect(bench.positions('2')).toMatchObject([{ total: '0.3', available: '0.2', locked: '0.1' }])
  })

  describe('a close of more than is available', () => {
    test.each([
      ['closeRemainder', ['0.2'], [], ['resting']],
      ['reject', [], ['40757 Not enough position is available.'], ['resting']],
      ['cancelResting', ['0.3'], [], []],
    ] as const)('%s', (hedgeCloseExcess, closed, refused, open) => {
      const bench = new Bench({ hedgeCloseExcess })
      bench.place('2', [market('buy', '0.3', { tradeSide: 'open' })])
      bench.place('2', [limit('buy', '0.1', '60100', { tradeSide: 'close', clientOid: 'resting' })])

      const result = bench.place('2', [market('buy', '0.5', { tradeSide: 'close' })])

      const closes = bench.fills('2').filter(({ tradeSide }) => tradeSide === 'close')
      expect(closes.map(({ baseVolume }) => baseVolume)).toEqual(closed)
      expect(failures(result)).toEqual(refused)
      expect(bench.openOrders('2')).toEqual(open)
    })
  })

  test('orders that could only close a position end with it', () => {
    const bench = new Bench({ hedgeCloseExcess: 'cancelResting' })
    bench.place('2', [market('buy', '0.3', { tradeSide: 'open' })])
    bench.place('2', [limit('buy', '0.3', '60100', { tradeSide: 'close' })])

    bench.place('2', [market('buy', '0.3', { tradeSide: 'close' })])

    expect(bench.openOrders('2')).toEqual([])
    expect(bench.positions('2')).toEqual([])
  })
})

describe('one-way mode: one net position', () => {
  test('an order through zero closes first and opens the rest, as two fills', () => {
    const bench = new Bench()

    bench.place('1', [market('buy', '0.3'), market('sell', '0.5')])

    expect(bench.positions('1')).toMatchObject([
      { holdSide: 'short', total: '0.2', posMode: 'one_way_mode' },
    ])
    expect(
      bench
        .fills('1')
        .map(({ side, tradeSide, baseVolume }) => `${side} ${tradeSide} ${baseVolume}`),
    ).toEqual(['buy open 0.3', 'sell close 0.3', 'sell open 0.2'])
  })

  test('trade sides are buy_single and sell_single where the settings say so', () => {
    const bench = new Bench({ oneWayTradeSide: 'single' })

    bench.place('1', [market('buy', '0.3'), market('sell', '0.3')])

    expect(bench.fills('1').map(({ tradeSide }) => tradeSide)).toEqual([
      'buy_single',
      'sell_single',
    ])
  })

  test('a reduce-only order is cut to the position and never turns it', () => {
    const bench = new Bench()

    bench.place('1', [market('buy', '0.3'), market('sell', '0.5', { reduceOnly: 'YES' })])

    expect(bench.positions('1')).toEqual([])
    expect(bench.fills('1').at(-1)).toMatchObject({ baseVolume: '0.3', tradeSide: 'close' })
  })

  test('reduce-only orders beyond the position cancel older ones, and the answer has no orderId', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.3')])
    const reduce = (clientOid: string, size: string) =>
      limit('sell', size, '60200', { reduceOnly: 'YES', clientOid })

    const fits = bench.place('1', [reduce('a', '0.1'), reduce('b', '0.2')])
    const exceeds = bench.place('1', [reduce('c', '0.05')])

    expect(fits.successList.map(({ orderId }) => typeof orderId)).toEqual(['string', 'string'])
    expect(exceeds.successList).toEqual([{ orderId: '', clientOid: 'c' }])
    expect(bench.openOrders('1')).toEqual(['b', 'c'])
  })

  test('reduce-only orders beyond the position are refused where the settings say so', () => {
    const bench = new Bench({ reduceOnlyExcess: 'reject' })
    bench.place('1', [market('buy', '0.3')])

    const result = bench.place('1', [limit('sell', '0.4', '60200', { reduceOnly: 'YES' })])

    expect(failures(result)).toEqual([expect.stringMatching(/^40804/)])
  })
})

describe('a fill', () => {
  test('carries the fee, negative, and the profit that was booked', () => {
    const bench = new Bench()

    bench.place('1', [market('buy', '0.3')])
    bench.quote({ bid: 60_100, ask: 60_100.1 })
    bench.place('1', [market('sell', '0.1')])

    expect(bench.fills('1')).toMatchObject([
      {
        tradeId: '120000000000000001',
        orderId: '110000000000000001',
        quoteVolume: '18000.03',
        profit: '0',
        enterPointSource: 'API',
        feeDetail: [{ feeCoin: 'USDT', totalFee: '-10.800018' }],
      },
      { profit: '9.99', quoteVolume: '6010', feeDetail: [{ totalFee: '-3.606' }] },
    ])
    expect(bench.coin('1')).toMatchObject({
      realisedProfit: '9.99',
      fees: '14.406018',
      balance: '9995.583982',
    })
  })

  test('of an inverse contract settles in base coin', () => {
    const bench = new Bench()

    bench.place('1', [market('buy', '0.3')], { symbol: 'BTCUSD' })
    bench.quote({ bid: 61_000, ask: 61_000.1 }, 'BTCUSD')
    bench.place('1', [market('sell', '0.3')], { symbol: 'BTCUSD' })

    // 0.3 x (61000 - 60000.1) / 61000, cut to 12 decimals; fees are 0.06 % of the size, twice.
    expect(bench.coin('1', 'BTC')).toMatchObject({
      realisedProfit: '0.004917540984',
      fees: '0.00036',
    })
  })

  test('of a resting order pays the maker fee', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.1', '59990')])
    bench.quote({ bid: 59_980, ask: 59_980.1 })

    expect(bench.fills('1')).toMatchObject([
      { tradeScope: 'maker', feeDetail: [{ totalFee: '-1.1998' }] },
    ])
  })

  test('of a third of a position leaves nothing behind when the rest closes', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.001'), market('buy', '0.002')])
    bench.quote({ bid: 59_999.7, ask: 60_000.3 })
    bench.place('1', [market('buy', '0.004')])

    for (const size of ['0.001', '0.003', '0.003']) bench.place('1', [market('sell', size)])

    const sum = 0.003 * 60_000.1 + 0.004 * 60_000.3
    expect(Number(bench.coin('1').realisedProfit)).toBeCloseTo(0.007 * 59_999.7 - sum, 10)
    expect(bench.coin('1').realisedProfit).toBe('-0.0036')
    expect(bench.positions('1')).toEqual([])
  })
})

describe('the position row', () => {
  test('has every field of the document', () => {
    const bench = new Bench()
    bench.place('1', [
      market('buy', '0.3'),
      limit('buy', '0.05', '59900'),
      limit('sell', '0.1', '60100', { reduceOnly: 'YES' }),
    ])
    bench.place('1', [market('sell', '0.1')])

    const [row] = bench.positions('1')

    expect(row).toEqual({
      symbol: 'BTCUSDT',
      marginCoin: 'USDT',
      holdSide: 'long',
      openDelegateSize: '0.05',
      marginSize: '1200.002',
      available: '0.1',
      locked: '0.1',
      total: '0.2',
      leverage: '10',
      achievedProfits: '-0.01',
      openPriceAvg: '60000.1',
      marginMode: 'crossed',
      posMode: 'one_way_mode',
      unrealizedPL: expect.stringMatching(/^-?\d+(\.\d+)?$/),
      liquidationPrice: expect.stringMatching(/^1\d{4}\.\d+$/),
      keepMarginRate: '0.004',
      markPrice: expect.stringMatching(/^(59|60)\d{3}/),
      marginRatio: expect.stringMatching(/^0\.00\d+$/),
      breakEvenPrice: expect.stringMatching(/^60\d{3}\.\d+$/),
      totalFee: '',
      deductedFee: '14.400018',
      assetMode: 'single',
      cTime: String(bench.now),
      uTime: String(bench.now),
    })
  })

  test('has the unrealised profit of the ledger statement, to the last digit', () => {
    const bench = new Bench()
    const inverse = { symbol: 'BTCUSD' }
    bench.place('1', [market('buy', '0.007')], inverse)
    bench.quote({ bid: 60_050.3, ask: 60_050.4 }, 'BTCUSD')
    bench.place('1', [market('buy', '0.011')], inverse)
    bench.place('1', [market('sell', '0.005')], inverse)
    bench.quote({ bid: 60_111.1, ask: 60_111.2 }, 'BTCUSD')

    const [row] = bench.positions('1', 'BTCUSD')

    const [held] = bench.core.ledger('1').positions
    expect(row?.unrealizedPL).toBe(held?.unrealised)
    expect(row?.unrealizedPL).toMatch(/\.\d{11,12}$/)
  })

  test('closing at the break-even price pays back all fees', () => {
    const bench = new Bench()
    bench.place('1', [market('sell', '0.3')])
    const [row] = bench.positions('1')

    const price = Math.floor(Number(row?.breakEvenPrice) * 10) / 10
    bench.quote({ bid: price - 0.1, ask: price })
    bench.place('1', [market('buy', '0.3')])

    expect(Number(bench.coin('1').balance)).toBeGreaterThanOrEqual(10_000)
    expect(Number(bench.coin('1').balance)).toBeLessThan(10_000.1)
  })
})

describe('an order that may only close, and whose fill ends the position', () => {
  test('is filled once, and no order is counted as cancelled', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.2')])
    bench.place('1', [market('sell', '0.2', { reduceOnly: 'YES' })])

    expect(bench.core.ledger('1').counts).toMatchObject({ ordersFilled: 2, ordersCancelled: 0 })
  })

  test('ends with it: what the position had not left to close is cancelled', () => {
    const bench = new Bench()
    const saved: unknown[] = []
    bench.place('1', [market('buy', '0.2')])
    bench.place('1', [limit('sell', '0.2', '60100', { reduceOnly: 'YES', clientOid: 'rest' })])
    bench.place('1', [market('sell', '0.1')])
    saved.push(bench.openOrders('1'))
    bench.quote({ bid: 60_150, ask: 60_150.1 })
    bench.wait(1000)
    saved.push(bench.openOrders('1'))

    expect(saved).toEqual([['rest'], []])
    expect(bench.positions('1')).toEqual([])
    expect(bench.core.ledger('1').counts).toMatchObject({ ordersFilled: 2, ordersCancelled: 1 })
  })
})
