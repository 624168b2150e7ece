import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { describe, expect, test } from 'vitest'
import { Bench, DELIVERED, DELIVERY_AT, failures, limit, market } from './bench.ts'

const MINUTE = 60_000

function openBench() {
  const bench = new Bench()
  bench.place(
    '2',
    [market('buy', '0.1', { tradeSide: 'open' }), market('sell', '0.05', { tradeSide: 'open' })],
    { symbol: DELIVERED },
  )
  bench.place('1', [limit('buy', '0.01', '59900')], { symbol: DELIVERED })
  return bench
}

function status(bench: Bench): string | null | undefined {
  const reply = bench.core.answer('tickers', NOBODY, { productType: 'COIN-FUTURES' }, bench.now)
  return reply.ok
    ? reply.data.find(({ symbol }) => symbol === DELIVERED)?.deliveryStatus
    : undefined
}

describe('a delivery contract', () => {
  test('trades normally until ten minutes before its delivery', () => {
    const bench = openBench()

    bench.wait(DELIVERY_AT - 10 * MINUTE - 1 - bench.now)

    expect(status(bench)).toBe('delivery_normal')
    expect(
      bench.place('1', [market('buy', '0.01')], { symbol: DELIVERED }).successList,
    ).toHaveLength(1)
  })

  test('delivery_before: no opening, closing and cancelling go on', () => {
    const bench = openBench()

    bench.wait(DELIVERY_AT - 10 * MINUTE - bench.now)
    const result = bench.place(
      '2',
      [market('buy', '0.01', { tradeSide: 'open' }), market('buy', '0.01', { tradeSide: 'close' })],
      { symbol: DELIVERED },
    )

    expect(status(bench)).toBe('delivery_before')
    expect(failures(result)).toEqual(['22039 Limit open position when delivery is approaching.'])
    expect(result.successList).toHaveLength(1)
    expect(bench.cancelAll('1', DELIVERED)).toMatchObject({ data: { successList: [{}] } })
  })

  test('delivery_before: an opening order that rests is not filled, one that closes is; no opening trigger order', () => {
    const bench = openBench()
    bench.place('2', [limit('sell', '0.02', '59900', { tradeSide: 'close' })], {
      symbol: DELIVERED,
    })
    bench.wait(DELIVERY_AT - 10 * MINUTE - bench.now)

    const fills = bench.fills('1', DELIVERED).length
    bench.quote({ bid: 59_500, ask: 59_500.1, traded: 10 }, DELIVERED)

    expect(bench.fills('1', DELIVERED)).toHaveLength(fills)
    expect(bench.openOrders('1')).toHaveLength(1)
    expect(bench.fills('2', DELIVERED).at(-1)).toMatchObject({
      tradeSide: 'close',
      baseVolume: '0.02',
    })
    const plan = {
      symbol: DELIVERED,
      productType: 'COIN-FUTURES',
      marginCoin: 'BTC',
      triggerPrice: '61000',
    } as const
    expect(bench.placePlan('2', { ...plan, side: 'buy', tradeSide: 'open' })).toMatchObject({
      ok: false,
      code: '22039',
    })
    expect(bench.placePlan('2', { ...plan, side: 'buy', tradeSide: 'close' })).toMatchObject({
      ok: true,
    })
  })

  test('delivery_period: neither opening, closing nor cancelling, and no fills', () => {
    const bench = openBench()

    bench.wait(DELIVERY_AT - bench.now)
    const result = bench.place(
      '2',
      [market('buy', '0.01', { tradeSide: 'open' }), market('buy', '0.01', { tradeSide: 'close' })],
      { symbol: DELIVERED },
    )
    bench.quote({ bid: 59_000, ask: 59_000.1 }, DELIVERED)

    expect(status(bench)).toBe('delivery_period')
    expect(failures(result).map((text) => text.slice(0, 5))).toEqual(['22040', '22041'])
    expect(bench.cancelAll('1', DELIVERED)).toMatchObject({
      data: { failureList: [{ errorCode: '45043' }] },
    })
    expect(bench.fills('1', DELIVERED)).toEqual([])
  })

  test('settles at the index price: positions close as SYS, orders end, the contract leaves the list', () => {
    const bench = openBench()

    bench.wait(DELIVERY_AT + MINUTE - bench.now)

    const settled = bench.fills('2', DELIVERED).slice(2)
    expect(settled).toMatchObject([
      { tradeSide: 'delivery_close_long', side: 'buy', baseVolume: '0.1', enterPointSource: 'SYS' },
      {
        tradeSide: 'delivery_close_short',
        side: 'sell',
        baseVolume: '0.05',
        enterPointSource: 'SYS',
      },
    ])
    expect(settled[0]?.price).toBe(settled[1]?.price)
    expect(bench.positions('2', DELIVERED)).toEqual([])
    expect(bench.openOrders('1')).toEqual([])
    expect(status(bench)).toBeUndefined()
    expect(bench.tryPlace('1', [market('buy', '0.01')], { symbol: DELIVERED })).toMatchObject({
      ok: false,
      code: '40309',
    })
  })
})
