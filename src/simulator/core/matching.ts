import { symbolOf, type CoreState, type SymbolState } from './core-state.ts'
import { executeFill } from './execute-fill.ts'
import { insertOrder } from './order-book.ts'
import { cancelOrder } from './order-lifecycle.ts'
import { isOpen, remainingLots, type Direction, type Order } from './order.ts'
import { putOrder, putSymbol } from './record-changes.ts'
import { preventSelfTrade } from './self-trade.ts'

/*
 * How orders meet the market. The displayed quote does not react to them, and accounts never meet each other.
 *
 * Coming in, a limit order that reaches the other side takes at most what is displayed there and not yet
 * taken. A gtc rest goes on taking at each following quote while it still reaches it, and from the first
 * quote that it does not reach it rests as a maker. A market order walks further: each level beyond the
 * displayed one is `impactTicks` worse and as deep. A quote has `marketLevelsMax` levels for all orders
 * together: beyond them the rest is cancelled, or, when the system closes, filled whole at the last of them.
 *
 * A resting order is filled whole at its own price when the quote or a trade goes through it. When they only
 * touch its price it gets what is displayed, or was traded, there, shared by price, then time.
 */

/** Lets an accepted order into matching. */
export function enterMatching(state: CoreState, order: Order): void {
  const symbol = symbolOf(state, order.symbol)
  order.status = 'live'
  putOrder(state, order)
  const cutTicks = preventSelfTrade(state, symbol, order)
  if (!isOpen(order)) return
  if (order.orderType === 'market') {
    takeAtMarket(state, symbol, order, cutTicks)
    if (isOpen(order)) cancelOrder(state, order, 'no_liquidity')
    return
  }
  const reaches = reachesMarket(symbol, order)
  if (reaches && order.force === 'post_only') return cancelOrder(state, order, 'post_only')
  if (reaches) takeDisplayed(state, symbol, order)
  if (!isOpen(order)) return
  if (order.force === 'ioc' || order.force === 'fok') return cancelOrder(state, order, 'force')
  if (cutTicks !== undefined) return cancelOrder(state, order, 'self_trade')
  if (reaches) order.takingAt = symbol.at
  insertOrder(order.direction === 'buy' ? symbol.buys : symbol.sells, order)
  putOrder(state, order)
}

/** Whether a limit price takes from the displayed quote. */
export function reachesMarket(symbol: SymbolState, order: Pick<Order, 'direction' | 'priceTicks'>): boolean {
  if (symbol.at === 0) return false
  return order.direction === 'buy' ? order.priceTicks >= symbol.askTicks : order.priceTicks <= symbol.bidTicks
}

/** Matches the resting orders against a new quote. The comparison of the best prices is all that most steps cost. */
export function matchResting(state: CoreState, symbol: SymbolState): void {
  const { buys, sells, askTicks, bidTicks, lastTicks } = symbol
  const hasTraded = symbol.tradedLots > 0
  const lowest = hasTraded && lastTicks < askTicks ? lastTicks : askTicks
  const highest = hasTraded && lastTicks > bidTicks ? lastTicks : bidTicks
  const bestBuy = buys.orders[0]
  const bestSell = sells.orders[0]
  if (bestBuy !== undefined && bestBuy.priceTicks >= lowest) {
    for (const order of buys.orders.filter(({ priceTicks }) => priceTicks >= lowest))
      meetQuote(state, symbol, order)
  }
  if (bestSell !== undefined && bestSell.priceTicks <= highest) {
    for (const order of sells.orders.filter(({ priceTicks }) => priceTicks <= highest))
      meetQuote(state, symbol, order)
  }
}

/** Takes at market what the walk gives. @param cutTicks No level at or beyond this price; see self-trade.ts. */
function takeAtMarket(state: CoreState, symbol: SymbolState, order: Order, cutTicks?: number): void {
  const isBuy = order.direction === 'buy'
  const { impactTicks, marketLevelsMax } = state.settings
  const displayed = isBuy ? symbol.askLots : symbol.bidLots
  if (symbol.at === 0 || displayed <= 0) return
  const last = marketLevelsMax - 1
  const first = Math.floor(takenLots(symbol, order.direction) / displayed)
  // The system finds the last level however much was taken; an account finds nothing beyond it.
  for (let level = order.source === 'SYS' ? Math.min(first, last) : first; level <= last; level++) {
    if (!isOpen(order)) return
    const ticks = isBuy
      ? symbol.askTicks + level * impactTicks
      : Math.max(1, symbol.bidTicks - level * impactTicks)
    if (cutTicks !== undefined && (isBuy ? ticks >= cutTicks : ticks <= cutTicks)) return
    const isBottomless = order.source === 'SYS' && level === last
    const depth = isBottomless
      ? remainingLots(order)
      : displayed * (level + 1) - takenLots(symbol, order.direction)
    const filled = executeFill(state, symbol, order, { lots: depth, ticks, scope: 'taker' })
    take(state, symbol, order.direction, filled)
  }
}

function takeDisplayed(state: CoreState, symbol: SymbolState, order: Order): void {
  const isBuy = order.direction === 'buy'
  const displayed = isBuy ? symbol.askLots : symbol.bidLots
  const lots = displayed - takenLots(symbol, order.direction)
  if (lots <= 0 || (order.force === 'fok' && lots < remainingLots(order))) return
  const ticks = isBuy ? symbol.askTicks : symbol.bidTicks
  take(state, symbol, order.direction, executeFill(state, symbol, order, { lots, ticks, scope: 'taker' }))
}

function meetQuote(state: CoreState, symbol: SymbolState, order: Order): void {
  if (!isOpen(order)) return
  const { priceTicks, direction } = order
  const isBuy = direction === 'buy'
  if (reachesMarket(symbol, order)) {
    if (order.takingAt !== 0 && order.takingAt === symbol.previousAt) {
      order.takingAt = symbol.at
      putOrder(state, order)
      return takeDisplayed(state, symbol, order)
    }
    const isTouch = priceTicks === (isBuy ? symbol.askTicks : symbol.bidTicks)
    const displayed = isBuy ? symbol.askLots : symbol.bidLots
    const lots = isTouch ? displayed - takenLots(symbol, direction) : remainingLots(order)
    if (lots <= 0) return
    const filled = executeFill(state, symbol, order, { lots, ticks: priceTicks, scope: 'maker' })
    if (isTouch) take(state, symbol, direction, filled)
    return
  }
  const isTouch = priceTicks === symbol.lastTicks
  const lots = isTouch ? symbol.tradedLots - symbol.takenTradedLots : remainingLots(order)
  if (lots <= 0) return
  const filled = executeFill(state, symbol, order, { lots, ticks: priceTicks, scope: 'maker' })
  if (!isTouch) return
  symbol.takenTradedLots += filled
  putSymbol(state, symbol)
}

function takenLots(symbol: SymbolState, direction: Direction): number {
  return direction === 'buy' ? symbol.takenAskLots : symbol.takenBidLots
}

function take(state: CoreState, symbol: SymbolState, direction: Direction, lots: number): void {
  if (direction === 'buy') symbol.takenAskLots += lots
  else symbol.takenBidLots += lots
  putSymbol(state, symbol)
}
