import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { roundDown, roundUp } from '../wallet/rounding.ts'
import { cancelOrder, endMarketBuy, fillOrder } from './spot-fill.ts'
import { isMarketBuy, isOpen, remainingOf, type SpotOrder } from './spot-order.ts'
import {
  observePrice,
  putLevel,
  putOrder,
  spotMarketOf,
  type SpotLevel,
  type SpotMarket,
  type SpotState,
} from './spot-state.ts'
import { preventSelfTrade } from './spot-self-trade.ts'

/*
 * How orders meet the market. The displayed price does not react to them, and accounts never meet each other.
 * The market says no sizes, so a displayed price holds `displayedNotional` for all orders together until it
 * changes.
 *
 * Coming in, a limit order that reaches the other side takes what is left there. A gtc rest goes on taking at
 * each following price while it reaches it; from the first that it does not reach it rests as a maker. A
 * market order walks further levels, each `levelStepRatio` worse and as deep; what `marketLevelsMax` levels
 * do not hold is cancelled. A resting order is filled whole, at its own price, when the displayed price or a
 * trade goes through it; when they only touch it, it gets what is left at that price.
 */

/** Lets an order into the market: at once, or when its trigger was reached. */
export function enterMarket(state: SpotState, order: SpotOrder, now: number): void {
  const market = spotMarketOf(state, order.symbol)
  order.status = 'new'
  putOrder(state, order)
  preventSelfTrade(state, market, order, now)
  if (!isOpen(order)) return
  if (order.orderType === 'market') return walkLevels(state, market, order, now)
  const reaches = reachesMarket(market.level, order)
  if (reaches && order.force === 'post_only') return cancelOrder(state, order, 'normal_cancel', now)
  if (reaches) takeDisplayed(state, market, order, now)
  if (!isOpen(order)) return
  if (order.force === 'ioc' || order.force === 'fok') return cancelOrder(state, order, 'normal_cancel', now)
  order.isResting = !reaches
  putOrder(state, order)
}

/** Meets every open order of the pair with the displayed price, when that has changed. */
export function matchMarket(state: SpotState, market: SpotMarket, now: number): void {
  if (market.open.size === 0) return
  const before = market.level
  if (!observePrice(state, market)) return
  // The first price after a start is no trade: nobody knows when its last trade was.
  const hasTraded = before.last !== '' && market.level.last !== before.last
  for (const order of byPriority(market.open)) {
    if (!isOpen(order)) continue
    if (order.status !== 'init') meetPrice(state, market, { order, hasTraded, now })
    else if (isTriggered(order, market.level)) enterMarket(state, order, now)
  }
}

export function reachesMarket(
  { ask, bid }: SpotLevel,
  { side, price }: Pick<SpotOrder, 'side' | 'price'>,
): boolean {
  return side === 'buy' ? price.gte(ask) : price.lte(bid)
}

export function isTriggered({ trigger }: SpotOrder, { last }: SpotLevel): boolean {
  if (trigger === undefined) return true
  return trigger.isAbove ? trigger.price.lte(last) : trigger.price.gte(last)
}

interface Meeting {
  readonly order: SpotOrder
  readonly hasTraded: boolean
  readonly now: number
}

function meetPrice(state: SpotState, market: SpotMarket, { order, hasTraded, now }: Meeting): void {
  const { level } = market
  const reaches = reachesMarket(level, order)
  if (!order.isResting) {
    if (reaches) return takeDisplayed(state, market, order, now)
    order.isResting = true
    putOrder(state, order)
  }
  const isBuy = order.side === 'buy'
  const isTradedThrough = hasTraded && (isBuy ? order.price.gt(level.last) : order.price.lt(level.last))
  const isCrossed = isBuy ? order.price.gt(level.ask) : order.price.lt(level.bid)
  const isTouched = reaches || (hasTraded && order.price.eq(level.last))
  if (!isTradedThrough && !isCrossed && !isTouched) return
  const isWhole = isTradedThrough || isCrossed
  const held = isWhole ? undefined : displayedBase(state, market, { order, price: order.price })
  const base = held === undefined ? remainingOf(order) : smaller(held, remainingOf(order))
  if (!base.gt(ZERO)) return
  fillOrder(state, order, { base, price: order.price, scope: 'maker', at: now })
  if (!isWhole) take(state, market, order, base.times(order.price))
}

function takeDisplayed(state: SpotState, market: SpotMarket, order: SpotOrder, now: number): void {
  const price = decimal(order.side === 'buy' ? market.level.ask : market.level.bid)
  const held = displayedBase(state, market, { order, price })
  const remaining = remainingOf(order)
  const base = smaller(held, remaining)
  if (!base.gt(ZERO) || (order.force === 'fok' && base.lt(remaining))) return
  fillOrder(state, order, { base, price, scope: 'taker', at: now })
  take(state, market, order, base.times(price))
}

function walkLevels(state: SpotState, market: SpotMarket, order: SpotOrder, now: number): void {
  const { displayedNotional, marketLevelsMax } = state.settings
  const taken = takenOf(market.level, order)
  const first = Number(roundDown(taken.div(displayedNotional), 0).toString())
  for (let level = first; level < marketLevelsMax && isOpen(order); level++) {
    const price = levelPrice(state, market, { order, level })
    const held = decimal(displayedNotional)
      .times(String(level + 1))
      .minus(takenOf(market.level, order))
    const base = smaller(baseFor(market, held, price), marketBase(market, order, price))
    if (base.gt(ZERO)) {
      fillOrder(state, order, { base, price, scope: 'taker', at: now })
      take(state, market, order, base.times(price))
    }
    if (isOpen(order) && !marketBase(market, order, price).gt(ZERO)) endMarketBuy(state, order, now)
  }
  if (isOpen(order)) cancelOrder(state, order, 'normal_cancel', now)
}

/** What a market order still wants at a price: base coin, rounded down for a buy. */
function marketBase(market: SpotMarket, order: SpotOrder, price: Decimal): Decimal {
  return isMarketBuy(order) ? baseFor(market, remainingOf(order), price) : remainingOf(order)
}

/** Rounded away from the taker, to the pair's price precision. */
function levelPrice(
  state: SpotState,
  { symbol, level: displayed }: SpotMarket,
  { order, level }: { readonly order: SpotOrder; readonly level: number },
): Decimal {
  const step = decimal(state.settings.levelStepRatio).times(String(level))
  const one = decimal('1')
  return order.side === 'buy'
    ? roundUp(one.plus(step).times(displayed.ask), symbol.priceDecimals)
    : roundDown(one.minus(step).times(displayed.bid), symbol.priceDecimals)
}

/** What is left at the displayed price: base coin, rounded down. */
function displayedBase(
  state: SpotState,
  market: SpotMarket,
  { order, price }: { readonly order: SpotOrder; readonly price: Decimal },
): Decimal {
  const left = decimal(state.settings.displayedNotional).minus(takenOf(market.level, order))
  return left.gt(ZERO) ? baseFor(market, left, price) : ZERO
}

function baseFor(market: SpotMarket, quote: Decimal, price: Decimal): Decimal {
  return roundDown(quote.div(price), market.symbol.baseDecimals)
}

function takenOf(level: SpotLevel, { side }: SpotOrder): Decimal {
  return side === 'buy' ? level.takenAsk : level.takenBid
}

function take(state: SpotState, market: SpotMarket, { side }: SpotOrder, quote: Decimal): void {
  const { level } = market
  market.level =
    side === 'buy'
      ? { ...level, takenAsk: level.takenAsk.plus(quote) }
      : { ...level, takenBid: level.takenBid.plus(quote) }
  putLevel(state, market)
}

function smaller(one: Decimal, other: Decimal): Decimal {
  return one.lt(other) ? one : other
}

/** Best price first, then the oldest. Ids of one length compare as texts. */
function byPriority(orders: Iterable<SpotOrder>): SpotOrder[] {
  return [...orders].sort((one, other) => {
    if (one.side !== other.side) return one.side === 'buy' ? -1 : 1
    const better = one.side === 'buy' ? other.price.cmp(one.price) : one.price.cmp(other.price)
    return better !== 0 ? better : one.orderId < other.orderId ? -1 : 1
  })
}
