import type { OrderId } from '../../domain/ids.ts'
import type { OrderPurpose } from '../../domain/intent.ts'
import { openLots, type Order, type OrderState } from '../../domain/order.ts'
import { type OrderAction, tradesAs } from '../../domain/order-action.ts'

export interface OpenOrder {
  /** The intent's key, or the name that execution gave the order. */
  readonly key: string
  readonly orderId: OrderId | undefined
  readonly purpose: OrderPurpose
  readonly state: OrderState
  readonly action: OrderAction
  readonly side: 'buy' | 'sell'
  /** Undefined for a market order. */
  readonly ticks: number | undefined
  readonly lots: number
  readonly openLots: number
}

export function toOpenOrder(order: Order): OpenOrder {
  const { key, purpose, action, ticks, lots } = order.terms
  const { state, orderId } = order
  return Object.freeze({
    key,
    orderId,
    purpose,
    state,
    action,
    side: tradesAs(action),
    ticks,
    lots,
    openLots: openLots(order),
  })
}
