import { describe, expect, test } from 'vitest'
import { endpoints } from '../../../src/protocol/endpoints.ts'
import { ALICE, BOB, dataOf, MarginBench, refusalOf } from './margin-bench.ts'

function openTwo() {
  const bench = new MarginBench()
  bench.deposit('isolated', 'USDT', '10000')
  bench.deposit('isolated', 'USDT', '10000', 'ETHUSDT')
  bench.deposit('crossed', 'USDT', '10000')
  const first = bench.place('isolated', { price: '50000', baseSize: '0.01', clientOid: 'first' })
  const second = bench.place('isolated', { price: '51000', baseSize: '0.01', clientOid: 'second' })
  const crossed = bench.place('crossed', { price: '50000', baseSize: '0.01', clientOid: 'crossed' })
  const ether = bench.place('isolated', {
    symbol: 'ETHUSDT',
    price: '2000',
    baseSize: '0.1',
    clientOid: 'ether',
  })
  const cancel = (orderIdList: { orderId?: string; clientOid?: string; clientId?: string }[]) =>
    bench.service.answer(
      'isolatedBatchCancelOrders',
      ALICE,
      { symbol: 'BTCUSDT', orderIdList },
      bench.now,
    )
  return { bench, first, second, crossed, ether, cancel }
}

describe('cancelling isolated orders in batch', () => {
  test.each([
    ['orderId', (orderId: string) => ({ orderId })],
    ['clientOid', () => ({ clientOid: 'first' })],
    ['clientId, as the sample spells it', () => ({ clientId: 'first' })],
    ['both ids', (orderId: string) => ({ orderId, clientId: 'first' })],
  ])('finds an order by %s, and its money is free', (_, itemOf) => {
    const { bench, first, cancel } = openTwo()

    const result = dataOf(cancel([itemOf(first)]))

    expect(result).toEqual({
      successList: [{ orderId: first, clientOid: 'first' }],
      failureList: [],
    })
    expect(bench.order(first).status).toBe('cancelled')
    expect(bench.coin('isolated', 'USDT')).toMatchObject({ available: '9490', frozen: '510' })
    expect(endpoints.isolatedBatchCancelOrders.response.safeParse(result).success).toBe(true)
  })

  test('answers each item for itself, a failure with clientOid and errorMsg alone', () => {
    const { first, second, crossed, ether, cancel } = openTwo()

    const result = dataOf(
      cancel([
        { clientOid: 'nobody' },
        { orderId: first },
        { orderId: first },
        { orderId: '130000000000009999' },
        {
          orderId: second,
          clientOid: 'first',
        },
        { orderId: crossed },
        {
          orderId: ether,
          clientOid: 'ether',
        },
      ]),
    )

    expect(result).toEqual({
      successList: [{ orderId: first, clientOid: 'first' }],
      failureList: [
        { clientOid: 'nobody', errorMsg: 'The order does not exist' },
        { clientOid: 'first', errorMsg: 'The order status is cancelled or fullFill' },
        { clientOid: '', errorMsg: 'The order does not exist' },
        { clientOid: 'first', errorMsg: 'The order does not exist' },
        { clientOid: '', errorMsg: 'The order does not exist' },
        { clientOid: 'ether', errorMsg: 'The order does not exist' },
      ],
    })
  })

  test('without a list cancels every isolated order of the symbol, and no other', () => {
    const { bench, first, second, crossed, ether } = openTwo()

    const result = dataOf(
      bench.service.answer('isolatedBatchCancelOrders', ALICE, { symbol: 'BTCUSDT' }, bench.now),
    )

    expect(result.successList).toEqual([
      { orderId: first, clientOid: 'first' },
      { orderId: second, clientOid: 'second' },
    ])
    expect([crossed, ether].map((id) => bench.order(id).status)).toEqual(['live', 'live'])
    expect(
      dataOf(
        bench.service.answer('isolatedBatchCancelOrders', ALICE, { symbol: 'BTCUSDT' }, bench.now),
      ),
    ).toEqual({
      successList: [],
      failureList: [],
    })
  })

  test('gives back the loan that the order did not use', () => {
    const bench = new MarginBench()
    bench.deposit('isolated', 'USDT', '500')
    const order = {
      price: '50000',
      baseSize: '0.02',
      loanType: 'autoLoan',
      clientOid: 'lent',
    } as const
    bench.place('isolated', order)
    expect(bench.coin('isolated', 'USDT')).toMatchObject({ frozen: '1000', borrowed: '500' })

    bench.service.answer('isolatedBatchCancelOrders', ALICE, { symbol: 'BTCUSDT' }, bench.now)

    expect(bench.coin('isolated', 'USDT')).toMatchObject({
      available: '500',
      frozen: '0',
      borrowed: '0',
    })
    expect(bench.defects()).toEqual([])
  })

  test('reaches no order of another account', () => {
    const { bench, first } = openTwo()
    const request = { symbol: 'BTCUSDT', orderIdList: [{ orderId: first }] }

    expect(
      dataOf(bench.service.answer('isolatedBatchCancelOrders', BOB, request, bench.now))
        .successList,
    ).toEqual([])
    expect(bench.order(first).status).toBe('live')
  })

  test('an empty list is not a missing one, and an item without an id names no order', () => {
    const { bench, first } = openTwo()
    const cancel = (orderIdList: readonly object[]) =>
      dataOf(
        bench.service.answer(
          'isolatedBatchCancelOrders',
          ALICE,
          { symbol: 'BTCUSDT', orderIdList: [...orderIdList] },
          bench.now,
        ),
      )

    expect(cancel([])).toEqual({ successList: [], failureList: [] })
    expect(cancel([{}])).toEqual({
      successList: [],
      failureList: [{ clientOid: '', errorMsg: 'orderId and clientOid must have one' }],
    })
    expect(bench.order(first).status).toBe('live')
  })

  test.each([
    ['an unknown symbol', { symbol: 'XRPUSDT' }, '40034 Parameter XRPUSDT does not exist'],
    [
      '51 items',
      {
        symbol: 'BTCUSDT',
        orderIdList: Array.from({ length: 51 }, () => ({ clientOid: 'first' })),
      },
      '40912 single cancel cannot exceed 50',
    ],
  ])('is refused with %s', (_, request, refusal) => {
    const { bench, first } = openTwo()

    expect(
      refusalOf(bench.service.answer('isolatedBatchCancelOrders', ALICE, request, bench.now)),
    ).toBe(refusal)
    expect(bench.order(first).status).toBe('live')
  })
})
