import type { Order } from '../domain/order.ts'

/** The document, batch place: "clientOid: unique; idempotency window 20 minutes". */
const IDEMPOTENCY_WINDOW_MS = 20 * 60_000
/** Taken off the window: clocks may differ, and a request may be delayed on its way. */
const WINDOW_GUARD_MS = 5 * 60_000

/**
 * Whether an order may be sent again under its clientOid: only while the exchange certainly remembers the first copy
 * (ORD2). `exchangeNow`: Unix ms, exchange clock.
 */
export function isInsideWindow(order: Order, exchangeNow: number): boolean {
  if (order.attempts === 0) return true
  return exchangeNow - order.firstSentAt < IDEMPOTENCY_WINDOW_MS - WINDOW_GUARD_MS
}
