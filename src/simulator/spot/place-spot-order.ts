import { z } from 'zod'
import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import {
  clientOid as clientOidText,
  force as forceText,
  orderType as orderTypeText,
  positiveDecimal,
  side as sideText,
  stpMode,
  symbol as symbolText,
} from '../../protocol/values.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, type OrderReference, type RefusedReply, type Reply } from '../shared/reply.ts'
import { enterMarket } from '../matching/match-orders.ts'
import { reachesMarket } from '../matching/displayed-market.ts'
import { spotBalance } from '../wallet/coin-money.ts'
import { decimalsOf } from '../wallet/rounding.ts'
import { costOf, paidCoin, referenceTo } from '../services/pair-order.ts'
import {
  addOrder,
  beginOrder,
  isClientOidTaken,
  openOrdersOf,
  pairOf,
  venueOf,
} from '../services/pair-service.ts'
import { NO_FEES, type SpotOrder, type SpotTerms } from './spot-order.ts'
import { refusals } from '../shared/refusals.ts'
import { isTriggered } from './spot-venue.ts'
import type { SpotPair, SpotState } from './spot-state.ts'

export const placeRequest = z.looseObject({
  symbol: symbolText,
  side: sideText,
  orderType: orderTypeText,
  force: forceText.optional(),
  price: positiveDecimal.optional(),
  size: positiveDecimal.describe('Base coin; of a market buy the quote coin'),
  clientOid: clientOidText.optional(),
})

const fullRequest = placeRequest.extend({
  tpslType: z.enum(['normal', 'tpsl']).optional(),
  triggerPrice: positiveDecimal.optional(),
  stpMode: stpMode.optional(),
})

type PlaceRequest = z.output<typeof fullRequest>

/** The size is in base coin, for a market buy in quote coin. */
export type SpotPlaceOrderRequest = z.input<typeof placeRequest>

export function placeSpotOrder(
  state: SpotState,
  { uid }: AccountRef,
  request: SpotPlaceOrderRequest,
): Reply<OrderReference> {
  const read = fullRequest.safeParse(request)
  if (!read.success) return refusals.parameter(String(read.error.issues[0]?.path[0] ?? ''))
  const pair = state.pairs.get(request.symbol)
  if (pair === undefined) return refusals.symbolUnknown(request.symbol)
  pair.refresh()
  const terms = readTerms(state, uid, { pair, request: read.data })
  if ('code' in terms) return terms
  const { now } = state.ports.clock
  const order = openOrder(state, terms, { at: now, hasOldFees: false, reference: pair.lastPrice() })
  if (isTriggered(order, pair)) enterMarket(venueOf(state, pair), order)
  return accept(referenceTo(order))
}

interface OpeningFacts {
  readonly at: number
  readonly hasOldFees: boolean
  readonly reference: Decimal
}

export function openOrder(
  state: SpotState,
  terms: SpotTerms,
  { at, hasOldFees, reference }: OpeningFacts,
): SpotOrder {
  const pair = pairOf(state, terms.symbol)
  const begun = beginOrder(state.ports, pair, { ...terms, at })
  return addOrder(state, pair, {
    ...terms,
    ...begun,
    triggerTicks: pair.ticks(terms.trigger?.price ?? ZERO),
    clientOid: terms.clientOid ?? `SIM-${begun.id}`,
    isClientOidOwn: terms.clientOid !== undefined,
    fees: NO_FEES,
    frozen: costOf(terms),
    hasOldFees,
    quoteSize: terms.isQuoteSized ? terms.size : terms.size.times(reference),
  })
}

function readTerms(
  state: SpotState,
  uid: string,
  { pair, request }: { readonly pair: SpotPair; readonly request: PlaceRequest },
): SpotTerms | RefusedReply {
  const { status } = pair.rules.row
  // Document, status: `gray` (grey scale), `offline` (maintenance), `halt` (trading suspended).
  if (status === 'gray') return refusals.symbolClosed
  if (status !== 'online' || pair.market.at === 0) return refusals.suspended
  const { side, orderType, clientOid, force = 'gtc', stpMode: stp = 'none' } = request
  const isLimit = orderType === 'limit'
  if (isLimit && request.price === undefined) return refusals.parameterEmpty('price')
  const isWaiting = request.tpslType === 'tpsl'
  if (isWaiting && request.triggerPrice === undefined)
    return refusals.parameterEmpty('triggerPrice')
  const triggerPrice = decimal((isWaiting && request.triggerPrice) || '0')
  const terms: SpotTerms = {
    uid,
    symbol: request.symbol,
    clientOid,
    direction: side,
    orderType,
    force,
    stpMode: stp,
    price: decimal((isLimit && request.price) || '0'),
    size: decimal(request.size),
    isQuoteSized: !isLimit && side === 'buy',
    trigger: isWaiting
      ? { price: triggerPrice, isAbove: triggerPrice.gte(pair.lastPrice()) }
      : undefined,
    entry: 'API',
    source: isLimit ? 'normal' : 'market',
    deductsFee: state.settings.deductsFees,
  }
  return (
    numberRefusal(pair, terms, request) ??
    sizeRefusal(pair, terms) ??
    priceRefusal(pair, terms) ??
    accountRefusal(state, pair, terms) ??
    terms
  )
}

function numberRefusal(
  { rules }: SpotPair,
  terms: SpotTerms,
  request: PlaceRequest,
): RefusedReply | undefined {
  const sizeDecimals = terms.isQuoteSized ? rules.quoteDecimals : rules.sizeDecimals
  const checks = [
    { name: 'size', value: request.size, scale: sizeDecimals },
    { name: 'price', value: request.price ?? '0', scale: rules.priceDecimals },
    { name: 'triggerPrice', value: request.triggerPrice ?? '0', scale: rules.priceDecimals },
  ]
  const wrong = checks.find(({ value, scale }) => decimalsOf(value) > scale)
  return wrong && refusals.scale(wrong.name, wrong.value, wrong.scale)
}

function sizeRefusal(pair: SpotPair, terms: SpotTerms): RefusedReply | undefined {
  const { minTradeAmount, maxTradeAmount, minTradeUSDT } = pair.rules.row
  if (!terms.size.gt(ZERO)) return refusals.sizeBelowMinimum
  const price = terms.price.gt(ZERO) ? terms.price : pair.lastPrice()
  const notional = terms.isQuoteSized ? terms.size : terms.size.times(price)
  if (notional.lt(minTradeUSDT)) return refusals.notionalBelowMinimum(minTradeUSDT)
  const base = terms.isQuoteSized ? terms.size.div(price) : terms.size
  if (base.lt(minTradeAmount)) return refusals.sizeBelowMinimum
  return base.gt(maxTradeAmount) ? refusals.sizeAboveMaximum : undefined
}

function priceRefusal(pair: SpotPair, terms: SpotTerms): RefusedReply | undefined {
  const { direction, price, trigger } = terms
  const { buyPriceRatioMax, sellPriceRatioMin } = pair.rules
  if (terms.orderType === 'market') return undefined
  if (!price.gt(ZERO)) return refusals.parameter('price')
  const isBuy = direction === 'buy'
  const reference = trigger?.price ?? pair.lastPrice()
  const limit = reference.times(isBuy ? buyPriceRatioMax : sellPriceRatioMin)
  if (isBuy && price.gt(limit)) return refusals.priceAboveLimit.spot(limit.toString())
  if (!isBuy && price.lt(limit)) return refusals.priceBelowLimit.spot(limit.toString())
  if (terms.force !== 'post_only' || trigger !== undefined) return undefined
  if (!reachesMarket(pair.market, { direction, priceTicks: pair.ticks(price) })) return undefined
  return isBuy ? refusals.postOnlyBuyWouldTake : refusals.postOnlySellWouldTake
}

function accountRefusal(
  state: SpotState,
  { rules }: SpotPair,
  terms: SpotTerms,
): RefusedReply | undefined {
  const { uid } = terms
  if (isClientOidTaken(state, uid, terms.clientOid)) return refusals.duplicateClientOid.spot
  const open = openOrdersOf(state, uid).filter((order) => order.symbol === rules.symbol)
  if (open.length >= rules.openOrdersMax) return refusals.ordersFull.spot(rules.openOrdersMax)
  const { available } = state.ports.wallet.coin(spotBalance(uid, paidCoin(rules, terms)))
  return available.lt(costOf(terms)) ? refusals.balanceEmpty : undefined
}
