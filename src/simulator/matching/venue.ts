import { type BookOrder, type EndReason, type Trade } from './book-order.ts'
import { type FillModel } from './fill-model.ts'

/** What futures, spot and margin give the matching engine: how their orders are paid, counted and stored. */
export interface Venue<Order extends BookOrder> {
  readonly model: FillModel
  /** Levels of a quote that an account's order finds, the best one included. */
  readonly levelsMax: number
  isOpen(order: Order): boolean
  /** Whole lots that it still wants at a price. */
  wantedLots(order: Order, ticks: number): number
  /** The system's own: it must be filled, whatever is there. */
  isForced(order: Order): boolean
  /** Books a trade, and ends the order when nothing remains. @returns the lots that were traded */
  fill(order: Order, trade: Trade): number
  /** Ends what is left of it. */
  end(order: Order, reason: EndReason): void
  /** Something of the order, or of what was taken of the market, has changed and is to be stored. */
  putOrder(order: Order): void
  putMarket(): void
}
