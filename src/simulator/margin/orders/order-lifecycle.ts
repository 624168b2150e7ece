import { ZERO } from '../../../lib/decimal.ts'
import { QUEUE_UNKNOWN } from '../../matching/book-order.ts'
import { removeOrder, sideOf } from '../../matching/order-book.ts'
import { serviceIdText } from '../../shared/order-sequence.ts'
import { returnLoan } from '../debts/loans.ts'
import { balanceRefOf, type MarginOrder, type MarginStatus } from './margin-order.ts'
import { MARGIN_ORDERS } from '../margin-rows.ts'
import { accountOf, coinIn, marketOf, type MarginState } from '../margin-state.ts'
import { recordForcedOrder } from '../debts/records.ts'

export type NewOrder = Omit<
  MarginOrder,
  | 'id'
  | 'clientOid'
  | 'filledBase'
  | 'filledQuote'
  | 'status'
  | 'sequence'
  | 'stpMode'
  | 'priceTicks'
  | 'takingAt'
  | 'queueLots'
  | 'createdAt'
  | 'updatedAt'
  | 'ending'
> & { readonly clientOid: string | undefined }

export function createOrder(state: MarginState, terms: NewOrder): MarginOrder {
  const sequence = state.ports.sequence.next()
  const id = serviceIdText(sequence)
  const { book } = marketOf(state, terms.symbol)
  const order: MarginOrder = {
    ...terms,
    ...{ id, sequence, stpMode: 'none', takingAt: 0, queueLots: QUEUE_UNKNOWN },
    priceTicks: terms.orderType === 'limit' ? book.ticks(terms.price ?? ZERO) : 0,
    // The sample answers an order without a clientOid with its orderId under both names.
    clientOid: terms.clientOid ?? id,
    filledBase: ZERO,
    filledQuote: ZERO,
    status: 'live',
    createdAt: state.clock.now,
    updatedAt: state.clock.now,
    ending: 0,
  }
  accountOf(state, order.uid).open.set(id, order)
  state.ports.rows.put(MARGIN_ORDERS, order)
  return order
}

/** The coin that the order pays with. */
export function spentCoin(state: MarginState, order: Pick<MarginOrder, 'symbol' | 'direction'>): string {
  const { rules } = marketOf(state, order.symbol)
  return order.direction === 'buy' ? rules.quoteCoin : rules.baseCoin
}

/** Ends the order: what it had set aside is free again, and what it borrowed and did not use goes back. */
export function endOrder(
  state: MarginState,
  order: MarginOrder,
  status: Exclude<MarginStatus, 'live' | 'partial_fill'>,
): void {
  const account = accountOf(state, order.uid)
  const ref = balanceRefOf(order)
  const coin = spentCoin(state, order)
  const unused = order.frozen
  if (unused.gt(ZERO)) {
    state.ports.wallet.unfreeze(coinIn(ref, coin), unused)
    order.frozen = ZERO
    returnLoan(state, ref, { coin, amount: unused.lt(order.loan) ? unused : order.loan })
  }
  order.status = status
  order.updatedAt = state.clock.now
  order.ending = ++account.endings
  account.open.delete(order.id)
  removeOrder(sideOf(marketOf(state, order.symbol).book, order), order)
  account.ended.set(order.id, order)
  state.ports.rows.put(MARGIN_ORDERS, order)
  if (order.purpose === 'liquidation') recordForcedOrder(state, order)
  for (const [id, oldest] of account.ended) {
    if (account.ended.size <= state.settings.endedOrdersMax) return
    account.ended.delete(id)
    state.ports.rows.drop(MARGIN_ORDERS, oldest)
  }
}
