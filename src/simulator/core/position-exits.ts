import { accountOf, type CoreState, type SymbolState } from './core-state.ts'
import { cancelOrder, closingOrders } from './order-lifecycle.ts'
import { type PositionTrigger } from './order.ts'
import { type Position } from './position.ts'
import { POSITIONS } from './stored-entities.ts'
import { closePosition, restClosingOrder } from './system-close.ts'

/*
 * Take-profits and stop-losses of positions. They close the whole position: by market order, or by a limit
 * order where an execution price was given. The order is the system's (enterPointSource SYS): no request of
 * the account made it. Resting closes give way to it.
 */

/** Fires what a new quote reaches, at most one exit a position. */
export function fireExits(state: CoreState, symbol: SymbolState): void {
  for (const position of symbol.positions.slice()) {
    if (position.takeProfit === undefined && position.stopLoss === undefined) continue
    const isLong = position.holdSide === 'long'
    if (isReached(symbol, position.stopLoss, !isLong)) fireExit(state, position, position.stopLoss)
    else if (isReached(symbol, position.takeProfit, isLong)) fireExit(state, position, position.takeProfit)
  }
}

/** What a trigger of this type watches: the latest trade, or the mark price. */
export function watchedTicks(symbol: SymbolState, triggerType: 'fill_price' | 'mark_price'): number {
  return triggerType === 'mark_price' ? symbol.markTicks : symbol.market.lastTicks
}

function isReached(symbol: SymbolState, trigger: PositionTrigger | undefined, isRising: boolean): boolean {
  if (trigger === undefined) return false
  const price = watchedTicks(symbol, trigger.triggerType)
  return isRising ? price >= trigger.triggerTicks : price <= trigger.triggerTicks
}

function fireExit(state: CoreState, position: Position, trigger: PositionTrigger | undefined): void {
  position.takeProfit = undefined
  position.stopLoss = undefined
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
  for (const order of closingOrders(accountOf(state, position.uid), position)) {
    cancelOrder(state, order, 'position_gone')
  }
  if (trigger?.executeTicks === undefined) closePosition(state, position)
  else restClosingOrder(state, position, trigger.executeTicks)
}
