import { describe, expect, test } from 'vitest'
import { type Order } from '../../../src/domain/order.ts'
import { type JournalRecord } from '../../../src/domain/record.ts'
import { createBook, storeOrder } from '../../../src/engine/book/book.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { deriveClientOid } from '../../../src/execution/client-oid.ts'
import { own } from '../../../src/lib/own.ts'
import { MOMENT_AT } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const STEP_MS = 100
/** Orders are kept so long after they ended. */
const KEPT_MS = 300_000

function endedOrder(number: number, endedAt: number): Order {
  const key = String(number)
  const clientOid = deriveClientOid({ salt: 'salt', strategyId: STRATEGY, key, generation: 0 })
  return {
    terms: {
      ...{ clientOid, strategyId: STRATEGY, symbol: SYMBOL, purpose: 'place', key, generation: 0 },
      ...{ action: 'openLong', lots: 1, ticks: 1, force: 'gtc', deadlineAt: endedAt },
    },
    ...{ state: 'done', orderId: undefined, filledLots: 0, attempts: 1, reason: '' },
    ...{ firstSentAt: endedAt, lastSentAt: endedAt, unansweredAt: 0, acceptedAt: endedAt, endedAt },
  }
}

/** How many orders were forgotten with each prune, of so many that ended one each ms. */
function forget(orders: number): readonly number[] {
  const book = createBook('one_way_mode')
  for (let number = 0; number < orders; number++)
    storeOrder(own(book), endedOrder(number, MOMENT_AT + number))
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
    expect(forget(4000)).toEqual([4000])
  })

  test('every second, where there are many, so that no event takes long', () => {
    const parts = forget(20_000)

    expect(parts.length).toBeGreaterThan(15)
    expect(Math.max(...parts.slice(0, 15))).toBe(1000)
  })
})
