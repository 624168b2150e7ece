import { type OrderId } from '../domain/ids.ts'
import { isTerminal, type Order, type OrderState, type OrderTerms } from '../domain/order.ts'

/**
 * The life of an order.
 *
 *     (approved) ──SEND durable──► SENT ──accepted / exists──► LIVE ──fills = size──► FILLED*
 *                        ▲          │ │                        │  ▲ ──settled───────► DONE*
 *                        │          │ └─definite refusal of the│  │
 *     QUEUED ────────────┘          │   only attempt─► REJECTED*  └─evidence: it exists─┐
 *       ▲ │ ▲                       │                                                   │
 *       │ │ └─never written, 429 ───┤                                                   │
 *       │ │                         └─timeout, 5xx, unreadable, missing item, restart─► UNKNOWN
 *       │ └─no longer wanted: never sent ► EXPIRED*, else ► UNKNOWN                      │
 *       │                                                          evidence: none ► ABSENT*
 *       │                                              evidence contradicts itself ► QUARANTINED
 *     (* terminal: absorbing, but a late fill is still counted)
 *
 * Each function is one transition and returns the order after it; from a state that has no such transition
 * it returns the order unchanged, so that hearing a thing twice changes nothing.
 */

/** An order whose first SEND record is being written. `requestAt`: Unix ms, exchange clock. */
export function createSentOrder(terms: OrderTerms, requestAt: number): Order {
  return {
    terms,
    state: 'sent',
    orderId: undefined,
    filledLots: 0,
    attempts: 1,
    firstSentAt: requestAt,
    lastSentAt: requestAt,
    acceptedAt: 0,
    reason: '',
  }
}

/** QUEUED → SENT: the same body again, under the same clientOid. */
export function markSentAgain(order: Order, requestAt: number): Order {
  if (order.state !== 'queued') return order
  const firstSentAt = order.attempts === 0 ? requestAt : order.firstSentAt
  return { ...order, state: 'sent', attempts: order.attempts + 1, firstSentAt, lastSentAt: requestAt }
}

/**
 * SENT, QUEUED, UNKNOWN → LIVE. The exchange may accept without telling an id; an order that has ended
 * still learns its id, because fills that nobody explained may wait for it. `at`: Unix ms, our clock.
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

/** SENT → REJECTED, or UNKNOWN when an earlier copy of the same order may live. */
export function markRejected(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return { ...order, state: order.attempts === 1 ? 'rejected' : 'unknown', reason }
}

/** SENT → QUEUED: a 429 or a stale timestamp. The attempt counts: an earlier copy is not disproved. */
export function markRetry(order: Order, reason: string): Order {
  return order.state === 'sent' ? { ...order, state: 'queued', reason } : order
}

/** SENT → QUEUED: not a byte of it left, so the attempt never was. */
export function markNotSent(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return { ...order, state: 'queued', attempts: order.attempts - 1, reason }
}

/** SENT, QUEUED after an attempt → UNKNOWN: never refused, never sent under a new id (ORD3). */
export function markUnknown(order: Order, reason: string): Order {
  return order.state === 'sent' || order.state === 'queued' ? { ...order, state: 'unknown', reason } : order
}

/** QUEUED, never sent → EXPIRED. */
export function markExpired(order: Order, reason: string): Order {
  if (order.state !== 'queued' || order.attempts > 0) return order
  return { ...order, state: 'expired', reason }
}

/** LIVE, UNKNOWN → DONE: it existed and is not live any more; what it filled is known. */
export function markDone(order: Order, orderId: OrderId | undefined, reason: string): Order {
  if (isTerminal(order) || order.state === 'quarantined') return order
  return settleIfFull({ ...order, state: 'done', orderId: orderId ?? order.orderId, reason })
}

/** UNKNOWN → ABSENT: proved never to have existed. A filled order cannot be absent. */
export function markAbsent(order: Order, reason: string): Order {
  return order.state === 'unknown' && order.filledLots === 0 ? { ...order, state: 'absent', reason } : order
}

export function markQuarantined(order: Order, reason: string): Order {
  return { ...order, state: 'quarantined', reason }
}

/** A fill of this order. More than its size is a contradiction that an operator must look at. */
export function applyFillToOrder(order: Order, lots: number): Order {
  const filledLots = order.filledLots + lots
  if (filledLots > order.terms.lots) {
    return { ...order, state: 'quarantined', filledLots, reason: 'filled beyond its size' }
  }
  // Whoever concluded that it never was at the exchange was wrong: a late fill proves it.
  const state = FILLED_NEVERTHELESS.has(order.state) ? 'done' : order.state
  return settleIfFull({ ...order, state, filledLots })
}

const FILLED_NEVERTHELESS: ReadonlySet<OrderState> = new Set(['absent', 'rejected', 'expired'])

const FULL_FROM: ReadonlySet<OrderState> = new Set(['sent', 'live', 'unknown', 'done', 'queued'])

function settleIfFull(order: Order): Order {
  const full = order.filledLots === order.terms.lots && FULL_FROM.has(order.state)
  return full ? { ...order, state: 'filled', reason: '' } : order
}
