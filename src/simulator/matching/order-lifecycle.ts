import { QUEUE_UNKNOWN, type BookOrder, type CancelReason, type Trade } from './book-order.ts'
import { removeOrder, sideOf } from './order-book.ts'
import type { Venue } from './venue.ts'

/** Only this file changes an order's status. */

export function pendingSince(at: number) {
  return {
    status: 'pending',
    cancelReason: null,
    takingAt: 0,
    queueLots: QUEUE_UNKNOWN,
    createdAt: at,
    updatedAt: at,
  } as const
}

export function isOpen({ status }: Pick<BookOrder, 'status'>): boolean {
  return status !== 'filled' && status !== 'cancelled'
}

export function fillOrder<Order extends BookOrder>(
  venue: Venue<Order>,
  order: Order,
  trade: Trade,
): number {
  const lots = venue.settle(order, trade)
  if (lots > 0) {
    order.status = 'partially_filled'
    order.updatedAt = venue.now
    if (venue.isFilled(order)) finishOrder(venue, order)
    else venue.putOrder(order)
  }
  if (venue.isPointless(order)) cancelOrder(venue, order, 'position_gone')
  return lots
}

export function endMarketOrder<Order extends BookOrder>(venue: Venue<Order>, order: Order): void {
  if (venue.isSpent(order)) finishOrder(venue, order)
  else cancelOrder(venue, order, 'no_liquidity')
}

export function finishOrder<Order extends BookOrder>(venue: Venue<Order>, order: Order): void {
  endOrder(venue, order, 'filled')
}

export function cancelOrder<Order extends BookOrder>(
  venue: Venue<Order>,
  order: Order,
  reason: CancelReason,
): void {
  if (!isOpen(order)) return
  order.cancelReason = reason
  endOrder(venue, order, 'cancelled')
}

function endOrder<Order extends BookOrder>(
  venue: Venue<Order>,
  order: Order,
  status: 'filled' | 'cancelled',
): void {
  if (order.status === 'pending') venue.stopWaiting(order)
  else removeOrder(sideOf(venue.book, order), order)
  order.status = status
  order.updatedAt = venue.now
  venue.close(order)
  venue.putOrder(order)
}
