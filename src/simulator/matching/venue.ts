import type { BookOrder, Trade } from './book-order.ts'
import type { FillModel } from './fill-model.ts'
import type { OrderBook } from './order-book.ts'

/**
 * What futures, spot and margin give the matching engine and the lifecycle of one market's orders: how they are paid,
 * listed and stored.
 */
export interface Venue<Order extends BookOrder> {
  readonly model: FillModel
  /** Levels of a quote that an account's order finds, the best one included. */
  readonly levelsMax: number
  readonly book: OrderBook<Order>
  /** Whether orders of one account trade with each other where their `stpMode` lets them; else with the market alone. */
  readonly meetsOwn?: boolean
  /** Unix ms. */
  readonly now: number
  /** Whole lots that it still wants at a price. */
  wantedLots(order: Order, ticks: number): number
  /** The system's own: it must be filled, whatever is there. */
  isForced(order: Order): boolean
  /** Books a trade: money, positions, and what of the order is filled. @returns the lots that were traded */
  settle(order: Order, trade: Trade): number
  isFilled(order: Order): boolean
  /** A market order that finds nothing more is done all the same: what is left of it buys no lot. */
  isSpent(order: Order): boolean
  /** It may only close, and there is nothing to close. */
  isPointless(order: Order): boolean
  /** Takes a pending order off what waits for the market. */
  stopWaiting(order: Order): void
  /** It has ended: what it had set aside is free again, and it leaves the list of open orders. */
  close(order: Order): void
  /** Something of the order, or of what was taken of the market, has changed and is to be stored. */
  putOrder(order: Order): void
  putMarket(): void
}
