import { createRandom } from '../../../lib/random.ts'
import { drawLatency } from '../../shared/latency.ts'
import { accountOf, symbolOf, type Account, type CoreState } from '../core-state.ts'
import { QUEUE_UNKNOWN } from '../../matching/book-order.ts'
import { removeOrder, sideOf } from '../../matching/order-book.ts'
import { isOpen, orderIdText, type CancelReason, type Order, type OrderTerms } from './order.ts'
import { ACCOUNTS, ORDERS } from '../stored-entities.ts'

/** Makes an order of accepted terms; it is pending until {@link Order.dueAt}. */
export function createOrder(state: CoreState, terms: OrderTerms): Order {
  const { clock, settings } = state
  const sequence = ++clock.orderSequence
  const account = accountOf(state, terms.uid)
  const order: Order = {
    ...terms,
    sequence,
    clientOid: terms.clientOid ?? `SIM-${orderIdText(sequence)}`,
    filledLots: 0,
    status: 'pending',
    cancelReason: undefined,
    dueAt: clock.now + (terms.source === 'SYS' ? 0 : settings.matchingLagMs + entryLatency(state, terms)),
    takingAt: 0,
    queueLots: QUEUE_UNKNOWN,
    createdAt: clock.now,
    updatedAt: clock.now,
  }
  account.openOrders.set(sequence, order)
  account.counts.ordersAccepted++
  state.rows.put(ORDERS, order)
  state.rows.put(ACCOUNTS, account)
  return order
}

/** Of one account at one moment it is the same: the orders of a batch arrive together. */
function entryLatency({ settings, seed, clock }: CoreState, { uid }: OrderTerms): number {
  if (settings.entryLatency.medianMs === 0) return 0
  return drawLatency(settings.entryLatency, createRandom(`${seed}/entry/${uid}/${clock.now}`))
}

export function cancelOrder(state: CoreState, order: Order, reason: CancelReason): void {
  if (!isOpen(order)) return
  order.cancelReason = reason
  endOrder(state, order, 'cancelled')
}

/** Counts filled lots; the order ends when none remain. */
export function fillOrder(state: CoreState, order: Order, lots: number): void {
  order.filledLots += lots
  order.updatedAt = state.clock.now
  order.status = 'partially_filled'
  if (order.filledLots >= order.lots) endOrder(state, order, 'filled')
  else state.rows.put(ORDERS, order)
}

/**
 * Cancels what can only close a position that is gone: hedge closes, one-way reduce-only orders. The one that
 * is being filled just now, and has made it go, ends by its own fill.
 */
export function cancelClosingOrders(
  state: CoreState,
  account: Account,
  { gone, but }: { readonly gone: Pick<Order, 'symbol' | 'slot'>; readonly but: Order },
): void {
  for (const order of closingOrders(account, gone)) {
    if (order !== but) cancelOrder(state, order, 'position_gone')
  }
}

/** The open orders that can only close this position, oldest first. */
export function closingOrders(account: Account, of: Pick<Order, 'symbol' | 'slot'>): Order[] {
  const found: Order[] = []
  for (const order of account.openOrders.values()) {
    if (order.symbol !== of.symbol || order.slot !== of.slot) continue
    if (order.action === 'close' || order.reduceOnly) found.push(order)
  }
  return found
}

function endOrder(state: CoreState, order: Order, status: 'filled' | 'cancelled'): void {
  const account = accountOf(state, order.uid)
  const symbol = symbolOf(state, order.symbol)
  if (order.status === 'pending') removeArrival(state, order)
  else removeOrder(sideOf(symbol, order), order)
  order.status = status
  order.updatedAt = state.clock.now
  account.openOrders.delete(order.sequence)
  account.closedOrders.set(order.sequence, order)
  if (status === 'filled') account.counts.ordersFilled++
  else account.counts.ordersCancelled++
  state.rows.put(ORDERS, order)
  state.rows.put(ACCOUNTS, account)
}

function removeArrival(state: CoreState, order: Order): void {
  const index = state.arrivals.indexOf(order)
  if (index >= 0) state.arrivals.splice(index, 1)
}
