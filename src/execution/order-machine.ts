import type { OrderId } from '../domain/ids.ts'
import { isTerminal, type Order, type OrderState, type OrderTerms } from '../domain/order.ts'

/**
 * The states of an order (docs/orders.md describes them in words). Those with a star are terminal:
 * only a late fill changes them.
 *
 *     a wish ─────approved, granted, recorded────────────────────► SENT
 *     SENT ────┬──accepted, or called a duplicate────────────────► LIVE
 *              ├──refused for good at its only attempt───────────► REJECTED*
 *              ├──not a byte left, or its time was refused───────► QUEUED
 *              └──all else: 429, timeout, 5xx, garbled, crash────► UNKNOWN
 *     QUEUED ──┬──recorded once more─────────────────────────────► SENT
 *              ├──not wanted any more, and never sent────────────► EXPIRED*
 *              └──not wanted any more, but sent before───────────► UNKNOWN
 *     LIVE ────┬──its fills make up its size─────────────────────► FILLED*
 *              └──matched or cancelled, and its fills are known──► DONE*
 *     UNKNOWN ─┬──a cancel-all lists it──────────────────────────► LIVE
 *              ├──its fills show it, or that cancel-all──────────► DONE*
 *              ├──no trace of it after its deadline──────────────► ABSENT*
 *              ├──the same, still wanted, inside the window──────► QUEUED
 *              └──evidence that contradicts itself───────────────► QUARANTINED
 *     QUARANTINED ──an operator released it, and it was resolved─► DONE*
 *
 * An order exists only once its batch is granted (late binding). Before that it is a wish among the
 * book's quotes, targets and places, and is denied there. What each function does:
 *
 * | function           | from                              | to                |
 * |--------------------|-----------------------------------|-------------------|
 * | `markSentAgain`    | QUEUED                            | SENT              |
 * | `markAccepted`     | QUEUED, SENT, UNKNOWN             | LIVE              |
 * | `markRejected`     | SENT                              | REJECTED, UNKNOWN |
 * | `markNotSent`      | SENT                              | QUEUED            |
 * | `markClockRefused` | SENT                              | QUEUED            |
 * | `markUnknown`      | QUEUED, SENT                      | UNKNOWN           |
 * | `markExpired`      | QUEUED                            | EXPIRED           |
 * | `markDone`         | QUEUED, SENT, LIVE, UNKNOWN       | DONE              |
 * | `markAbsent`       | UNKNOWN                           | ABSENT            |
 * | `markQueuedAgain`  | UNKNOWN                           | QUEUED            |
 * | `markQuarantined`  | any                               | QUARANTINED       |
 * | `markReleased`     | QUARANTINED                       | DONE              |
 * | `markLost`         | QUEUED, SENT, LIVE                | UNKNOWN           |
 * | `applyFillToOrder` | QUEUED, SENT, LIVE, UNKNOWN, DONE | FILLED            |
 * | `applyFillToOrder` | REJECTED, EXPIRED, ABSENT         | DONE, FILLED      |
 * | `applyFillToOrder` | any                               | QUARANTINED       |
 *
 * From another state a function returns the order unchanged, so that a repeated event changes
 * nothing.
 */

/** @param requestAt Unix ms, exchange clock */
export function createSentOrder(terms: OrderTerms, requestAt: number): Order {
  return {
    terms,
    state: 'sent',
    orderId: undefined,
    filledLots: 0,
    attempts: 1,
    firstSentAt: requestAt,
    lastSentAt: requestAt,
    unansweredAt: requestAt,
    acceptedAt: 0,
    endedAt: 0,
    reason: '',
  }
}

export function markSentAgain(order: Order, requestAt: number): Order {
  if (order.state !== 'queued') return order
  const firstSentAt = order.attempts === 0 ? requestAt : order.firstSentAt
  const attempts = order.attempts + 1
  return {
    ...order,
    state: 'sent',
    attempts,
    firstSentAt,
    lastSentAt: requestAt,
    unansweredAt: requestAt,
  }
}

/**
 * The orderId may be missing. An ended order may still get one, for the fills that wait for it.
 * @param at Unix ms, our clock
 */
export function markAccepted(order: Order, orderId: OrderId | undefined, at: number): Order {
  const known = order.orderId ?? orderId
  if (isTerminal(order) || order.state === 'quarantined') {
    return known === order.orderId ? order : { ...order, orderId: known }
  }
  return settleIfFull({
    ...order,
    state: 'live',
    orderId: known,
    acceptedAt: order.acceptedAt || at,
    reason: '',
  })
}

/** If the order was sent before, an earlier copy may live. */
export function markRejected(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return { ...order, state: order.attempts === 1 ? 'rejected' : 'unknown', reason }
}

/** No byte left, so the attempt does not count. */
export function markNotSent(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return { ...order, state: 'queued', attempts: order.attempts - 1, reason }
}

/**
 * The exchange refused the time of the request. That means "may retry", not "certainly absent", so
 * the attempt counts: a definite refusal of the next one leaves the order unknown. This one was
 * answered, so only an earlier copy can be on its way.
 */
export function markClockRefused(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return {
    ...order,
    state: 'queued',
    unansweredAt: order.attempts === 1 ? 0 : order.unansweredAt,
    reason,
  }
}

/**
 * A repair of a damaged journal lost what happened since: the order may have been sent, also again,
 * until `at` (Unix ms).
 */
export function markLost(order: Order, reason: string, at: number): Order {
  if (isTerminal(order) || order.state === 'quarantined') return order
  const attempts = Math.max(1, order.attempts)
  const firstSentAt = order.firstSentAt || at
  return {
    ...order,
    state: 'unknown',
    attempts,
    firstSentAt,
    lastSentAt: at,
    unansweredAt: at,
    reason,
  }
}

/**
 * The order never counts as refused, and is never sent under a new id (ORD3).
 * @param isAnswered a 429 answered it, so only an earlier copy can be on its way
 */
export function markUnknown(order: Order, reason: string, isAnswered = false): Order {
  if (order.state !== 'sent' && order.state !== 'queued') return order
  const unansweredAt = isAnswered && order.attempts === 1 ? 0 : order.unansweredAt
  return { ...order, state: 'unknown', unansweredAt, reason }
}

export function markExpired(order: Order, reason: string): Order {
  if (order.state !== 'queued' || order.attempts > 0) return order
  return { ...order, state: 'expired', reason }
}

/** The order existed, is not live any more, and its fills are known. */
export function markDone(order: Order, orderId: OrderId | undefined, reason: string): Order {
  if (isTerminal(order) || order.state === 'quarantined') return order
  return settleIfFull({ ...order, state: 'done', orderId: orderId ?? order.orderId, reason })
}

/** The order is proved never to have existed, so one with fills stays as it is. */
export function markAbsent(order: Order, reason: string): Order {
  return order.state === 'unknown' && order.filledLots === 0
    ? { ...order, state: 'absent', reason }
    : order
}

/**
 * The very same item is to be sent again. Attempts stay counted: if the copy is refused, the first
 * may still exist.
 */
export function markQueuedAgain(order: Order, reason: string): Order {
  return order.state === 'unknown' && order.filledLots === 0
    ? { ...order, state: 'queued', reason }
    : order
}

export function markQuarantined(order: Order, reason: string): Order {
  return { ...order, state: 'quarantined', reason }
}

export function markReleased(order: Order, orderId: OrderId | undefined, reason: string): Order {
  if (order.state !== 'quarantined') return order
  return { ...order, state: 'done', orderId: order.orderId ?? orderId, reason }
}

export function applyFillToOrder(order: Order, lots: number): Order {
  const filledLots = order.filledLots + lots
  if (filledLots > order.terms.lots) {
    return { ...order, state: 'quarantined', filledLots, reason: 'filled beyond its size' }
  }
  // A late fill proves that the order existed.
  const state = FILLED_NEVERTHELESS.has(order.state) ? 'done' : order.state
  return settleIfFull({ ...order, state, filledLots })
}

const FILLED_NEVERTHELESS: ReadonlySet<OrderState> = new Set(['absent', 'rejected', 'expired'])

const FULL_FROM: ReadonlySet<OrderState> = new Set(['sent', 'live', 'unknown', 'done', 'queued'])

function settleIfFull(order: Order): Order {
  const full = order.filledLots === order.terms.lots && FULL_FROM.has(order.state)
  return full ? { ...order, state: 'filled', reason: '' } : order
}

/** The document, batch place: "clientOid: unique; idempotency window 20 minutes". */
const IDEMPOTENCY_WINDOW_MS = 20 * 60_000
/** Clocks may differ, and a request may be delayed on its way. */
const WINDOW_GUARD_MS = 5 * 60_000

/**
 * ORD2: an order is sent again only while the exchange certainly remembers its first copy.
 * @param exchangeNow Unix ms
 */
export function isInsideWindow(order: Order, exchangeNow: number): boolean {
  if (order.attempts === 0) return true
  return exchangeNow - order.firstSentAt < IDEMPOTENCY_WINDOW_MS - WINDOW_GUARD_MS
}
