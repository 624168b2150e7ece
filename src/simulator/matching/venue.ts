import type { BookOrder, Trade } from './book-order.ts'
import type { FillModel } from './fill-model.ts'
import type { OrderBook } from './order-book.ts'

export interface Venue<Order extends BookOrder> {
  readonly model: FillModel
  readonly levelsMax: number
  readonly book: OrderBook<Order>
  readonly meetsOwn?: boolean
  readonly now: number
  wantedLots(order: Order, ticks: number): number
  isForced(order: Order): boolean
  settle(order: Order, trade: Trade): number
  isFilled(order: Order): boolean
  /** The rest of a market order that buys no lot counts as filled. */
  isSpent(order: Order): boolean
  /** The order may only close, and there is nothing to close. */
  isPointless(order: Order): boolean
  stopWaiting(order: Order): void
  close(order: Order): void
  putOrder(order: Order): void
  putMarket(): void
}
