import { type Direction } from '../../matching/book-order.ts'
import { type MarginMode, type PositionSlot, type PositionTrigger } from '../orders/order.ts'

/**
 * A trigger order: it becomes a normal order when its price is reached.
 * pending -> triggered (its order accepted) | failed (its order refused) | cancelled
 */
export interface PlanOrder {
  readonly sequence: number
  readonly clientOid: string
  readonly uid: string
  readonly symbol: string
  readonly planType: 'normal_plan' | 'track_plan'
  readonly direction: Direction
  readonly slot: PositionSlot
  readonly action: 'open' | 'close' | 'net'
  readonly reduceOnly: boolean
  readonly marginMode: MarginMode
  readonly orderType: 'limit' | 'market'
  status: 'pending' | 'triggered' | 'failed' | 'cancelled'
  lots: number
  /** 0 for a market order. */
  priceTicks: number
  triggerTicks: number
  triggerType: 'fill_price' | 'mark_price'
  /** Whether the watched price must rise to the trigger (or fall to it). */
  isRising: boolean
  /** Trailing only: how far the price must come back from its best, in percent. */
  callbackPercent: string | undefined
  /** Trailing only: the best price since the trigger was reached, in ticks; 0 before that. */
  extremeTicks: number
  takeProfit: PositionTrigger | undefined
  stopLoss: PositionTrigger | undefined
  readonly createdAt: number
  updatedAt: number
}
