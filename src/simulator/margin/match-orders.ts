import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { depthAt, levelPrice, take } from './displayed-market.ts'
import { isOpen, type MarginOrder } from './margin-order.ts'
import { putOrder } from './margin-rows.ts'
import { marketOf, type MarginState, type SymbolMarket } from './margin-state.ts'
import { endOrder } from './order-lifecycle.ts'
import { settleFill } from './settle-fill.ts'

/*
 * How orders meet the market. The displayed price does not react to them, and accounts never meet each other.
 *
 * A limit order that reaches the other side takes what is displayed there and not yet taken. A gtc rest goes
 * on taking each time depth is shown, as long as it has reached every price since it came in; from then on
 * it rests, and is filled at its own price: whole when the price goes through it, as far as the displayed
 * depth goes when the price touches it. A market order walks up to `marketLevelsMax` levels; its rest is
 * cancelled. A forced order takes what is displayed, again and again, until it is done.
 */

/** Lets an order in. */
export function enterMarket(state: MarginState, order: MarginOrder): void {
  const market = marketOf(state, order.symbol)
  if (order.purpose !== 'trade') return takeDisplayed(state, market, order)
  if (order.orderType === 'market') {
    walkLevels(state, market, order)
    if (isOpen(order)) endOrder(state, order, 'cancelled')
    return
  }
  const isReached = reaches(market, order)
  if (isReached && order.force === 'post_only') return endOrder(state, order, 'reject')
  if (isReached && (order.force !== 'fok' || isWholeShown(state, market, order))) {
    takeDisplayed(state, market, order)
  }
  if (!isOpen(order)) return
  if (order.force === 'ioc' || order.force === 'fok') return endOrder(state, order, 'cancelled')
  order.isTaking = isReached
  putOrder(state, order)
}

/** Matches every open order of these symbols against what is displayed now, oldest first. */
export function matchOpenOrders(state: MarginState, symbols: ReadonlySet<string>): void {
  for (const account of state.accounts.values()) {
    if (account.open.size === 0) continue
    for (const order of [...account.open.values()]) {
      if (symbols.has(order.symbol) && isOpen(order)) meetPrice(state, marketOf(state, order.symbol), order)
    }
  }
}

function meetPrice(state: MarginState, market: SymbolMarket, order: MarginOrder): void {
  if (order.purpose !== 'trade') return takeDisplayed(state, market, order)
  if (!reaches(market, order)) {
    if (!order.isTaking) return
    order.isTaking = false
    return putOrder(state, order)
  }
  if (order.isTaking) return takeDisplayed(state, market, order)
  const best = levelPrice(market, { direction: order.direction, level: 0 })
  if (order.price === undefined || order.base === undefined || best === undefined) return
  const isTouch = best.eq(order.price)
  const depth = depthAt(state, market, { direction: order.direction, level: 0 })
  const base = settleFill(state, order, { base: isTouch ? depth : order.base, price: order.price })
  if (isTouch && base.gt(ZERO)) take(state, market, { direction: order.direction, base })
}

function takeDisplayed(state: MarginState, market: SymbolMarket, order: MarginOrder): void {
  takeLevel(state, market, { order, level: 0 })
}

function walkLevels(state: MarginState, market: SymbolMarket, order: MarginOrder): void {
  for (let level = 0; level < state.settings.marketLevelsMax && isOpen(order); level++) {
    takeLevel(state, market, { order, level })
  }
}

function takeLevel(
  state: MarginState,
  market: SymbolMarket,
  { order, level }: { readonly order: MarginOrder; readonly level: number },
): void {
  const { direction } = order
  const price = levelPrice(market, { direction, level })
  if (price === undefined) return
  const base = settleFill(state, order, { base: depthAt(state, market, { direction, level }), price })
  if (base.gt(ZERO)) take(state, market, { direction, base })
}

function isWholeShown(state: MarginState, market: SymbolMarket, order: MarginOrder): boolean {
  const wanted: Decimal = order.base ?? ZERO
  return depthAt(state, market, { direction: order.direction, level: 0 }).gte(wanted)
}

function reaches({ shown }: SymbolMarket, { direction, price }: MarginOrder): boolean {
  if (shown === undefined || price === undefined) return false
  return direction === 'buy' ? price.gte(shown.ask) : price.lte(shown.bid)
}
