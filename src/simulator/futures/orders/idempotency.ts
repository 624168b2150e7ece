import { accept, type OrderReference, type Reply } from '../../shared/reply.ts'
import { refusals } from '../../shared/refusals.ts'
import type { ExchangeAccount, CoreState, IdempotencyEntry } from '../core-state.ts'
import { orderIdText } from './order.ts'
import { IDEMPOTENCY, ORDERS, PLAN_ORDERS } from '../stored-entities.ts'

/**
 * Document: "clientOid: Unique; idempotency window 20 minutes". After the window a retry makes a
 * second order even while the first is open.
 */
export function findEarlierOrder(
  { settings, clock }: CoreState,
  { openOrders, idempotency }: ExchangeAccount,
  clientOid: string,
): Reply<OrderReference> | undefined {
  if (settings.idempotency === 'pendingOnly') {
    for (const order of openOrders.values()) {
      if (order.clientOid === clientOid) return refusals.duplicateClientOid.futures
    }
    return undefined
  }
  const entry = idempotency.get(clientOid)
  if (entry === undefined || clock.now - entry.at >= settings.idempotencyWindowMs) return undefined
  if (settings.idempotency === 'duplicateError') return refusals.duplicateClientOid.futures
  return accept({ orderId: entry.isWithoutId ? '' : orderIdText(entry.orderSequence), clientOid })
}

export function rememberOrder(
  state: CoreState,
  account: ExchangeAccount,
  entry: IdempotencyEntry,
): void {
  account.idempotency.delete(entry.clientOid)
  account.idempotency.set(entry.clientOid, entry)
  state.rows.put(IDEMPOTENCY, { uid: account.setup.uid, ...entry })
  for (const oldest of account.idempotency.values()) {
    if (account.idempotency.size <= state.settings.idempotencyEntriesMax) break
    forget(state, account, oldest)
  }
}

export function pruneWindow(state: CoreState, account: ExchangeAccount): void {
  const endedAt = state.clock.now - state.settings.idempotencyWindowMs
  for (const entry of account.idempotency.values()) {
    if (entry.at > endedAt) break
    forget(state, account, entry)
  }
  for (const order of account.closedOrders.values()) {
    if (
      order.updatedAt > endedAt &&
      account.closedOrders.size <= state.settings.idempotencyEntriesMax
    )
      break
    account.closedOrders.delete(order.sequence)
    state.rows.drop(ORDERS, order)
  }
  for (const plan of account.planOrders.values()) {
    if (plan.status === 'pending' || plan.updatedAt > endedAt) continue
    account.planOrders.delete(plan.sequence)
    state.rows.drop(PLAN_ORDERS, plan)
  }
}

function forget(state: CoreState, account: ExchangeAccount, entry: IdempotencyEntry): void {
  account.idempotency.delete(entry.clientOid)
  state.rows.drop(IDEMPOTENCY, { uid: account.setup.uid, ...entry })
}
