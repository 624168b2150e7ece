import type { OrderId } from '../domain/ids.ts'
import { isTerminal, type Order, type OrderState, type OrderTerms } from '../domain/order.ts'

/**
 * The states of an order and its transitions, by number; docs/orders.md describes them in words.
 *
 *     risk no                ttl                      definite refusal of the only attempt
 *     NEW ──────► DENIED    ┌──────► EXPIRED*        ┌──────────────────────► REJECTED*
 *      │ granted            │                        │
 *      │                  QUEUED ──SEND durable──► SENT ──accepted, exists──► LIVE ──fills = size──► FILLED*
 *      └─SEND durable─► SENT  ▲ ▲                    │ │                      │  ▲ ──settled, resolved► DONE*
 *                             │ └──not a byte left───┘ │                      │  └─ a late orderId binds orphans
 *                             │                        └─429, timeout, 5xx, garbled, missing, crash─► UNKNOWN
 *                             │                                                                         │
 *                             └──────────── absent, still wanted, inside the window ────────────────────┤
 *                                                                       evidence: it existed ├──► LIVE, DONE*
 *                                                                       evidence: none       ├──► ABSENT*
 *                                                                       contradiction        └──► QUARANTINED
 *     (* terminal: absorbing, but a late fill is still counted)               released by an operator ──► DONE*
 *
 * | #  | from → to             | heard                                       | function           |
 * |----|-----------------------|---------------------------------------------|--------------------|
 * | 1  | NEW → DENIED          | risk, stop, stale data, precision, key used | (1)                |
 * | 2  | NEW → SENT            | approved, granted, SEND durable             | `createSentOrder`  |
 * | 3  | QUEUED → EXPIRED      | not wanted any more, attempts = 0           | `markExpired`      |
 * | 3b | QUEUED → UNKNOWN      | not wanted any more, too late, attempts > 0 | `markUnknown`      |
 * | 4  | QUEUED → SENT         | SEND durable                                | `markSentAgain`    |
 * | 5  | SENT → LIVE           | in the success list, with an orderId or not | `markAccepted` (2) |
 * | 6  | SENT → LIVE           | a duplicate: it exists                      | `markAccepted` (2) |
 * | 7  | SENT → REJECTED       | a definite code, attempts = 1, else UNKNOWN | `markRejected`     |
 * | 8  | SENT → QUEUED         | never written: attempts less one            | `markNotSent`      |
 * |    | SENT → QUEUED         | its time was refused: the attempt counts    | `markClockRefused` |
 * | 9  | SENT → UNKNOWN        | everything else, and what a crash left SENT | `markUnknown`      |
 * | 10 | LIVE → FILLED         | the fills make up its size                  | `applyFillToOrder` |
 * | 11 | LIVE → DONE           | matched or dead, or resolved, and settled   | `markDone`         |
 * | 12 | UNKNOWN → LIVE        | a cancel-all lists it                       | `markAccepted`     |
 * |    | UNKNOWN → DONE        | its fills show it, or a cancel-all listed it| `markDone`         |
 * |    | UNKNOWN → ABSENT      | no trace after its deadline                 | `markAbsent`       |
 * |    | UNKNOWN → QUEUED      | the same, still wanted, inside the window   | `markQueuedAgain`  |
 * |    | UNKNOWN → QUARANTINED | evidence that contradicts itself            | `markQuarantined`  |
 * | 13 | QUARANTINED → DONE    | an operator has looked, and it was resolved | `markReleased`     |
 * | 14 | not ended → UNKNOWN   | the journal of what happened since is lost  | `markLost` (3)     |
 *
 * (1) An order exists only once its batch is granted (late binding). Until then it is a wish among
 * the book's quotes, targets and places, and is denied there. (2) An order that has ended may still
 * get its orderId, for the fills that wait for it. (3) Only a repair of a damaged journal writes
 * that.
 *
 * Each function makes one transition. From another state it returns the order unchanged, so that a
 * repeated event changes nothing.
 */

/** Row 2. `requestAt`: Unix ms, exchange clock. */
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

/** Row 4: the same body under the same clientOid. */
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
 * Rows 5, 6 and 12: SENT, QUEUED, UNKNOWN → LIVE. The orderId may be missing; an ended order may
 * still get one, for the fills that wait for it. `at`: Unix ms, our clock.
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

/** Row 7; UNKNOWN when an earlier copy may live. */
export function markRejected(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return { ...order, state: order.attempts === 1 ? 'rejected' : 'unknown', reason }
}

/** Row 8: no byte left, so the attempt does not count. */
export function markNotSent(order: Order, reason: string): Order {
  if (order.state !== 'sent') return order
  return { ...order, state: 'queued', attempts: order.attempts - 1, reason }
}

/**
 * Row 8: the time was refused. That means "may retry", not "certainly absent", so the attempt
 * counts: a definite refusal of the next one leaves the order unknown. It was answered, so only an
 * earlier copy can be on its way.
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

/** Row 14. It may have been sent, also again, until `at` (Unix ms). */
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
 * Rows 3b and 9. Never counts as refused, never sent under a new id (ORD3). `isAnswered`: by a 429,
 * so only an earlier copy can be on its way.
 */
export function markUnknown(order: Order, reason: string, isAnswered = false): Order {
  if (order.state !== 'sent' && order.state !== 'queued') return order
  const unansweredAt = isAnswered && order.attempts === 1 ? 0 : order.unansweredAt
  return { ...order, state: 'unknown', unansweredAt, reason }
}

/** Row 3. */
export function markExpired(order: Order, reason: string): Order {
  if (order.state !== 'queued' || order.attempts > 0) return order
  return { ...order, state: 'expired', reason }
}

/** Rows 11 and 12: it existed, is not live any more, and its fills are known. */
export function markDone(order: Order, orderId: OrderId | undefined, reason: string): Order {
  if (isTerminal(order) || order.state === 'quarantined') return order
  return settleIfFull({ ...order, state: 'done', orderId: orderId ?? order.orderId, reason })
}

/** Row 12: proved never to have existed, so it has no fills. */
export function markAbsent(order: Order, reason: string): Order {
  return order.state === 'unknown' && order.filledLots === 0
    ? { ...order, state: 'absent', reason }
    : order
}

/**
 * Row 12: sent again as the very same item. Attempts stay counted: if the copy is refused, the
 * first may still exist.
 */
export function markQueuedAgain(order: Order, reason: string): Order {
  return order.state === 'unknown' && order.filledLots === 0
    ? { ...order, state: 'queued', reason }
    : order
}

/** Row 12, from any state: an operator must look. */
export function markQuarantined(order: Order, reason: string): Order {
  return { ...order, state: 'quarantined', reason }
}

/** Row 13: an operator has looked, and it was proved not to rest. */
export function markReleased(order: Order, orderId: OrderId | undefined, reason: string): Order {
  if (order.state !== 'quarantined') return order
  return { ...order, state: 'done', orderId: order.orderId ?? orderId, reason }
}

/** Row 10. More than its size is a contradiction. */
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
 * Sent again only while the exchange certainly remembers the first copy (ORD2). `exchangeNow`: Unix
 * ms.
 */
export function isInsideWindow(order: Order, exchangeNow: number): boolean {
  if (order.attempts === 0) return true
  return exchangeNow - order.firstSentAt < IDEMPOTENCY_WINDOW_MS - WINDOW_GUARD_MS
}
