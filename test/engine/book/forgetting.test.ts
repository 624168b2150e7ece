import { describe, expect, test } from 'vitest'
import type { Order } from '../../../src/domain/order.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { type ClientOid } from '../../../src/domain/ids.ts'
import { applyRecord, takeEndedBefore } from '../../../src/engine/book/apply-record.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import {
  addEnded,
  createBook,
  type EndedOrder,
  haveEndedBefore,
  storeOrder,
} from '../../../src/engine/book/book.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { deriveClientOid } from '../../../src/execution/batch.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { MOMENT_AT } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const STEP_MS = 100
/** Orders are kept so long after they ended. */
const KEPT_MS = 300_000

function endedOrder(number: number, endedAt: number): Order {
  const key = String(number)
  const clientOid = deriveClientOid({ salt: 'salt', strategyId: STRATEGY, key, generation: 0 })
  return {
    terms: {
      clientOid,
      strategyId: STRATEGY,
      symbol: SYMBOL,
      purpose: 'place',
      key,
      generation: 0,
      action: 'openLong',
      lots: 1,
      ticks: 1,
      force: 'gtc',
      deadlineAt: endedAt,
    },
    state: 'done',
    orderId: undefined,
    filledLots: 0,
    attempts: 1,
    reason: '',
    firstSentAt: endedAt,
    lastSentAt: endedAt,
    unansweredAt: 0,
    acceptedAt: endedAt,
    endedAt: 0,
  }
}

/** How many orders were forgotten with each prune, of so many that ended one each ms. */
function forget(orders: number): readonly number[] {
  const book = createBook('one_way_mode')
  const writable = mutable(book)
  for (let number = 0; number < orders; number++) {
    writable.recordedAt = MOMENT_AT + number
    storeOrder(writable, endedOrder(number, MOMENT_AT + number))
  }
  const engine = createEngine(new EngineBench().settings, book)
  const parts: number[] = []
  const begin = MOMENT_AT + KEPT_MS
  for (let now = begin; now < begin + orders + 10_000; now += STEP_MS) {
    const before = book.orders.size
    const records = engine.step({ kind: 'timePassed' }, now).flatMap(recordOf)
    if (records.some(({ kind }) => kind === 'prune')) parts.push(before - book.orders.size)
  }
  expect(book.orders.size).toBe(0)
  return parts
}

function recordOf(
  effect: ReturnType<ReturnType<typeof createEngine>['step']>[number],
): readonly JournalRecord[] {
  return effect.kind === 'record' ? [effect.record] : []
}

describe('[BND2] orders that ended long ago are forgotten', () => {
  test('every five seconds, where there are few', () => {
    expect(forget(80)).toEqual([80])
  })

  test('five times a second, where there are many, so that no event takes long', () => {
    const parts = forget(4000)

    expect(parts.length).toBeGreaterThanOrEqual(40)
    expect(Math.max(...parts)).toBe(100)
  })
})

describe('[ORD2] the key of an order that is forgotten', () => {
  test('is held while its next order waits, which leaves under a name of its own', () => {
    const bench = new EngineBench().start()
    const terms = { lots: 10, ticks: 100_010, force: 'ioc', ttlMs: 3_600_000 } as const
    bench.decide({ kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', ...terms })
    const batch = bench.grantBatch()
    bench.answer(batch.batchId, TIMED_OUT)
    const by = { reason: 'a test', by: 'a test' }
    const restrict = { kind: 'restrict', scope: SYMBOL, mode: 'halted', ...by } as const
    bench.step({ kind: 'commanded', command: restrict })
    bench.pass(13_000)
    expect(bench.states()).toEqual(['absent'])

    bench.now += KEPT_MS
    bench.pass(10_000)
    expect([bench.states(), bench.book.places.size]).toEqual([[], 1])
    bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...by } })
    bench.pass(1000)

    const [clientOid] = bench.grantBatch().clientOids
    expect(clientOid).toBe(batch.clientOids[0]?.replace(/-0$/, '-1'))
  })
})

describe('[DET2] an order that ended and stands again', () => {
  test('is forgotten when it has ended once more, also of a book that was read back', () => {
    const live = mutable(createBook('one_way_mode'))
    const done = endedOrder(1, MOMENT_AT)
    for (const [at, state] of [
      [1000, 'done'],
      [2000, 'unknown'],
      [500_000, 'done'],
    ] as const) {
      live.recordedAt = at
      storeOrder(live, {
        ...done,
        endedAt: live.orders.get(done.terms.clientOid)?.endedAt ?? 0,
        state,
      })
      const read = mutable(fromBookRows(toBookRows(live)))
      const prune = {
        ordersBefore: 400_000,
        tradesBefore: 0,
        fillsThroughAt: 0,
        keysBefore: 400_000,
      }
      applyRecord(read, { kind: 'prune', at: 600_000, ...prune })
      expect(read.orders.size).toBe(at === 1000 ? 0 : 1)
      if (at === 2000) applyRecord(live, { kind: 'prune', at: 600_000, ...prune })
      expect(live.orders.size).toBe(1)
    }
  })

  test('of many that ended at one moment the same ones are forgotten, in whatever order they are held', () => {
    const names = Array.from({ length: 7 }, (_, number) => `order-${number}` as ClientOid)
    const heldAs = (order: readonly ClientOid[]): EndedOrder[] => [
      { clientOid: 'z' as ClientOid, endedAt: 5 },
      ...order.map((clientOid) => ({ clientOid, endedAt: 10 })),
      { clientOid: 'a' as ClientOid, endedAt: 20 },
    ]
    const [live, read] = [heldAs(names), heldAs(names.toReversed())]

    for (const forgotten of [
      ['z', 'order-0', 'order-1'],
      ['order-2', 'order-3', 'order-4'],
    ]) {
      for (const ended of [live, read])
        expect(takeEndedBefore(ended, 15, 3).map(({ clientOid }) => clientOid)).toEqual(forgotten)
    }
    expect(takeEndedBefore(read, 15, 3)).toHaveLength(2)
    expect(read.map(({ clientOid }) => clientOid)).toEqual(['a'])
  })

  test('and one that ended before others, by a clock that was set back, goes before them', () => {
    const ended: EndedOrder[] = []
    for (const endedAt of [10, 30, 20, 40, 5])
      addEnded(ended, { clientOid: `${endedAt}` as ClientOid, endedAt })

    expect(haveEndedBefore(ended, 5)).toBe(false)
    expect(haveEndedBefore(ended, 6)).toBe(true)
    expect(takeEndedBefore(ended, 25).map(({ endedAt }) => endedAt)).toEqual([5, 10, 20])
    expect(ended.map(({ endedAt }) => endedAt)).toEqual([30, 40])
  })
})
