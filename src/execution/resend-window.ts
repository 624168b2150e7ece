import { type Order } from '../domain/order.ts'

/** The document, batch place: "clientOid: unique; idempotency window 20 minutes". */
const IDEMPOTENCY_WINDOW_MS = 20 * 60_000
/** What clocks may differ by, and what a request may wait on its way, is taken off. */
const WINDOW_GUARD_MS = 5 * 60_000
/** Copies of one order where resends do not wait for evidence: after so many they do. */
const COPIES_MAX = 3

/**
 * Whether the same item may leave once more under its clientOid: only while the exchange surely remembers the
 * first copy (ORD2). `exchangeNow`: Unix ms, exchange clock.
 */
export function isInsideWindow(order: Order, exchangeNow: number): boolean {
  if (order.attempts === 0) return true
  return exchangeNow - order.firstSentAt < IDEMPOTENCY_WINDOW_MS - WINDOW_GUARD_MS
}

/** Whether an order of unknown fate may be copied at once, trusting the window. */
export function isWorthACopy(order: Order, exchangeNow: number): boolean {
  return order.attempts < COPIES_MAX && isInsideWindow(order, exchangeNow)
}
