import { symbolOf, type CoreState } from '../futures/core-state.ts'
import { priceText, type Instrument } from '../futures/instruments/instruments.ts'
import { type PositionTrigger } from '../futures/orders/order.ts'
import { type PlanOrder } from '../futures/plans/plan-order.ts'
import { type Position } from '../futures/positions/position.ts'
import { idText } from '../shared/order-sequence.ts'
import { POSITIONS } from '../futures/stored-entities.ts'

/** A take-profit or stop-loss of a position, as the real exchange lists it among the trigger orders. */
export interface PositionExit {
  readonly planType: 'pos_profit' | 'pos_loss'
  readonly orderId: string
  readonly position: Position
  readonly trigger: PositionTrigger
}

/** Take-profit before stop-loss. A position has one exit of a kind: its own sequence names it, whatever its price. */
export function exitsOf(position: Position): PositionExit[] {
  const { takeProfit, stopLoss, sequence } = position
  const profit = { planType: 'pos_profit', orderId: idText('takeProfit', sequence), position } as const
  const loss = { planType: 'pos_loss', orderId: idText('stopLoss', sequence), position } as const
  return [
    ...(takeProfit === undefined ? [] : [{ ...profit, trigger: takeProfit }]),
    ...(stopLoss === undefined ? [] : [{ ...loss, trigger: stopLoss }]),
  ]
}

/** `takeProfit`, `stopLoss` and their ids in a position's row: empty where there is none. */
export function exitFields(state: CoreState, exits: readonly PositionExit[]) {
  const [profit, loss] = (['pos_profit', 'pos_loss'] as const).map((kind) => {
    const exit = exits.find(({ planType }) => planType === kind)
    if (exit === undefined) return { price: '', id: '' }
    const { instrument } = symbolOf(state, exit.position.symbol)
    return { price: priceText(instrument, exit.trigger.triggerTicks), id: exit.orderId }
  })
  return {
    ...{ takeProfit: profit?.price, stopLoss: loss?.price },
    ...{ takeProfitId: profit?.id, stopLossId: loss?.id },
  }
}

export function removeExit(state: CoreState, { position, planType }: PositionExit): void {
  position[planType === 'pos_profit' ? 'takeProfit' : 'stopLoss'] = undefined
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
}

/** An exit as the trigger order that it stands for in the list of them: it closes the whole position. */
export function toPlan({ position, trigger, planType }: PositionExit): ListedPlan {
  const { symbol, slot, marginMode, lots, holdSide, openedAt, updatedAt } = position
  const { triggerTicks, triggerType, executeTicks = 0 } = trigger
  return {
    ...{ planType, symbol, slot, marginMode, lots, triggerTicks, triggerType },
    direction: holdSide === 'long' ? 'sell' : 'buy',
    action: slot === 'net' ? 'net' : 'close',
    orderType: executeTicks === 0 ? 'market' : 'limit',
    priceTicks: executeTicks,
    callbackPercent: undefined,
    ...{ takeProfit: undefined, stopLoss: undefined, createdAt: openedAt, updatedAt },
  }
}

/** What the list shows of a trigger order beside its ids and its state. */
export type ListedPlan = Omit<
  PlanOrder,
  'uid' | 'sequence' | 'clientOid' | 'planType' | 'status' | 'reduceOnly' | 'isRising' | 'extremeTicks'
> & { readonly planType: PlanOrder['planType'] | PositionExit['planType'] }

/** `…Price`, `…Type` and the execution price of an order's exit: empty where it has none. */
export function triggerFields(name: string, instrument: Instrument, trigger: PositionTrigger | undefined) {
  const ticks = trigger?.executeTicks
  return {
    [`${name.replace(/Trigger$/, '')}ExecutePrice`]: ticks === undefined ? '' : priceText(instrument, ticks),
    [`${name}Price`]: trigger === undefined ? '' : priceText(instrument, trigger.triggerTicks),
    [`${name}Type`]: trigger?.triggerType ?? '',
  }
}
