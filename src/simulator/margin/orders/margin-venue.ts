import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { enterMarket } from '../../matching/match-orders.ts'
import { paidCoin } from '../../services/pair-order.ts'
import { addOrder, beginOrder, pairOf, venueOf, type Receipt } from '../../services/pair-service.ts'
import { wholeFee } from '../../wallet/fees.ts'
import { negated, smaller } from '../../wallet/rounding.ts'
import { payBack, returnLoan } from '../debts/loans.ts'
import { balanceRefOf, repays, type MarginAccountOrder } from './margin-order.ts'
import type { MarginState } from '../margin-state.ts'

export function receive(
  state: MarginState,
  order: MarginAccountOrder,
  { balance, amount }: Receipt,
): void {
  const fee = wholeFee(amount, pairOf(state, order.symbol).rules.feeRate)
  state.ports.wallet.book(balance, 'fee', negated(fee))
  if (!repays(order.loanType)) return
  payBack(state, balanceRefOf(order), { coin: balance.coin, amount: amount.minus(fee) })
}

export function close(state: MarginState, order: MarginAccountOrder, unused: Decimal): void {
  if (!unused.gt(ZERO)) return
  const coin = paidCoin(pairOf(state, order.symbol).rules, order)
  returnLoan(state, balanceRefOf(order), { coin, amount: smaller(unused, order.loan) })
}

export interface NewOrder extends Omit<
  MarginAccountOrder,
  keyof ReturnType<typeof beginOrder> | 'stpMode' | 'clientOid'
> {
  readonly clientOid: string | undefined
}

export function enterMarginOrder(state: MarginState, terms: NewOrder): MarginAccountOrder {
  const pair = pairOf(state, terms.symbol)
  const begun = beginOrder(state.ports, pair, { ...terms, at: state.clock.now })
  // The sample shows the order's id as clientOid if the client set none.
  const order: MarginAccountOrder = {
    ...terms,
    ...begun,
    stpMode: 'none',
    clientOid: terms.clientOid ?? begun.id,
  }
  enterMarket(venueOf(state, pair), addOrder(state, pair, order))
  return order
}
