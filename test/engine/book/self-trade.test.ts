import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId, toTradeId } from '../../../src/domain/ids.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { accountHoldingOf, knowsFill } from '../../../src/engine/book/book.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

/** Two orders of the strategy have met each other: both fills have one tradeId. */
function meet(): { readonly bench: EngineBench; readonly bought: Fill; readonly sold: Fill } {
  const bench = new EngineBench().start()
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 }, { side: 'sell', ticks: 100_010, lots: 10 })
  bench.accept(bench.grantBatch())
  const [buying, selling] = [...bench.book.orders.values()].map(({ orderId }) => orderId)
  const bought = bench.fill({ orderId: buying ?? toOrderId('?'), side: 'buy', lots: 4, fee: '0.1' })
  const sold = { ...bought, orderId: selling ?? toOrderId('?'), side: 'sell', fee: '0.2' } as const
  return { bench, bought, sold }
}

function read(bench: EngineBench, ...fills: readonly Fill[]): void {
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills })
}

function filledLots({ book }: EngineBench): readonly number[] {
  return [...book.orders.values()].map((order) => order.filledLots)
}

describe('[ORD5] the two fills of a self-trade', () => {
  test.each([
    ['in one reading', false],
    ['in two', true],
  ])('are both booked, read %s, and each once', (_, isLate) => {
    const { bench, bought, sold } = meet()
    read(bench, ...(isLate ? [bought] : [bought, sold]))
    read(bench, bought, sold)
    read(bench, bought, sold)

    expect(filledLots(bench)).toEqual([4, 4])
    expect(accountHoldingOf(bench.book, SYMBOL)).toEqual({ longLots: 0, shortLots: 0 })
    expect(
      [...bench.book.money.values()].map(({ fees, fills }) => [fees.toString(), fills]),
    ).toEqual([['0.3', 2]])
  })

  test('[DET2] are known after a restart, from records and from a checkpoint', () => {
    const { bench, bought, sold } = meet()
    read(bench, bought, sold)
    const rows = toBookRows(bench.book)
    bench.restart()
    read(bench, bought, sold)

    expect(filledLots(bench)).toEqual([4, 4])
    expect([bought, sold].map((fill) => knowsFill(fromBookRows(rows), fill))).toEqual([true, true])
  })

  test('a fill that an earlier version named by its trade alone is not counted again', () => {
    const { bench, bought } = meet()
    read(bench, bought)
    const rows = toBookRows(bench.book).map((row) =>
      row.name === 'trades' ? { ...row, key: bought.tradeId } : row,
    )
    bench.engine = createEngine(bench.settings, fromBookRows(rows))
    bench.start({ fills: [bought], holding: { longLots: 4, shortLots: 0 } })
    read(bench, bought, { ...bought, tradeId: toTradeId('another'), lots: 1 })

    expect(filledLots(bench)).toEqual([5, 0])
  })
})
