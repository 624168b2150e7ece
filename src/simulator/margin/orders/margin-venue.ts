import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { enterMarket } from '../../matching/match-orders.ts'
import { type CancelReason } from '../../matching/book-order.ts'
import { cancelOrder, pendingSince } from '../../matching/order-lifecycle.ts'
import { type Venue } from '../../matching/venue.ts'
import { createPairVenue, paidCoin, type Receipt } from '../../services/pair-venue.ts'
import { serviceIdText } from '../../shared/order-sequence.ts'
import { wholeFee } from '../../wallet/fees.ts'
import { negated } from '../../wallet/rounding.ts'
import { payBack, returnLoan } from '../debts/loans.ts'
import { recordForcedOrder } from '../debts/records.ts'
import { balanceOf, balanceRefOf, isForced, repays, type MarginOrder } from './margin-order.ts'
import { MARGIN_ORDERS } from '../margin-rows.ts'
import { accountOf, marketOf, type MarginState, type SymbolMarket } from '../margin-state.ts'

/** The orders of one symbol, isolated and crossed, for the matching engine. */
export function createVenue(state: MarginState, { book, rules }: SymbolMarket): Venue<MarginOrder> {
  const { baseCoin, quoteCoin } = rules
  return createPairVenue<MarginOrder>({
    ...{ ports: state.ports, clock: state.clock, book, baseCoin, quoteCoin, codec: MARGIN_ORDERS },
    balanceOf: ({ mode, symbol }) => balanceOf(mode, symbol),
    isForced,
    receive: (order, receipt) => receive(state, order, receipt),
    stopWaiting: () => undefined,
    close: (order, unused) => close(state, order, unused),
  })
}

/** The fee out of what was received, and what an order that repays owes of it. */
function receive(state: MarginState, order: MarginOrder, { balance, amount }: Receipt): void {
  const fee = wholeFee(amount, marketOf(state, order.symbol).rules.feeRate)
  state.ports.wallet.book(balance, 'fee', negated(fee))
  if (!repays(order.loanType)) return
  payBack(state, balanceRefOf(order), { coin: balance.coin, amount: amount.minus(fee) })
}

/** What it borrowed and did not use goes back. */
function close(state: MarginState, order: MarginOrder, unused: Decimal): void {
  const account = accountOf(state, order.uid)
  const { settings, ports } = state
  if (unused.gt(ZERO)) {
    const coin = paidCoin(marketOf(state, order.symbol).rules, order)
    returnLoan(state, balanceRefOf(order), { coin, amount: unused.lt(order.loan) ? unused : order.loan })
  }
  order.ending = ++account.endings
  account.open.delete(order.id)
  account.ended.set(order.id, order)
  if (order.purpose === 'liquidation') recordForcedOrder(state, order)
  for (const [id, oldest] of account.ended) {
    if (account.ended.size <= settings.endedOrdersMax) return
    account.ended.delete(id)
    ports.rows.drop(MARGIN_ORDERS, oldest)
  }
}

/** What is asked for, after validation. */
export type NewOrder = Pick<MarginOrder, OrderTerm> & { readonly clientOid: string | undefined }

type OrderTerm =
  | 'uid'
  | 'mode'
  | 'symbol'
  | 'direction'
  | 'orderType'
  | 'force'
  | 'loanType'
  | 'source'
  | 'purpose'
  | 'price'
  | 'size'
  | 'isQuoteSized'
  | 'frozen'
  | 'loan'

/** Makes an order of accepted terms, and lets it in. */
export function enterMarginOrder(state: MarginState, terms: NewOrder): MarginOrder {
  const sequence = state.ports.sequence.next()
  const id = serviceIdText(sequence)
  const market = marketOf(state, terms.symbol)
  const order: MarginOrder = {
    ...terms,
    ...pendingSince(state.clock.now),
    ...{ id, sequence, stpMode: 'none', filledBase: ZERO, filledQuote: ZERO, ending: 0 },
    priceTicks: terms.orderType === 'limit' ? market.book.ticks(terms.price) : 0,
    // The sample answers an order without a clientOid with its orderId under both names.
    clientOid: terms.clientOid ?? id,
  }
  accountOf(state, order.uid).open.set(id, order)
  enterMarket(createVenue(state, market), order)
  return order
}

/** By its owner, or when its balance is taken over. */
export function cancelMarginOrder(state: MarginState, order: MarginOrder, reason: CancelReason): void {
  cancelOrder(createVenue(state, marketOf(state, order.symbol)), order, reason)
}
