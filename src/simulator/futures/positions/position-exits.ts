import type { CoreState, SymbolState } from '../core-state.ts'
import { cancelClosingOrders } from '../orders/order-lifecycle.ts'
import type { PositionTrigger, TriggerType } from '../orders/order.ts'
import type { Position } from './position.ts'
import { POSITIONS } from '../stored-entities.ts'
import { closePosition } from './system-close.ts'

/** Fills of exits have source SYS, and resting closes give way to exits. */

export function fireExits(state: CoreState, symbol: SymbolState): void {
  let positions: readonly Position[] = symbol.positions
  for (let index = 0; index < positions.length; index++) {
    const position = positions[index] as Position
    const reached = reachedExit(symbol, position)
    if (reached === undefined) continue
    if (positions === symbol.positions) positions = positions.slice()
    fireExit(state, position, reached)
  }
}

function reachedExit(
  symbol: SymbolState,
  { takeProfit, stopLoss, holdSide }: Position,
): PositionTrigger | undefined {
  if (takeProfit === undefined && stopLoss === undefined) return undefined
  const isLong = holdSide === 'long'
  if (isReached(symbol, stopLoss, !isLong)) return stopLoss
  return isReached(symbol, takeProfit, isLong) ? takeProfit : undefined
}

export function watchedTicks(
  symbol: SymbolState,
  { triggerType }: { triggerType: TriggerType },
): number {
  return triggerType === 'mark_price' ? symbol.markTicks : symbol.market.lastTicks
}

export function lastTriggerTicks(
  trigger: Pick<PositionTrigger, 'triggerType' | 'triggerTicks'>,
): number {
  return trigger.triggerType === 'fill_price' ? trigger.triggerTicks : 0
}

function isReached(
  symbol: SymbolState,
  trigger: PositionTrigger | undefined,
  isRising: boolean,
): boolean {
  if (trigger === undefined) return false
  const price = watchedTicks(symbol, trigger)
  return isRising ? price >= trigger.triggerTicks : price <= trigger.triggerTicks
}

function fireExit(state: CoreState, position: Position, trigger: PositionTrigger): void {
  position.takeProfit = undefined
  position.stopLoss = undefined
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
  cancelClosingOrders(state, position, 'position_gone')
  closePosition(state, position, {
    priceTicks: trigger.executeTicks ?? 0,
    triggerTicks: lastTriggerTicks(trigger),
  })
}
