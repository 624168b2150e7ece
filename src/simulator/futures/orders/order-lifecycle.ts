import { createRandom } from '../../../lib/random.ts'
import { drawLatency } from '../../shared/latency.ts'
import {
  accountOf,
  symbolOf,
  matchingOf,
  type ExchangeAccount,
  type CoreState,
} from '../core-state.ts'
import type { CancelReason } from '../../matching/book-order.ts'
import * as lifecycle from '../../matching/order-lifecycle.ts'
import { mayOpen, orderIdText, type FuturesOrder, type FuturesOrderTerms } from './order.ts'
import { ACCOUNTS, ORDERS } from '../stored-entities.ts'

export function createOrder(state: CoreState, terms: FuturesOrderTerms): FuturesOrder {
  const { clock, settings } = state
  const sequence = ++clock.orderSequence
  const account = accountOf(state, terms.uid)
  const order: FuturesOrder = {
    ...terms,
    ...lifecycle.pendingSince(clock.now),
    sequence,
    clientOid: terms.clientOid ?? `SIM-${orderIdText(sequence)}`,
    filledLots: 0,
    dueAt:
      clock.now +
      (terms.source === 'SYS' ? 0 : settings.matchingLagMs + entryLatency(state, terms)),
  }
  account.openOrders.set(sequence, order)
  account.counts.ordersAccepted++
  state.rows.put(ORDERS, order)
  state.rows.put(ACCOUNTS, account)
  return order
}

/** Orders of one moment have the same latency, so that a batch arrives together. */
function entryLatency({ settings, seed, clock }: CoreState, { uid }: FuturesOrderTerms): number {
  if (settings.entryLatency.medianMs === 0) return 0
  return drawLatency(settings.entryLatency, createRandom(`${seed}/entry/${uid}/${clock.now}`))
}

export function cancelOrder(state: CoreState, order: FuturesOrder, reason: CancelReason): void {
  lifecycle.cancelOrder(matchingOf(symbolOf(state, order.symbol)), order, reason)
}

export function cancelClosingOrders(
  state: CoreState,
  of: Pick<FuturesOrder, 'uid' | 'symbol' | 'slot'>,
  reason: CancelReason,
  but?: FuturesOrder,
): void {
  for (const order of closingOrders(accountOf(state, of.uid), of)) {
    if (order !== but) cancelOrder(state, order, reason)
  }
}

export function closingOrders(
  account: ExchangeAccount,
  of: Pick<FuturesOrder, 'symbol' | 'slot'>,
): FuturesOrder[] {
  const isClosing = (order: FuturesOrder) =>
    order.symbol === of.symbol && order.slot === of.slot && !mayOpen(order)
  return [...account.openOrders.values()].filter(isClosing)
}
