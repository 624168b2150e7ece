import { z } from 'zod'
import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import * as wire from '../../../protocol/values.ts'
import { costOf, paidCoin, referenceTo, type PairOrder } from '../../services/pair-order.ts'
import { isClientOidTaken, openOrdersOf } from '../../services/pair-service.ts'
import { accept, type OrderReference, type RefusedReply, type Reply } from '../../shared/reply.ts'
import type { BalanceRef } from '../../wallet/coin-money.ts'
import { hasPlaces, larger, roundUp } from '../../wallet/rounding.ts'
import { borrowRefusal, lend } from '../debts/loans.ts'
import { refusals } from '../../shared/refusals.ts'
import { moneyOf, refreshBooks, type MarginPair, type MarginState } from '../margin-state.ts'
import { balanceOf, borrows, LOAN_TYPES, type ModeOwner, type OrderSource } from './margin-order.ts'
import { enterMarginOrder } from './margin-venue.ts'

/** Undocumented. A market buy has `quoteSize`, other orders `baseSize`. */
export const placeMarginFields = {
  symbol: wire.symbol,
  side: wire.side,
  orderType: wire.orderType,
  force: wire.force.optional().describe('Default gtc; a market order has none'),
  price: wire.positiveDecimal.optional(),
  baseSize: wire.positiveDecimal.optional(),
  quoteSize: wire.positiveDecimal.optional(),
  loanType: z.enum(LOAN_TYPES),
  clientOid: wire.clientOid.optional(),
}

const looseRequest = z.looseObject(placeMarginFields).partial({ loanType: true })
export type PlaceMarginOrderRequest = z.input<typeof looseRequest>

export function placeNow(
  state: MarginState,
  { uid, mode }: ModeOwner,
  request: PlaceMarginOrderRequest,
): Reply<OrderReference> {
  refreshBooks(state)
  return placeOrder(state, { uid, mode, source: 'API' }, request)
}

/** A missing amount is borrowed completely or not at all. */
export function placeOrder(
  state: MarginState,
  { uid, mode, source }: ModeOwner & { readonly source: OrderSource },
  request: PlaceMarginOrderRequest,
): Reply<OrderReference> {
  const pair = state.pairs.get(request.symbol)
  if (pair === undefined) return refusals.symbolUnknown(request.symbol)
  const ref: BalanceRef = { uid, balance: balanceOf(mode, request.symbol) }
  const refusal = accountRefusal(state, { uid, mode }, request.clientOid)
  if (refusal !== undefined) return refusal
  const terms = readTerms(pair, request)
  if ('code' in terms) return terms
  const { loanType = 'normal', orderType, force = 'gtc', clientOid } = request
  const [cost, coin] = [costOf(terms), paidCoin(pair.rules, terms)]
  const missing = larger(ZERO, roundUp(cost.minus(moneyOf(state, ref, coin).available)))
  if (missing.gt(ZERO)) {
    if (!borrows(loanType)) return refusals.balanceShort
    const tooMuch = borrowRefusal(state, ref, { coin, amount: missing })
    if (tooMuch !== undefined) return tooMuch
    lend(state, ref, { coin, amount: missing })
  }
  const order = enterMarginOrder(state, {
    uid,
    mode,
    symbol: request.symbol,
    clientOid,
    orderType,
    loanType,
    source,
    ...terms,
    frozen: cost,
    loan: missing,
    purpose: 'trade',
    force: orderType === 'market' ? 'gtc' : force,
  })
  return accept(referenceTo(order))
}

function accountRefusal(
  state: MarginState,
  { uid, mode }: ModeOwner,
  clientOid: string | undefined,
): RefusedReply | undefined {
  const open = openOrdersOf(state, uid).filter((order) => order.mode === mode)
  if (open.length >= state.settings.openOrdersMax) return refusals.ordersFull.margin
  return isClientOidTaken(state, uid, clientOid) ? refusals.duplicateClientOid.margin : undefined
}

type MarginOrderTerms = Pick<PairOrder, 'direction' | 'price' | 'size' | 'isQuoteSized'>

function readTerms(
  pair: MarginPair,
  request: PlaceMarginOrderRequest,
): MarginOrderTerms | RefusedReply {
  const { rules } = pair
  const shown = pair.shownPrices()
  if (shown === undefined) return refusals.noPrice
  const isQuoteSized = request.orderType === 'market' && request.side === 'buy'
  const price = request.orderType === 'limit' ? readPositive(request.price, 'price') : undefined
  if (price !== undefined && 'code' in price) return price
  if (price !== undefined && !hasPlaces(price, rules.priceDecimals)) {
    return refusals.priceStep(pair.price(1).toString())
  }
  if (request.orderType === 'market' && request.price !== undefined)
    return refusals.parameterPresent('price')
  const name = isQuoteSized ? 'quoteSize' : 'baseSize'
  const other = isQuoteSized ? 'baseSize' : 'quoteSize'
  if (request[other] !== undefined) return refusals.parameterPresent(other)
  const size = readPositive(request[name], name)
  if ('code' in size) return size
  const scale = isQuoteSized ? QUOTE_PLACES : rules.sizeDecimals
  if (!hasPlaces(size, scale)) return refusals.scale(name, size.toString(), scale)
  if (!isQuoteSized && size.lt(rules.baseMin)) return refusals.sizeBelowMinimum
  const notional = isQuoteSized ? size : size.times(price ?? shown.bid)
  if (notional.lt(rules.notionalMin))
    return refusals.notionalBelowMinimum(rules.notionalMin.toString())
  return { direction: request.side, price: price ?? ZERO, size, isQuoteSized }
}

const QUOTE_PLACES = 6

const PLAIN_DECIMAL = /^\d{1,20}(\.\d{1,20})?$/

function readPositive(text: string | undefined, name: string): Decimal | RefusedReply {
  if (text === undefined || text === '') return refusals.parameterEmpty(name)
  if (!PLAIN_DECIMAL.test(text)) return refusals.parameter(name)
  const value = decimal(text)
  return value.gt(ZERO) ? value : refusals.parameter(name)
}
