import { describe, expect, test } from 'vitest'
import { Bench, failures, fillTexts, limit, market } from './bench.ts'

describe('an incoming limit order', () => {
  test('walks the levels up to its price, and its gtc rest goes on taking while it reaches the market', () => {
    const bench = new Bench()
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 0.02, levelTicks: 60 })

    bench.place('1', [limit('buy', '0.07', '60010')])
    bench.quote({ bid: 60_000.5, ask: 60_000.6, askSize: 0.01, levelTicks: 200 })
    bench.quote({ bid: 60_000.5, ask: 60_000.6, askSize: 5 })

    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.02 @ 60000.1 taker',
      '0.02 @ 60006.1 taker',
      '0.01 @ 60000.6 taker',
      '0.02 @ 60000.6 taker',
    ])
  })

  test('rests as a maker from the first quote that it does not reach', () => {
    const bench = new Bench()
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 0.02, levelTicks: 100 })

    bench.place('1', [limit('buy', '0.05', '60010')])
    bench.quote({ bid: 60_011, ask: 60_011.1 })
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 5 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.02 @ 60000.1 taker', '0.03 @ 60010 maker'])
  })

  test('shares what is displayed at one quote with the orders before it', () => {
    const bench = new Bench()
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 0.03, levelTicks: 100 })

    bench.place('1', [
      limit('buy', '0.02', '60005', { force: 'ioc' }),
      limit('buy', '0.02', '60005', { force: 'ioc' }),
    ])

    expect(fillTexts(bench.fills('1'))).toEqual(['0.02 @ 60000.1 taker', '0.01 @ 60000.1 taker'])
    expect(bench.openOrders('1')).toEqual([])
  })

  test('ioc: what cannot fill at once is cancelled', () => {
    const bench = new Bench()

    const result = bench.place('1', [limit('sell', '1.5', '60000', { force: 'ioc' })])

    expect(result.successList).toHaveLength(1)
    expect(fillTexts(bench.fills('1'))).toEqual(['1 @ 60000 taker'])
    expect(bench.core.ledger('1').counts).toMatchObject({ ordersOpen: 0, ordersCancelled: 1 })
  })

  test('fok: fills whole, of all levels up to its price, or not at all', () => {
    const bench = new Bench()
    bench.quote({ bid: 60_000, ask: 60_000.1, levelTicks: 5 })

    bench.place('1', [
      limit('buy', '2.1', '60001', { force: 'fok' }),
      limit('buy', '1.1', '60000.5', { force: 'fok' }),
      limit('buy', '1.5', '60001', { force: 'fok' }),
    ])

    expect(fillTexts(bench.fills('1'))).toEqual(['1 @ 60000.1 taker', '0.5 @ 60000.6 taker'])
  })

  test('post_only that would take is refused with a price code, each item for itself', () => {
    const bench = new Bench()

    const result = bench.place('1', [
      limit('buy', '0.01', '60000.1', { force: 'post_only' }),
      limit('sell', '0.01', '60000', { force: 'post_only' }),
      limit('buy', '0.01', '60000', { force: 'post_only', clientOid: 'rests' }),
    ])

    expect(failures(result)).toEqual([
      '40815 The order price is higher than the highest bid price',
      '40816 The order price is lower than the lowest selling price',
    ])
    expect(bench.openOrders('1')).toEqual(['rests'])
  })

  test('post_only that would take is accepted and cancelled where the settings say so', () => {
    const bench = new Bench({ postOnlyCross: 'cancel' })

    const result = bench.place('1', [limit('buy', '0.01', '60000.1', { force: 'post_only' })])

    expect(result.successList).toHaveLength(1)
    expect(bench.core.ledger('1').counts).toMatchObject({
      ordersOpen: 0,
      ordersCancelled: 1,
      fills: 0,
    })
  })
})

describe('a market order', () => {
  test('walks to worse levels, each as deep as the displayed one', () => {
    const bench = new Bench()
    bench.quote({ bid: 60_000, ask: 60_000.1, levelTicks: 3 })

    bench.place('1', [market('buy', '1.5')])
    bench.place('2', [market('sell', '1.2', { tradeSide: 'open' })])

    expect(fillTexts(bench.fills('1'))).toEqual(['1 @ 60000.1 taker', '0.5 @ 60000.4 taker'])
    expect(fillTexts(bench.fills('2'))).toEqual(['1 @ 60000 taker', '0.2 @ 59999.7 taker'])
  })

  test('goes on at one quote where the order before it stopped', () => {
    const bench = new Bench()

    bench.place('1', [market('buy', '0.8'), market('buy', '0.4')])

    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.8 @ 60000.1 taker',
      '0.2 @ 60000.1 taker',
      '0.2 @ 60000.2 taker',
    ])
  })

  test('is cancelled where the levels end', () => {
    const bench = new Bench({ marketLevelsMax: 2 })
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 0.1 })

    bench.place('1', [market('buy', '0.5')])

    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 60000.1 taker', '0.1 @ 60000.2 taker'])
    expect(bench.core.ledger('1').counts.ordersCancelled).toBe(1)
  })
})

describe('an exhausted quote', () => {
  test('has nothing left for accounts, and further levels for the system, until the next quote', () => {
    const bench = new Bench({ marketLevelsMax: 2 })
    bench.place('2', [market('buy', '0.3', { tradeSide: 'open', presetStopLossPrice: '59900' })])
    bench.quote({ bid: 59_880, ask: 59_880.1, bidSize: 0.1, levelTicks: 10 })

    bench.place('1', [market('sell', '0.1')])

    expect(fillTexts(bench.fills('2')).slice(1)).toEqual([
      '0.1 @ 59880 taker',
      '0.1 @ 59879 taker',
      '0.1 @ 59878 taker',
    ])
    expect(bench.fills('1')).toEqual([])
  })
})

describe('a resting order', () => {
  test('is filled whole at its own price when the quote goes through it', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.5', '59990'), limit('sell', '0.1', '60010')])
    bench.quote({ bid: 59_980, ask: 59_980.1, askSize: 0.001 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.5 @ 59990 maker'])
  })

  test('gets only what is displayed when the quote just touches it', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.5', '59990')])
    bench.quote({ bid: 59_989.9, ask: 59_990, askSize: 0.2 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.2 @ 59990 maker'])
    expect(bench.core.ledger('1').openOrders).toMatchObject([{ size: '0.5', filled: '0.2' }])
  })

  test('gets only what was traded when a trade just touches it, and all when it goes through', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.5', '59990'), limit('sell', '0.5', '60005')])
    bench.quote({ bid: 59_990, ask: 60_000, last: 59_990, traded: 0.3 })
    bench.quote({ bid: 59_990, ask: 60_000, last: 60_006, traded: 0.001 })

    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.3 @ 59990 maker',
      '0.3 @ 60005 maker',
      '0.2 @ 60005 maker',
    ])
  })

  test('is not filled by a trade that is older than the quote', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.5', '59990')])
    bench.quote({ bid: 59_995, ask: 60_000, last: 59_900, traded: 0 })

    expect(bench.fills('1')).toEqual([])
  })

  test('stands behind better prices, then behind older orders', () => {
    const bench = new Bench()

    bench.place('1', [
      limit('buy', '0.1', '59990', { clientOid: 'first' }),
      limit('buy', '0.1', '59990', { clientOid: 'second' }),
      limit('buy', '0.1', '59991', { clientOid: 'better' }),
    ])
    bench.quote({ bid: 59_990, ask: 60_000, last: 59_990, traded: 0.15 })

    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.1 @ 59991 maker',
      '0.1 @ 59990 maker',
      '0.05 @ 59990 maker',
    ])
    expect(bench.openOrders('1')).toEqual(['second'])
  })

  test('of one account is never met by another account', () => {
    const bench = new Bench()

    bench.place('1', [limit('buy', '0.1', '60000')])
    bench.place('2', [limit('sell', '0.1', '60000.1', { tradeSide: 'open' })])

    expect([...bench.fills('1'), ...bench.fills('2')]).toEqual([])
  })
})

describe('self-trade prevention by the incoming order', () => {
  test.each([
    ['none', ['0.5 @ 60000.1 taker'], ['maker', 'taker']],
    ['cancel_taker', ['0.5 @ 60000.1 taker'], ['maker']],
    ['cancel_maker', ['0.5 @ 60000.1 taker'], ['taker']],
    ['cancel_both', ['0.5 @ 60000.1 taker'], []],
  ] as const)('%s: the market fills first, then its own order decides', (stpMode, fills, open) => {
    const bench = new Bench()
    bench.quote({ bid: 60_000, ask: 60_000.1, askSize: 0.5, levelTicks: 100 })

    bench.place('1', [
      limit('sell', '0.1', '60005', { clientOid: 'maker' }),
      limit('buy', '0.6', '60010', { clientOid: 'taker', stpMode }),
    ])

    expect(fillTexts(bench.fills('1'))).toEqual(fills)
    expect(bench.openOrders('1')).toEqual(open)
  })

  test('cancel_taker: a market order stops before its own order', () => {
    const bench = new Bench()

    bench.place('1', [
      limit('sell', '0.1', '60000.2'),
      market('buy', '1.5', { stpMode: 'cancel_taker' }),
    ])

    expect(fillTexts(bench.fills('1'))).toEqual(['1 @ 60000.1 taker'])
    expect(bench.core.ledger('1').counts).toMatchObject({ ordersOpen: 1, ordersCancelled: 1 })
  })
})

describe('orders of one account that meet each other', () => {
  test('trade at the price of the one that rests, and both fills have one tradeId', () => {
    const bench = new Bench({ selfTrades: 'meet' })

    bench.place('1', [limit('sell', '0.2', '60000.1'), limit('buy', '0.3', '60000.1')])

    const [maker, taker, rest] = bench.fills('1')
    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.2 @ 60000.1 maker',
      '0.2 @ 60000.1 taker',
      '0.1 @ 60000.1 taker',
    ])
    expect([maker?.side, taker?.side, taker?.tradeId]).toEqual(['sell', 'buy', maker?.tradeId])
    expect([taker?.orderId === maker?.orderId, rest?.tradeId === taker?.tradeId]).toEqual([
      false,
      false,
    ])
    expect(bench.positions('1')).toMatchObject([{ total: '0.1', holdSide: 'long' }])
  })

  test('inside the spread too, and a post-only order that would is cancelled', () => {
    const bench = new Bench({ selfTrades: 'meet' })
    bench.quote({ bid: 60_000, ask: 60_010 })

    bench.place('1', [
      limit('sell', '0.2', '60005'),
      limit('buy', '0.1', '60006', { force: 'post_only' }),
      limit('buy', '0.1', '60006', { force: 'ioc' }),
    ])

    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 60005 maker', '0.1 @ 60005 taker'])
  })

  test('not where the order says cancel_maker, nor with what stands behind the market', () => {
    const bench = new Bench({ selfTrades: 'meet' })

    bench.place('1', [
      limit('sell', '0.2', '60000.1'),
      limit('sell', '0.2', '60000.3'),
      market('buy', '0.1', { stpMode: 'cancel_maker' }),
      market('buy', '0.1'),
    ])

    expect(new Set(bench.fills('1').map(({ tradeId }) => tradeId)).size).toBe(
      bench.fills('1').length,
    )
  })

  test('the pages of fills are cut by id: the twin at the border is behind its id plus one', () => {
    const bench = new Bench({ selfTrades: 'meet' })
    bench.place('1', [limit('sell', '0.2', '60000.1'), limit('buy', '0.2', '60000.1')])
    const page = (idLessThan?: string) => {
      const query = {
        productType: 'USDT-FUTURES',
        limit: '1',
        ...(idLessThan && { idLessThan }),
      } as const
      const reply = bench.core.answer('orderFills', { uid: '1' }, query, bench.now)
      return reply.ok ? reply.data.fillList.map(({ side }) => side) : []
    }
    const [{ tradeId } = { tradeId: '' }] = bench.fills('1')

    expect(page()).toEqual(['buy'])
    expect(page(tradeId)).toEqual([])
    expect(page(String(BigInt(tradeId) + 1n))).toEqual(['buy'])
  })
})

describe('between answer and matching', () => {
  test('an accepted order waits for the matching lag, and the quote of its arrival counts', () => {
    const bench = new Bench({ matchingLagMs: 250 })

    const result = bench.place('1', [market('buy', '0.1')])
    expect(bench.fills('1')).toEqual([])
    bench.quote({ bid: 60_100, ask: 60_100.1 })
    bench.wait(200)

    expect(result.successList).toHaveLength(1)
    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 60100.1 taker'])
  })

  test('cancel-all takes orders back that have not arrived', () => {
    const bench = new Bench({ matchingLagMs: 250 })

    bench.place('1', [market('buy', '0.1')])
    bench.cancelAll('1')
    bench.wait(1000)

    expect(bench.fills('1')).toEqual([])
  })

  test('a fill shows after its visibility lag, the position at once', () => {
    const bench = new Bench({ fillVisibilityLagMs: 1500 })

    bench.place('1', [market('buy', '0.1')])

    expect(bench.positions('1')).toMatchObject([{ total: '0.1' }])
    expect(bench.fills('1')).toEqual([])
    bench.wait(1500)
    expect(bench.fills('1')).toHaveLength(1)
  })
})
