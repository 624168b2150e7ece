import { ZERO } from '../../../lib/decimal.ts'
import { levelTicksAt, reachesMarket } from '../../matching/displayed-market.ts'
import { accept, type RefusedReply, type Reply } from '../../shared/reply.ts'
import {
  coinOf,
  positionOf,
  type ExchangeAccount,
  type CoreState,
  type SymbolState,
} from '../core-state.ts'
import { deliveryRefusal } from '../instruments/delivery.ts'
import { priceText } from '../instruments/instruments.ts'
import { availableMargin, openingCost, openingLots } from '../positions/margin.ts'
import { quoteValue } from '../positions/position.ts'
import { refusals } from '../../shared/refusals.ts'
import { cancelOrder, closingOrders } from './order-lifecycle.ts'
import { reduces, remainingLots, remainingLotsOf, type FuturesOrderTerms } from './order.ts'

export interface OrderAdmission {
  readonly terms: FuturesOrderTerms
  readonly isWithoutId: boolean
}

interface Placement {
  readonly state: CoreState
  readonly account: ExchangeAccount
  readonly symbol: SymbolState
  readonly terms: FuturesOrderTerms
  readonly opening: number
}

const RULES: readonly ((placement: Placement) => RefusedReply | undefined)[] = [
  ({ state, symbol, opening }) => deliveryRefusal(symbol, state.clock.now, opening > 0),
  ({ symbol }) => (symbol.market.at === 0 ? refusals.suspended : undefined),
  priceRefusal,
  sizeRefusal,
  postOnlyRefusal,
  countRefusal,
  marginRefusal,
]

/** The first rule that refuses decides. Older orders are cancelled only for an admitted order. */
export function admitOrder(
  state: CoreState,
  account: ExchangeAccount,
  symbol: SymbolState,
  terms: FuturesOrderTerms,
): Reply<OrderAdmission> {
  const placement = { state, account, symbol, terms, opening: openingLots(account, terms) }
  for (const rule of RULES) {
    const refusal = rule(placement)
    if (refusal !== undefined) return refusal
  }
  const closes = terms.action === 'close' || terms.reduceOnly
  return closes ? admitClose(placement) : accept({ terms, isWithoutId: false })
}

const SELL_PRICE_MAX = 10

function priceRefusal({ symbol, terms }: Placement): RefusedReply | undefined {
  const { orderType, direction, priceTicks } = terms
  const { instrument, markTicks } = symbol
  if (orderType === 'market' || markTicks === 0) return undefined
  const isBuy = direction === 'buy'
  const highest = isBuy
    ? Math.floor(markTicks * (1 + instrument.priceLimitRatio))
    : markTicks * SELL_PRICE_MAX
  if (priceTicks > highest) return refusals.priceAboveLimit.futures(priceText(instrument, highest))
  const lowest = isBuy ? 0 : Math.ceil(markTicks * (1 - instrument.priceLimitRatio))
  return priceTicks < lowest
    ? refusals.priceBelowLimit.futures(priceText(instrument, lowest))
    : undefined
}

/** Price times size is exact in integers up to the highest sell price. */
const TICK_LOTS_MAX = Number.MAX_SAFE_INTEGER / (4 * SELL_PRICE_MAX)

function sizeRefusal({ account, symbol, terms, opening }: Placement): RefusedReply | undefined {
  const { orderType, lots, priceTicks } = terms
  const { limitLotsMax, marketLotsMax, notionalMin } = symbol.instrument
  if (lots > (orderType === 'limit' ? limitLotsMax : marketLotsMax))
    return refusals.sizeAboveMaximum
  if (opening === 0) return undefined
  const held = heldLots(account, symbol) + lots
  if (held * symbol.market.lastTicks > TICK_LOTS_MAX) return refusals.sizeAboveMaximum
  const value = quoteValue(
    symbol.instrument,
    priceTicks > 0 ? priceTicks : symbol.market.lastTicks,
    lots,
  )
  return value.lt(notionalMin) ? refusals.notionalBelowMinimum(notionalMin) : undefined
}

function heldLots(
  { positions, openOrders }: ExchangeAccount,
  { instrument: { symbol } }: SymbolState,
): number {
  let held = 0
  for (const position of positions.values()) if (position.symbol === symbol) held += position.lots
  for (const order of openOrders.values()) if (order.symbol === symbol) held += remainingLots(order)
  return held
}

/** With a matching lag the order is accepted first, and cancelled when it arrives. */
function postOnlyRefusal({ state, symbol, terms }: Placement): RefusedReply | undefined {
  const { postOnlyCross, matchingLagMs } = state.settings
  if (terms.force !== 'post_only' || terms.orderType !== 'limit') return undefined
  if (postOnlyCross === 'cancel' || matchingLagMs > 0 || !reachesMarket(symbol.market, terms))
    return undefined
  return terms.direction === 'buy' ? refusals.postOnlyBuyWouldTake : refusals.postOnlySellWouldTake
}

function countRefusal({ state, account, symbol, terms }: Placement): RefusedReply | undefined {
  const { symbolOrdersMax, productOrdersMax, productType } = symbol.instrument
  if (
    terms.orderType === 'market' ||
    account.openOrders.size < Math.min(symbolOrdersMax, productOrdersMax)
  ) {
    return undefined
  }
  let ofSymbol = 0
  let ofProduct = 0
  for (const order of account.openOrders.values()) {
    if (order.symbol === terms.symbol) ofSymbol++
    if (state.symbols.get(order.symbol)?.instrument.productType === productType) ofProduct++
  }
  if (ofSymbol >= symbolOrdersMax) return refusals.ordersFull.symbol(symbolOrdersMax)
  return ofProduct >= productOrdersMax ? refusals.ordersFull.product : undefined
}

function marginRefusal({
  state,
  account,
  symbol,
  terms,
  opening,
}: Placement): RefusedReply | undefined {
  if (opening === 0) return undefined
  const { marginCoin } = symbol.instrument
  if (coinOf(account, marginCoin).balance.lte(ZERO)) return refusals.balanceEmpty
  const available = availableMargin(state, account, marginCoin)
  if (available.lte(ZERO)) return refusals.balanceTiedUp
  const { orderType, direction } = terms
  const worst = levelTicksAt(
    symbol.market,
    direction,
    direction === 'buy' ? state.settings.marketLevelsMax : 0,
  )
  const ticks = orderType === 'limit' ? terms.priceTicks : worst
  const cost = openingCost(state, account, symbol, { tickLots: ticks * opening, lots: opening })
  return cost.gt(available) ? refusals.balanceExceeded : undefined
}

function admitClose({ state, account, terms }: Placement): Reply<OrderAdmission> {
  const position = positionOf(account, terms.symbol, terms.slot)
  if (position === undefined || !reduces(terms, position)) return refusals.noPosition
  const resting = closingOrders(account, terms).filter(
    ({ direction }) => direction === terms.direction,
  )
  const held = remainingLotsOf(resting)
  const available = position.lots - held
  if (terms.lots <= available) return accept({ terms, isWithoutId: false })
  const isHedge = terms.action === 'close'
  const excess = isHedge ? state.settings.hedgeCloseExcess : state.settings.reduceOnlyExcess
  if (excess === 'reject')
    return isHedge ? refusals.positionUnavailable : refusals.reduceOnlyExceeded
  if (excess === 'closeRemainder') {
    if (available <= 0) return refusals.positionUnavailable
    return accept({ terms: { ...terms, lots: available }, isWithoutId: false })
  }
  const lots = Math.min(terms.lots, position.lots)
  let left = held
  for (const order of resting) {
    if (left <= position.lots - lots) break
    left -= remainingLots(order)
    cancelOrder(state, order, 'reduce_only')
  }
  return accept({ terms: { ...terms, lots }, isWithoutId: excess === 'cancelOlder' })
}
