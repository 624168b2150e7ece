import { describe, expect, test } from 'vitest'
import { Bench, failures, limit, market } from './bench.ts'

const WINDOW_MS = 20 * 60_000

describe('a clientOid that was seen before', () => {
  test('duplicateError: 40786 within the window, whatever became of the first order', () => {
    const bench = new Bench({ idempotency: 'duplicateError' })
    bench.place('1', [
      market('buy', '0.01', { clientOid: 'a' }),
      limit('buy', '0.01', '59900', { clientOid: 'b' }),
    ])

    const result = bench.place('1', [
      market('buy', '0.01', { clientOid: 'a' }),
      limit('buy', '0.01', '59900', { clientOid: 'b' }),
    ])

    expect(failures(result)).toEqual(['40786 Duplicate clientOid', '40786 Duplicate clientOid'])
    expect(result.failureList).toMatchObject([{ clientOid: 'a', orderId: '' }, { clientOid: 'b' }])
  })

  test('replay: a success again, with the first orderId, and no second order', () => {
    const bench = new Bench({ idempotency: 'replay' })
    const first = bench.place('1', [market('buy', '0.01', { clientOid: 'a' })])

    const again = bench.place('1', [market('buy', '0.01', { clientOid: 'a' })])

    expect(again.successList).toEqual(first.successList)
    expect(bench.fills('1')).toHaveLength(1)
  })

  test('pendingOnly: refused while the first is open, a new order afterwards', () => {
    const bench = new Bench({ idempotency: 'pendingOnly' })
    const order = limit('buy', '0.01', '59900', { clientOid: 'a' })
    bench.place('1', [order])

    expect(failures(bench.place('1', [order]))).toEqual(['40786 Duplicate clientOid'])
    bench.cancelAll('1')
    expect(bench.place('1', [order]).successList).toHaveLength(1)
  })

  test.each(['replay', 'duplicateError'] as const)(
    '%s: forgotten after 20 minutes, even when its order is open',
    (idempotency) => {
      const bench = new Bench({ idempotency })
      const order = limit('buy', '0.01', '59900', { clientOid: 'a' })
      bench.place('1', [order])

      bench.wait(WINDOW_MS - 1)
      bench.place('1', [order])
      expect(bench.openOrders('1')).toEqual(['a'])
      bench.wait(1)
      bench.place('1', [order])

      expect(bench.openOrders('1')).toEqual(['a', 'a'])
    },
  )

  test('by another account is no duplicate', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.01', { clientOid: 'a' })])

    expect(
      bench.place('2', [market('buy', '0.01', { clientOid: 'a', tradeSide: 'open' })]).successList,
    ).toHaveLength(1)
  })

  test('of a refused order leaves no trace', () => {
    const bench = new Bench()
    bench.place('1', [market('buy', '0.0001', { clientOid: 'a' })])

    expect(bench.place('1', [market('buy', '0.01', { clientOid: 'a' })]).successList).toHaveLength(
      1,
    )
  })

  test('twice in one batch is a duplicate too', () => {
    const bench = new Bench()

    const result = bench.place('1', [
      market('buy', '0.01', { clientOid: 'a' }),
      market('buy', '0.01', { clientOid: 'a' }),
    ])

    expect([result.successList.length, ...failures(result)]).toEqual([
      1,
      '40786 Duplicate clientOid',
    ])
  })
})
