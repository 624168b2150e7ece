import type { OrderId } from '../../domain/ids.ts'
import type { OrderPurpose } from '../../domain/intent.ts'
import { type OrderAction, tradesAs } from '../../domain/order-action.ts'
import { openLots, type Order, type OrderState } from '../../domain/order.ts'

/** One of the strategy's own orders that may still be filled. */
export interface OpenOrder {
  /** The key of the `place` intent, or what execution called it. */
  readonly key: string
  /** The exchange's name for it; undefined until it has answered. */
  readonly orderId: OrderId | undefined
  readonly purpose: OrderPurpose
  readonly state: OrderState
  readonly action: OrderAction
  /** Which way it trades. */
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
