import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { enterMarket } from '../../matching/match-orders.ts'
import type { CancelReason } from '../../matching/book-order.ts'
import { cancelOrder } from '../../matching/order-lifecycle.ts'
import type { Venue } from '../../matching/venue.ts'
import { beginOrder, pairOf } from '../../services/pair-order.ts'
import { createPairVenue, paidCoin, type Receipt } from '../../services/pair-venue.ts'
import { wholeFee } from '../../wallet/fees.ts'
import { negated, smaller } from '../../wallet/rounding.ts'
import { payBack, returnLoan } from '../debts/loans.ts'
import { balanceOf, balanceRefOf, isForced, repays, type MarginOrder } from './margin-order.ts'
import type { MarginPair, MarginState } from '../margin-state.ts'

export function createVenue(state: MarginState, pair: MarginPair): Venue<MarginOrder> {
  return createPairVenue<MarginOrder>({
    trading: state,
    clock: state.clock,
    pair,
    balanceOf: ({ mode, symbol }) => balanceOf(mode, symbol),
    isForced,
    receive: (order, receipt) => receive(state, order, receipt),
    close: (order, unused) => close(state, order, unused),
  })
}

function receive(state: MarginState, order: MarginOrder, { balance, amount }: Receipt): void {
  const fee = wholeFee(amount, pairOf(state, order.symbol).rules.feeRate)
  state.ports.wallet.book(balance, 'fee', negated(fee))
  if (!repays(order.loanType)) return
  payBack(state, balanceRefOf(order), { coin: balance.coin, amount: amount.minus(fee) })
}

function close(state: MarginState, order: MarginOrder, unused: Decimal): void {
  if (!unused.gt(ZERO)) return
  const coin = paidCoin(pairOf(state, order.symbol).rules, order)
  returnLoan(state, balanceRefOf(order), { coin, amount: smaller(unused, order.loan) })
}

export interface NewOrder extends Omit<
  MarginOrder,
  keyof ReturnType<typeof beginOrder> | 'stpMode' | 'clientOid'
> {
  readonly clientOid: string | undefined
}

export function enterMarginOrder(state: MarginState, terms: NewOrder): MarginOrder {
  const pair = pairOf(state, terms.symbol)
  const begun = beginOrder(state.ports, pair, { ...terms, at: state.clock.now })
  // The sample shows an order's id as its clientOid if it has none.
  const order: MarginOrder = {
    ...terms,
    ...begun,
    stpMode: 'none',
    clientOid: terms.clientOid ?? begun.id,
  }
  pair.waiting.add(order)
  state.orders.add(order)
  enterMarket(createVenue(state, pair), order)
  return order
}

export function cancelMarginOrder(
  state: MarginState,
  order: MarginOrder,
  reason: CancelReason,
): void {
  cancelOrder(createVenue(state, pairOf(state, order.symbol)), order, reason)
}
