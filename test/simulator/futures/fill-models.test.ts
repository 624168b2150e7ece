import { describe, expect, test } from 'vitest'
import { Bench, fillTexts, limit, market } from './bench.ts'

const CALM = { bid: 60_000, ask: 60_000.1 }

describe('the share of a candle', () => {
  test('is all that orders get of it together, half of it at one quote, whichever way they trade', () => {
    const bench = new Bench({ fillModel: 'default' })
    const quote = { ...CALM, askSize: 5, candle: 1, candleSize: 10 }
    bench.quote(quote)

    bench.place('1', [market('buy', '0.3'), market('buy', '0.4')])
    bench.quote(quote)
    bench.place('1', [market('buy', '0.3')])
    bench.place('2', [market('buy', '0.9', { tradeSide: 'open' })])
    bench.quote(quote)
    bench.place('1', [market('buy', '0.1')])

    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.3 @ 60000.1 taker',
      '0.2 @ 60000.1 taker',
      '0.3 @ 60000.1 taker',
    ])
    expect(fillTexts(bench.fills('2'))).toEqual(['0.2 @ 60000.1 taker'])
  })

  test('begins anew with the next candle, and bounds a resting order that price goes through', () => {
    const bench = new Bench({ fillModel: 'default' })
    bench.place('1', [limit('buy', '0.5', '59990')])

    bench.quote({ bid: 59_980, ask: 59_980.1, candle: 1, candleSize: 0.4 })
    bench.quote({ bid: 59_980, ask: 59_980.1, candle: 1, candleSize: 0.4 })
    bench.quote({ bid: 59_980, ask: 59_980.1, candle: 1, candleSize: 0.4 })
    bench.quote({ bid: 59_980, ask: 59_980.1, candle: 2, candleSize: 1 })

    expect(fillTexts(bench.fills('1'))).toEqual([
      '0.02 @ 59990 maker',
      '0.02 @ 59990 maker',
      '0.05 @ 59990 maker',
    ])
  })

  test('does not bind the system, but nothing is left of it then', () => {
    const bench = new Bench({ fillModel: 'default' })
    bench.place('2', [market('buy', '0.3', { tradeSide: 'open', presetStopLossPrice: '59900' })])

    bench.quote({ bid: 59_880, ask: 59_880.1, bidSize: 5, candle: 1, candleSize: 2 })
    expect(fillTexts(bench.fills('2')).slice(1)).toEqual(['0.3 @ 59880 taker'])
    for (const candle of [1, 2]) {
      bench.quote({ bid: 59_880, ask: 59_880.1, bidSize: 5, candle, candleSize: 2 })
      bench.place('1', [market('buy', '0.1')])
    }

    // Of the second candle.
    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 59880.1 taker'])
    expect(Number(bench.fills('1')[0]?.cTime)).toBe(bench.now)
  })
})

describe('the way from one quote to the next', () => {
  test('fills the resting orders that it goes through, at their prices, and starts no trigger', () => {
    const bench = new Bench({ fillModel: 'default' })
    const prices = ['59990', '59980', '59979.9'] as const
    bench.place('1', [
      ...prices.map((price) => limit('buy', '0.01', price)),
      limit('sell', '0.01', '60010'),
    ])
    bench.placePlan('1', { triggerPrice: '59985' })

    bench.quote({ ...CALM, low: 59_980, high: 60_010.1, traded: 1, candle: 1 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.01 @ 59990 maker', '0.01 @ 60010 maker'])
    expect(bench.openOrders('1')).toHaveLength(2)
  })

  test('fills none where nothing was traded', () => {
    const bench = new Bench({ fillModel: 'optimistic' })
    bench.place('1', [limit('buy', '0.01', '59990')])

    bench.quote({ ...CALM, low: 59_980, traded: 0, candle: 1 })

    expect(bench.fills('1')).toEqual([])
  })
})

describe('what orders took', () => {
  test('is displayed again by half after ten seconds', () => {
    const bench = new Bench({ fillModel: 'default' })
    const quote = { ...CALM, askSize: 0.4, levelTicks: 1000 }
    bench.quote(quote)
    bench.place('1', [limit('buy', '0.4', '60001', { force: 'ioc' })])

    bench.wait(9900)
    bench.quote(quote)
    bench.place('1', [limit('buy', '0.4', '60001', { force: 'ioc' })])

    expect(fillTexts(bench.fills('1'))).toEqual(['0.4 @ 60000.1 taker', '0.2 @ 60000.1 taker'])
  })

  test('is there again at the next quote for the optimist', () => {
    const bench = new Bench({ fillModel: 'optimistic' })
    bench.quote({ ...CALM, askSize: 0.4, levelTicks: 1000 })
    bench.place('1', [limit('buy', '0.4', '60001', { force: 'ioc' })])

    bench.quote({ ...CALM, askSize: 0.4, levelTicks: 1000 })
    bench.place('1', [limit('buy', '0.4', '60001', { force: 'ioc' })])

    expect(fillTexts(bench.fills('1'))).toEqual(['0.4 @ 60000.1 taker', '0.4 @ 60000.1 taker'])
  })
})

describe('a trade at the price of a resting order', () => {
  /** A bid of 0.1 at the best bid, where 0.5 stand before it; then two trades of 0.4 there. */
  function touched(fillModel: 'pessimistic' | 'default' | 'optimistic'): Bench {
    const bench = new Bench({ fillModel })
    bench.quote({ ...CALM, bidSize: 0.5 })
    bench.place('1', [limit('buy', '0.1', '60000')])
    for (let trade = 0; trade < 2; trade++)
      bench.quote({ ...CALM, bidSize: 9, last: 60_000, traded: 0.4 })
    return bench
  }

  test('fills it once the queue before it has traded, by half of what follows', () => {
    const bench = touched('default')
    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 60000 maker'])
    expect(bench.openOrders('1')).toEqual([])

    const longer = new Bench({ fillModel: 'default' })
    longer.quote({ ...CALM, bidSize: 0.5 })
    longer.place('1', [limit('buy', '0.3', '60000')])
    longer.quote({ ...CALM, last: 60_000, traded: 0.4 })
    expect(longer.fills('1')).toEqual([])
    longer.quote({ ...CALM, last: 60_000, traded: 0.4 })
    longer.quote({ ...CALM, last: 60_000, traded: 0.1 })
    expect(fillTexts(longer.fills('1'))).toEqual(['0.15 @ 60000 maker', '0.05 @ 60000 maker'])
  })

  test('fills it at once for the optimist, and never for the pessimist', () => {
    expect(fillTexts(touched('optimistic').fills('1'))).toEqual(['0.1 @ 60000 maker'])
    const bench = touched('pessimistic')
    expect(bench.fills('1')).toEqual([])

    bench.quote({ bid: 59_999, ask: 59_999.9 })
    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 60000 maker'])
  })

  test('finds a queue before an order that came when its price was not the best one', () => {
    const bench = new Bench({ fillModel: 'default' })
    bench.place('1', [limit('buy', '0.1', '59990')])

    bench.quote({ bid: 59_990, ask: 59_990.1, bidSize: 0.5, last: 59_990, traded: 0.4 })
    expect(bench.fills('1')).toEqual([])
    bench.quote({ bid: 60_000, ask: 60_000.1 })
    bench.quote({ bid: 59_990, ask: 59_990.1, bidSize: 7, last: 59_990, traded: 0.3 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 59990 maker'])
  })

  test('finds none before one that stands between bid and ask', () => {
    const bench = new Bench({ fillModel: 'default' })
    bench.quote({ bid: 60_000, ask: 60_001, bidSize: 5 })
    bench.place('1', [limit('buy', '0.1', '60000.5')])

    bench.quote({ bid: 60_000, ask: 60_001, bidSize: 5, last: 60_000.5, traded: 0.2 })

    expect(fillTexts(bench.fills('1'))).toEqual(['0.1 @ 60000.5 maker'])
  })
})
