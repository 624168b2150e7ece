import { describe, expect, test } from 'vitest'
import { fromBookRows, toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { findGridConflict } from '../../../src/engine/book/convert-grids.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

/** Ticks of 0.1 and lots of 0.001: twenty lots are held, a ladder rests, an order waits for its answer. */
function trading(): EngineBench {
  const bench = new EngineBench().start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 20 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [bench.fill({ lots: 20, scope: 'taker', ticks: 100_000 })] })
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  bench.grantBatch()
  return bench
}

const changed = (tick: string, lot: string) => new Map([[SYMBOL, madeInstrument({ tick, lot })]])

/** The same journal under other grids. */
function startWith(before: EngineBench, tick: string, lot: string): EngineBench {
  const bench = new EngineBench({ instruments: changed(tick, lot) })
  bench.records.push(...before.records)
  bench.restart()
  bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
  bench.step({ kind: 'started' })
  return bench
}

describe('a book under other ticks and lots', () => {
  test.each([
    ['0.1', '0.001', 99_990, 10],
    ['0.10', '0.0010', 99_990, 10],
    ['0.01', '0.001', 999_900, 10],
    ['0.1', '0.0001', 99_990, 100],
    ['0.1', '0.01', 99_990, 1],
  ])(
    '[DET2] is converted to ticks of %s and lots of %s, and folds back',
    (tick, lot, ticks, lots) => {
      const before = trading()
      expect(findGridConflict(before.book, changed(tick, lot))).toBeUndefined()

      const { book, records } = startWith(before, tick, lot)

      expect(book.quotes.get(`${STRATEGY}|${SYMBOL}`)).toEqual([{ side: 'buy', ticks, lots }])
      expect(book.targets.get(`${STRATEGY}|${SYMBOL}`)).toBe(2 * lots)
      expect(book.account.get(SYMBOL)).toEqual({ longLots: 2 * lots, shortLots: 0 })
      expect(book.holdings.get(`${STRATEGY}|${SYMBOL}`)).toEqual({
        longLots: 2 * lots,
        shortLots: 0,
      })
      const orders = [...book.orders.values()].map(({ terms, filledLots }) => [
        terms.lots,
        filledLots,
      ])
      expect(orders).toEqual([
        [2 * lots, 2 * lots],
        [lots, 0],
      ])
      expect([...(book.open.get(SYMBOL)?.values() ?? [])]).toMatchObject([
        { terms: { ticks, lots } },
      ])
      expect(book.grids.get(SYMBOL)).toEqual({ tick, lot })
      const again = rebuildBook({ checkpoint: undefined, records }, 'one_way_mode')
      expect(toBookRows(again)).toEqual(toBookRows(book))
      expect(toBookRows(fromBookRows(toBookRows(book)))).toEqual(toBookRows(book))
    },
  )

  test('[ORD5] is converted with the moves that are kept for a fill that waits for its order', () => {
    const before = trading()
    const orphan = before.fill({ orderId: '77' as never, lots: 10 })
    const change = { was: { longLots: 30, shortLots: 0 }, holding: { longLots: 12, shortLots: 0 } }
    before.records.push(
      { kind: 'fills', at: before.now, fills: [orphan] },
      { kind: 'adopt', at: before.now, symbol: SYMBOL, ...change },
    )

    const bench = startWith(before, '0.1', '0.0001')
    bench.records.push({
      kind: 'foreign',
      at: bench.now,
      symbol: SYMBOL,
      orderIds: [orphan.orderId],
    })
    const { book } = bench.restart()

    // Of the 180 lots that were closed, the 100 of nobody went first.
    expect(book.holdings.get(`${STRATEGY}|${SYMBOL}`)).toEqual({ longLots: 120, shortLots: 0 })
    expect(book.account.get(SYMBOL)).toEqual({ longLots: 120, shortLots: 0 })
  })

  test.each([
    ['0.1', '0.003', '20 times 0.001'],
    ['0.1', '0.1', '20 times 0.001'],
    // The first order took up to 10,010.1.
    ['0.5', '0.001', '100101 times 0.1'],
    ['100', '0.001', '100101 times 0.1'],
  ])('is refused where a number does not convert: ticks of %s, lots of %s', (tick, lot, number) => {
    const before = trading()
    const was = { tick: '0.1', lot: '0.001' }

    expect(findGridConflict(before.book, changed(tick, lot))).toEqual({
      symbol: SYMBOL,
      was,
      is: { tick, lot },
      number,
    })
    // The fold is total: whoever starts all the same counts on as before.
    const { book } = startWith(before, tick, lot)
    expect([book.grids.get(SYMBOL), book.targets.get(`${STRATEGY}|${SYMBOL}`)]).toEqual([was, 20])
  })

  test('of an earlier version, which did not say, is taken as it is', () => {
    const before = trading()
    const records = before.records.map((record) => {
      if (record.kind !== 'boot') return record
      const { grids: _, ...old } = record
      return old
    })
    const book = rebuildBook({ checkpoint: undefined, records }, 'one_way_mode')

    expect(findGridConflict(book, changed('0.5', '1'))).toBeUndefined()
    expect(book.grids.size).toBe(0)
  })
})
