/** Closing a short buys, whatever the wire's `side` is. */
export type Direction = 'buy' | 'sell'
export type TimeInForce = 'gtc' | 'ioc' | 'fok' | 'post_only'
export type StpMode = 'none' | 'cancel_taker' | 'cancel_maker' | 'cancel_both'

export const QUEUE_UNKNOWN = -1

/**
 * pending (accepted, not in the market yet) -> live -> partially_filled -> filled; the first three
 * -> cancelled
 */
export type OrderStatus = 'pending' | 'live' | 'partially_filled' | 'filled' | 'cancelled'

/** `position_gone`: the order could only close a position that is gone. */
export type CancelReason =
  | 'force'
  | 'post_only'
  | 'self_trade'
  | 'no_liquidity'
  | 'user'
  | 'position_gone'
  | 'reduce_only'
  | 'liquidation'
  | 'delivery'

export interface BookOrder {
  readonly uid: string
  readonly sequence: number
  readonly direction: Direction
  readonly orderType: 'limit' | 'market'
  readonly force: TimeInForce
  readonly stpMode: StpMode
  readonly priceTicks: number
  readonly triggerTicks: number
  /** The last quote at which the order took; 0: none. If a later quote came, the order rests. */
  takingAt: number
  /** These lots trade before the order; {@link QUEUE_UNKNOWN} until its price is the best. */
  queueLots: number
  status: OrderStatus
  cancelReason: CancelReason | null
  readonly createdAt: number
  updatedAt: number
}

export interface Trade {
  readonly lots: number
  readonly ticks: number
  readonly scope: 'taker' | 'maker'
  /** The other side of the fill just before it, with the same id. */
  readonly isTwin?: boolean
}
