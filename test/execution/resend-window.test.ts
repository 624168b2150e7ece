import { expect, test } from 'vitest'
import type { Order } from '../../src/domain/order.ts'
import { isInsideWindow } from '../../src/execution/order-machine.ts'

const AT = Date.UTC(2025, 5, 2, 6)
const MINUTE_MS = 60_000

/** An order whose first copy was signed at {@link AT}, and its last one so many minutes later. */
function sent(attempts: number, minutes: number): Order {
  return { attempts, firstSentAt: AT, lastSentAt: AT + minutes * MINUTE_MS } as Order
}

test.each([
  ['fourteen minutes after the only copy', 1, 0, 14, true],
  ['fifteen minutes after the only copy', 1, 0, 15, false],
  ['a minute after the last copy, sixteen after the first', 2, 15, 16, false],
  ['ten minutes after the first of many', 5, 9, 10, true],
])('[ORD2] an order may be sent again %s: %s copies', (_, attempts, last, minutes, isInside) => {
  expect(isInsideWindow(sent(attempts, last), AT + minutes * MINUTE_MS)).toBe(isInside)
})

test('one that has never left may be sent whenever it is wanted', () => {
  expect(isInsideWindow({ ...sent(0, 0), firstSentAt: 0 }, AT)).toBe(true)
})
