import { z } from 'zod'
import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { spotPlaceOrder as placeOrderRow } from '../../protocol/undocumented/spot-rows.ts'
import { positiveDecimal, stpMode } from '../../protocol/values.ts'
import { accept, refuse, type Refusal, type Reply } from '../core/reply.ts'
import { serviceIdText } from '../wallet/order-sequence.ts'
import { decimalsOf } from '../wallet/rounding.ts'
import { enterMarket, isTriggered, reachesMarket } from './spot-matching.ts'
import { isMarketBuy, isOpen, NO_FEES, type SpotOrder, type SpotTerms } from './spot-order.ts'
import { spotRefusals } from './spot-refusals.ts'
import {
  forgetOrder,
  keepOrder,
  observePrice,
  paidCoin,
  putOrder,
  spotAccountOf,
  spotMarketOf,
  spotBalance,
  type SpotMarket,
  type SpotState,
} from './spot-state.ts'

/** Beside the undocumented endpoint's own fields; the document has neither endpoint nor fields. */
const placeRequest = placeOrderRow.request.extend({
  /** Default `normal`. A tpsl order waits for its triggerPrice. */
  tpslType: z.enum(['normal', 'tpsl']).optional(),
  triggerPrice: positiveDecimal.optional(),
  /** Default `none`. */
  stpMode: stpMode.optional(),
})

type PlaceRequest = z.output<typeof placeRequest>

/** Sizes are in base coin, those of market buys in quote coin. */
export type SpotPlaceOrderRequest = z.input<typeof placeOrderRow.request>

export interface SpotOrderReference {
  readonly orderId: string
  readonly clientOid: string
}

export function placeSpotOrder(
  state: SpotState,
  uid: string,
  request: SpotPlaceOrderRequest,
): Reply<SpotOrderReference> {
  const read = placeRequest.safeParse(request)
  if (!read.success) return refuse(spotRefusals.parameter(String(read.error.issues[0]?.path[0] ?? '')))
  const market = state.markets.get(request.symbol)
  if (market === undefined) return refuse(spotRefusals.symbolUnknown(request.symbol))
  observePrice(state, market)
  const terms = readTerms(state, uid, { market, request: read.data })
  if ('code' in terms) return refuse(terms)
  const { now } = state.clock
  const reference = decimal(market.level.last)
  const order = openOrder(state, terms, { at: now, hasOldFees: false, reference })
  if (isTriggered(order, market.level)) enterMarket(state, order, now)
  return accept({ orderId: order.orderId, clientOid: order.clientOid })
}

interface OpeningFacts {
  /** Unix ms. */
  readonly at: number
  readonly hasOldFees: boolean
  /** The last price. */
  readonly reference: Decimal
}

/** Makes an order of accepted terms and sets its money aside. It waits until it enters the market. */
export function openOrder(
  state: SpotState,
  terms: SpotTerms,
  { at, hasOldFees, reference }: OpeningFacts,
): SpotOrder {
  const market = spotMarketOf(state, terms.symbol)
  const orderId = serviceIdText(state.ports.sequence.next())
  const frozen = frozenFor(terms)
  const order: SpotOrder = {
    ...terms,
    orderId,
    clientOid: terms.clientOid ?? `SIM-${orderId}`,
    isClientOidOwn: terms.clientOid !== undefined,
    status: 'init',
    cancelReason: undefined,
    baseVolume: ZERO,
    quoteVolume: ZERO,
    fees: NO_FEES,
    frozen,
    isResting: false,
    hasOldFees,
    quoteSize: isMarketBuy(terms) ? terms.size : terms.size.times(reference),
    createdAt: at,
    updatedAt: at,
  }
  state.ports.wallet.freeze(spotBalance(terms.uid, paidCoin(market, terms)), frozen)
  keepOrder(state, order)
  putOrder(state, order)
  forgetOldest(state, order.uid)
  return order
}

/** Quote coin for a buy, base coin for a sell: the fee comes out of what is obtained. */
function frozenFor(terms: Pick<SpotTerms, 'side' | 'orderType' | 'price' | 'size'>): Decimal {
  return terms.side === 'sell' || isMarketBuy(terms) ? terms.size : terms.price.times(terms.size)
}

interface Asked {
  readonly market: SpotMarket
  readonly request: PlaceRequest
}

function readTerms(state: SpotState, uid: string, { market, request }: Asked): SpotTerms | Refusal {
  const { level, symbol } = market
  // Document, status: `gray` (grey scale), `offline` (maintenance), `halt` (trading suspended).
  if (symbol.row.status === 'gray') return spotRefusals.symbolClosed()
  if (symbol.row.status !== 'online') return spotRefusals.suspended()
  if (level.last === '') return spotRefusals.suspended()
  const { side, orderType, clientOid, force = 'gtc', stpMode: stp = 'none' } = request
  const isLimit = orderType === 'limit'
  if (isLimit && request.price === undefined) return spotRefusals.parameterEmpty('price')
  const isWaiting = request.tpslType === 'tpsl'
  if (isWaiting && request.triggerPrice === undefined) return spotRefusals.parameterEmpty('triggerPrice')
  const triggerPrice = decimal((isWaiting && request.triggerPrice) || '0')
  const terms: SpotTerms = {
    uid,
    symbol: request.symbol,
    clientOid,
    side,
    orderType,
    force,
    stpMode: stp,
    price: decimal((isLimit && request.price) || '0'),
    size: decimal(request.size),
    trigger: isWaiting ? { price: triggerPrice, isAbove: triggerPrice.gte(level.last) } : undefined,
    entry: 'API',
    source: isLimit ? 'normal' : 'market',
    deductsFee: state.settings.deductsFees,
  }
  return (
    numberRefusal(market, request) ??
    sizeRefusal(market, terms) ??
    priceRefusal(market, terms) ??
    accountRefusal(state, market, terms) ??
    terms
  )
}

function numberRefusal({ symbol }: SpotMarket, request: PlaceRequest): Refusal | undefined {
  const sizeDecimals = isMarketBuy(request) ? symbol.quoteDecimals : symbol.baseDecimals
  const checks = [
    { name: 'size', value: request.size, scale: sizeDecimals },
    { name: 'price', value: request.price ?? '0', scale: symbol.priceDecimals },
    { name: 'triggerPrice', value: request.triggerPrice ?? '0', scale: symbol.priceDecimals },
  ]
  const wrong = checks.find(({ value, scale }) => decimalsOf(value) > scale)
  return wrong && spotRefusals.scale(wrong.name, wrong.value, wrong.scale)
}

function sizeRefusal({ symbol, level }: SpotMarket, terms: SpotTerms): Refusal | undefined {
  const { minTradeAmount, maxTradeAmount, minTradeUSDT } = symbol.row
  if (!terms.size.gt(ZERO)) return spotRefusals.sizeBelowMinimum()
  const price = terms.price.gt(ZERO) ? terms.price : decimal(level.last)
  const notional = isMarketBuy(terms) ? terms.size : terms.size.times(price)
  if (notional.lt(minTradeUSDT)) return spotRefusals.notionalBelowMinimum(minTradeUSDT)
  const base = isMarketBuy(terms) ? terms.size.div(price) : terms.size
  if (base.lt(minTradeAmount)) return spotRefusals.sizeBelowMinimum()
  return base.gt(maxTradeAmount) ? spotRefusals.sizeAboveMaximum() : undefined
}

/** A buy may stand only so far above the last price (or its trigger), a sell only so far below. */
function priceRefusal({ symbol, level }: SpotMarket, terms: SpotTerms): Refusal | undefined {
  if (terms.orderType === 'market') return undefined
  if (!terms.price.gt(ZERO)) return spotRefusals.parameter('price')
  const reference = terms.trigger?.price ?? decimal(level.last)
  const limit = reference.times(terms.side === 'buy' ? symbol.buyPriceRatioMax : symbol.sellPriceRatioMin)
  if (terms.side === 'buy' && terms.price.gt(limit)) return spotRefusals.priceAboveLimit(limit.toString())
  if (terms.side === 'sell' && terms.price.lt(limit)) return spotRefusals.priceBelowLimit(limit.toString())
  const takesAtOnce = terms.trigger === undefined && reachesMarket(level, terms)
  if (terms.force !== 'post_only' || !takesAtOnce) return undefined
  return terms.side === 'buy' ? spotRefusals.postOnlyBuyWouldTake() : spotRefusals.postOnlySellWouldTake()
}

function accountRefusal(state: SpotState, market: SpotMarket, terms: SpotTerms): Refusal | undefined {
  const account = spotAccountOf(state, terms.uid)
  const { clientOid } = terms
  if (clientOid !== undefined && account.byClientOid.has(clientOid)) return spotRefusals.duplicateClientOid()
  const open = [...market.open].filter(({ uid }) => uid === terms.uid).length
  const { openOrdersMax } = market.symbol
  if (open >= openOrdersMax) return spotRefusals.ordersFull(openOrdersMax)
  const { available } = state.ports.wallet.coin(spotBalance(terms.uid, paidCoin(market, terms)))
  return available.lt(frozenFor(terms)) ? spotRefusals.balance() : undefined
}

/** Beyond `ordersMax` the oldest orders that are done are forgotten. */
function forgetOldest(state: SpotState, uid: string): void {
  const account = spotAccountOf(state, uid)
  if (account.orders.size <= state.settings.ordersMax) return
  for (const order of account.orders.values()) {
    if (isOpen(order)) continue
    forgetOrder(state, account, order)
    return
  }
}
