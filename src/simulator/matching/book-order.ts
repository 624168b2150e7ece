/** How it trades in the market: closing a short buys, whatever the wire's `side` says. */
export type Direction = 'buy' | 'sell'
export type Force = 'gtc' | 'ioc' | 'fok' | 'post_only'
export type StpMode = 'none' | 'cancel_taker' | 'cancel_maker' | 'cancel_both'

/** Nothing of the price's level was seen yet since the order rests: see {@link BookOrder.queueLots}. */
export const QUEUE_UNKNOWN = -1

/**
 * pending (accepted, not in the market yet) -> live -> partially_filled -> filled
 *                                              any of the first three -> cancelled
 */
export type OrderStatus = 'pending' | 'live' | 'partially_filled' | 'filled' | 'cancelled'

/** The first four are the market's. `user`: by its owner. `position_gone`: it could only close one. */
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

/** What the matching engine knows of an order: of futures, spot and margin alike. */
export interface BookOrder {
  readonly uid: string
  /** Position in the exchange's sequence: at one price the lower one comes first. */
  readonly sequence: number
  readonly direction: Direction
  readonly orderType: 'limit' | 'market'
  readonly force: Force
  readonly stpMode: StpMode
  /** 0 for a market order. */
  readonly priceTicks: number
  /** The last price that let it in; 0 for none. It is filled no better: see match-orders.ts. */
  readonly triggerTicks: number
  /**
   * The instant of the last quote that it could take from since it came in; 0 for none. While that was the quote
   * before, it still takes (as a taker, at the market's price); afterwards it rests as a maker.
   */
  takingAt: number
  /** Displayed before it at its price, which must trade first; {@link QUEUE_UNKNOWN} until its price is a best one. */
  queueLots: number
  status: OrderStatus
  /** Null until it is cancelled: stored, so that a restart changes nothing. */
  cancelReason: CancelReason | null
  /** Unix ms, both. */
  readonly createdAt: number
  updatedAt: number
}

/** A trade of an order, with the market or with another one of its account. */
export interface Trade {
  /** At most so many. */
  readonly lots: number
  readonly ticks: number
  readonly scope: 'taker' | 'maker'
  /** It is the other side of the account's fill just before it, and has the id of that. */
  readonly isTwin?: boolean
}
