import { describe, expect, test } from 'vitest'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

describe('[MKT1] an answer that was overtaken', () => {
  test('is no news', () => {
    const bench = new EngineBench().start()
    bench.take('decide')

    bench.price(10_000, bench.now - 1)

    expect(bench.take('decide')).toEqual([])
  })

  test('is not what follows one whose time was minutes ahead', () => {
    const bench = new EngineBench().start()
    bench.price(10_000, bench.now + 180_000)
    bench.pass(250)
    bench.take('decide')

    bench.price(10_010)

    expect(bench.take('decide')).toHaveLength(1)
  })
})

describe('[DET2] a checkpoint', () => {
  test('gives back a book that prints the same when an orderId has become known since', () => {
    const bench = new EngineBench().start()
    bench.decide({
      kind: 'quote',
      symbol: SYMBOL,
      levels: [{ side: 'buy', ticks: 99_990, lots: 10 }],
    })
    const batch = bench.grantBatch()
    const before = JSON.stringify(toBookRows(bench.book))

    const restored = fromBookRows(JSON.parse(before))
    bench.accept(batch)
    for (const order of bench.book.orders.values())
      mutable(restored.orders).set(order.terms.clientOid, order)

    expect(Object.keys([...fromBookRows(JSON.parse(before)).orders.values()][0] ?? {})).toEqual(
      Object.keys([...restored.orders.values()][0] ?? {}),
    )
  })
})
