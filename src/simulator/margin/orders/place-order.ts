import { ZERO } from '../../../lib/decimal.ts'
import { accept, refuse, type OrderReference, type Refusal, type Reply } from '../../shared/reply.ts'
import { larger, roundUp } from '../../wallet/rounding.ts'
import { borrowRefusal } from '../debts/borrow-limit.ts'
import { lend } from '../debts/loans.ts'
import { borrows, balanceOf, type MarginMode, type OrderSource, type BalanceRef } from './margin-order.ts'
import { marginRefusals } from '../margin-refusals.ts'
import { type PlaceMarginOrderRequest } from '../margin-requests.ts'
import { coinIn, moneyOf, refreshBooks, type MarginState } from '../margin-state.ts'
import { enterMarginOrder } from './margin-venue.ts'
import { readTerms } from './order-terms.ts'

interface Placing {
  readonly uid: string
  readonly mode: MarginMode
  readonly source: OrderSource
}

/** What the endpoints ask for: at the prices of now, by the interface. */
export function placeNow(
  state: MarginState,
  { uid, mode }: Omit<Placing, 'source'>,
  request: PlaceMarginOrderRequest,
): Reply<OrderReference> {
  refreshBooks(state)
  return placeOrder(state, { uid, mode, source: 'API' }, request)
}

/**
 * Places an order and lets it into the market at once. An order that may borrow borrows here what is
 * missing, all of it or nothing.
 */
export function placeOrder(
  state: MarginState,
  { uid, mode, source }: Placing,
  request: PlaceMarginOrderRequest,
): Reply<OrderReference> {
  const market = state.symbols.get(request.symbol)
  if (market === undefined) return refuse(marginRefusals.symbolUnknown(request.symbol))
  const ref: BalanceRef = { uid, balance: balanceOf(mode, request.symbol) }
  const refusal = accountRefusal(state, { uid, mode, clientOid: request.clientOid })
  if (refusal !== undefined) return refuse(refusal)
  const terms = readTerms(market, request)
  if ('code' in terms) return refuse(terms)
  const { cost, ...measured } = terms
  const { loanType = 'normal', side, orderType, force = 'gtc', clientOid } = request
  const coin = side === 'buy' ? market.rules.quoteCoin : market.rules.baseCoin
  const missing = larger(ZERO, roundUp(cost.minus(moneyOf(state, ref, coin).available)))
  if (missing.gt(ZERO)) {
    if (!borrows(loanType)) return refuse(marginRefusals.balanceShort())
    const tooMuch = borrowRefusal(state, ref, { coin, amount: missing })
    if (tooMuch !== undefined) return refuse(tooMuch)
    lend(state, ref, { coin, amount: missing })
  }
  state.ports.wallet.freeze(coinIn(ref, coin), cost)
  const order = enterMarginOrder(state, {
    ...{ uid, mode, symbol: request.symbol, clientOid, direction: side, orderType, loanType, source },
    ...measured,
    ...{ frozen: cost, loan: missing, purpose: 'trade' },
    force: orderType === 'market' ? 'gtc' : force,
  })
  return accept({ orderId: order.id, clientOid: order.clientOid })
}

function accountRefusal(
  { orders, settings }: MarginState,
  { uid, mode, clientOid }: { uid: string; mode: MarginMode; clientOid: string | undefined },
): Refusal | undefined {
  const open = orders.openOf(uid).filter((order) => order.mode === mode)
  if (open.length >= settings.openOrdersMax) return marginRefusals.ordersFull()
  const isTaken = clientOid !== undefined && orders.of(uid).some((order) => order.clientOid === clientOid)
  return isTaken ? marginRefusals.duplicateClientOid() : undefined
}
