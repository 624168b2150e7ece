import { symbolOf, type CoreState } from '../futures/core-state.ts'
import { priceText, type ListedContract } from '../futures/instruments/instruments.ts'
import type { PositionExits, PositionTrigger } from '../futures/orders/order.ts'
import type { PlanOrder } from '../futures/plans/plan-order.ts'
import type { Position } from '../futures/positions/position.ts'
import { idText } from '../shared/order-sequence.ts'
import type { OrderReference } from '../shared/reply.ts'
import { POSITIONS } from '../futures/stored-entities.ts'

export interface PositionExit {
  readonly planType: (typeof PLAN_TYPES)[keyof PositionExits]
  readonly kind: keyof PositionExits
  readonly orderId: string
  readonly position: Position
  readonly trigger: PositionTrigger
}

const PLAN_TYPES = { takeProfit: 'pos_profit', stopLoss: 'pos_loss' } as const

/** A position has one exit of each kind, so its sequence identifies it. */
export function exitsOf(position: Position): PositionExit[] {
  return (['takeProfit', 'stopLoss'] as const).flatMap((kind) => {
    const trigger = position[kind]
    if (trigger === undefined) return []
    const orderId = idText(kind, position.sequence)
    return [{ planType: PLAN_TYPES[kind], kind, orderId, position, trigger }]
  })
}

export function exitFields(state: CoreState, { symbol, sequence, takeProfit, stopLoss }: Position) {
  const { instrument } = symbolOf(state, symbol)
  return {
    takeProfit: takeProfit === undefined ? '' : priceText(instrument, takeProfit.triggerTicks),
    stopLoss: stopLoss === undefined ? '' : priceText(instrument, stopLoss.triggerTicks),
    takeProfitId: takeProfit === undefined ? '' : idText('takeProfit', sequence),
    stopLossId: stopLoss === undefined ? '' : idText('stopLoss', sequence),
  }
}

export function removeExit(state: CoreState, { position, kind }: PositionExit): void {
  position[kind] = undefined
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
}

export function toPlan({ position, trigger, planType, orderId }: PositionExit): ExitPlan {
  const { symbol, slot, marginMode, lots, holdSide, openedAt, updatedAt } = position
  const { triggerTicks, triggerType, executeTicks = 0 } = trigger
  return {
    planType,
    symbol,
    slot,
    marginMode,
    lots,
    triggerTicks,
    triggerType,
    direction: holdSide === 'long' ? 'sell' : 'buy',
    action: slot === 'net' ? 'net' : 'close',
    orderType: executeTicks === 0 ? 'market' : 'limit',
    priceTicks: executeTicks,
    callbackPercent: undefined,
    takeProfit: undefined,
    stopLoss: undefined,
    createdAt: openedAt,
    updatedAt,
    orderId,
    clientOid: orderId,
    planStatus: 'live',
    orderSource: planType,
  }
}

export interface ExitPlan
  extends
    OrderReference,
    Omit<
      PlanOrder,
      'uid' | 'sequence' | 'planType' | 'status' | 'reduceOnly' | 'isRising' | 'extremeTicks'
    > {
  readonly planType: PlanOrder['planType'] | PositionExit['planType']
  readonly planStatus: 'live' | 'not_trigger'
  readonly orderSource: 'normal' | PositionExit['planType']
}

export function triggerFields(
  name: string,
  instrument: ListedContract,
  trigger: PositionTrigger | undefined,
) {
  const ticks = trigger?.executeTicks
  return {
    [`${name.replace(/Trigger$/, '')}ExecutePrice`]:
      ticks === undefined ? '' : priceText(instrument, ticks),
    [`${name}Price`]: trigger === undefined ? '' : priceText(instrument, trigger.triggerTicks),
    [`${name}Type`]: trigger?.triggerType ?? '',
  }
}
