import type { BookOrder, Trade } from './book-order.ts'
import type { FillModel } from './fill-model.ts'
import type { OrderBook } from './order-book.ts'

/**
 * The part of futures, spot and margin that the matching engine and the order lifecycle need of one
 * market: paying, listing and storing its orders.
 */
export interface Venue<Order extends BookOrder> {
  readonly model: FillModel
  /** Levels of a quote available to an account's order, including the best one. */
  readonly levelsMax: number
  readonly book: OrderBook<Order>
  /**
   * Whether orders of one account trade with each other if their `stpMode` allows it; else they
   * trade only with the market.
   */
  readonly meetsOwn?: boolean
  /** Unix ms. */
  readonly now: number
  /** Whole lots that it still wants at a price. */
  wantedLots(order: Order, ticks: number): number
  /** Whether it is an order of the system, which must be filled. */
  isForced(order: Order): boolean
  /**
   * Books a trade: money, positions, and the order's filled size. @returns the lots that were
   * traded
   */
  settle(order: Order, trade: Trade): number
  isFilled(order: Order): boolean
  /**
   * Whether a market order without further liquidity counts as filled, because its rest buys no
   * lot.
   */
  isSpent(order: Order): boolean
  /** Whether it may only close, and there is nothing to close. */
  isPointless(order: Order): boolean
  /** Removes a pending order from those that wait for the market. */
  stopWaiting(order: Order): void
  /**
   * Called at its end: its reserved money becomes available, and it leaves the list of open orders.
   */
  close(order: Order): void
  /** Stores a change of the order, or of the size taken from the market. */
  putOrder(order: Order): void
  putMarket(): void
}
