import { describe, expect, test } from 'vitest'
import {
  fromBookRows,
  toBookRows,
  countBookChanges,
  takeBookChanges,
} from '../../../src/engine/book/book-rows.ts'
import {
  TrackedMap,
  TrackedSegmentedMap,
  TrackedSet,
} from '../../../src/lib/tracked-collections.ts'
import { MemoryRows } from '../../../src/journal/tables/key-table.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { EngineBench } from '../engine-bench.ts'

const LEVELS = [1, 2, 3].map((step) => ({ side: 'buy', ticks: 99_990 - step, lots: 10 }) as const)

describe('[DET2] what a map remembers of its changes', () => {
  test('makes of the rows of before those of now, in the order of the map', () => {
    const random = createRandom('tracked')
    const map = new TrackedMap<string, number>()
    const rows = new MemoryRows()
    for (let checkpoint = 0; checkpoint < 300; checkpoint++) {
      for (let change = random.integer(12); change > 0; change--) {
        const key = `key ${random.integer(8)}`
        if (random.integer(3) === 0) map.delete(key)
        else map.set(key, random.integer(100))
        if (random.integer(50) === 0) map.clear()
      }
      const { removed, put } = map.takeChanges()
      rows.apply(Array.from(removed, (key) => ({ name: 'map', key, value: undefined })))
      rows.apply(Array.from(put, (key) => ({ name: 'map', key, value: String(map.get(key)) })))

      expect(rows.list().map(({ key, value }) => [key, Number(value)])).toEqual([...map])
    }
  })

  test('makes those of a map in segments, in its order', () => {
    const random = createRandom('tracked segments')
    const map = new TrackedSegmentedMap<string, number>(4)
    const rows = new MemoryRows()
    for (let checkpoint = 0; checkpoint < 300; checkpoint++) {
      for (let change = random.integer(12); change > 0; change--) {
        const key = `key ${random.integer(8)}`
        if (random.integer(3) === 0) map.delete(key)
        else map.set(key, random.integer(100))
        if (random.integer(50) === 0) map.clear()
      }
      const changes = map.takeChanges()
      rows.apply(Array.from(changes.removed, (key) => ({ name: 'map', key, value: undefined })))
      rows.apply(
        Array.from(changes.put, (key) => ({ name: 'map', key, value: String(map.get(key)) })),
      )

      const restored = new TrackedSegmentedMap<string, number>(4)
      for (const { key, value } of rows.list()) restored.restore(key, Number(value))
      expect([...restored]).toEqual([...map])
      expect(restored.changedSize).toBe(0)
    }
  })

  test('is gone once it was taken, and leaves out what came and went', () => {
    const set = new TrackedSet<string>()
    set.add('a').add('b').add('c')
    set.delete('c')
    set.takeChanges()
    set.add('a').add('d')
    set.delete('x')
    expect(set.changedSize).toBe(1)

    expect([...set.takeChanges().put]).toEqual(['d'])
  })
})

describe('[DET2] the changes of the book', () => {
  test('are those of the entries that records have touched, and make the same book of the rows', () => {
    const bench = new EngineBench().start()
    bench.quote(...LEVELS)
    bench.accept(bench.grantBatch())
    const rows = new MemoryRows(takeBookChanges(bench.book))
    expect(countBookChanges(bench.book)).toBe(0)

    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [bench.fill({ orderId: '1001' as never, lots: 4 })] })
    const changes = takeBookChanges(bench.book)
    rows.apply(changes)

    expect(new Set(changes.map(({ name }) => name))).toEqual(
      new Set([
        'scalars',
        'trades',
        'orders',
        'holdings',
        'account',
        'entries',
        'money',
        'ownTrades',
      ]),
    )
    expect(changes.filter(({ name }) => name === 'orders')).toHaveLength(1)
    const again = fromBookRows(rows.list())
    expect(JSON.stringify(toBookRows(again))).toBe(JSON.stringify(toBookRows(bench.book)))
    expect(countBookChanges(again)).toBe(0)
  })

  test('are not known of a book that was resumed from a recording', () => {
    const { book } = new EngineBench()
    expect(() => takeBookChanges({ ...book, orders: new Map() })).toThrow(/orders/)
  })
})
