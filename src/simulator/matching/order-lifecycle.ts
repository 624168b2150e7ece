import { QUEUE_UNKNOWN, type BookOrder, type CancelReason, type Trade } from './book-order.ts'
import { removeOrder, sideOf } from './order-book.ts'
import type { OrderMatching } from './order-matching.ts'

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
  matching: OrderMatching<Order>,
  order: Order,
  trade: Trade,
): number {
  const lots = matching.settle(order, trade)
  if (lots > 0) {
    order.status = 'partially_filled'
    order.updatedAt = matching.now
    if (matching.isFilled(order)) finishOrder(matching, order)
    else matching.putOrder(order)
  }
  if (matching.isPointless(order)) cancelOrder(matching, order, 'position_gone')
  return lots
}

export function endMarketOrder<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): void {
  if (matching.isSpent(order)) finishOrder(matching, order)
  else cancelOrder(matching, order, 'no_liquidity')
}

export function finishOrder<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): void {
  endOrder(matching, order, 'filled')
}

export function cancelOrder<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
  reason: CancelReason,
): void {
  if (!isOpen(order)) return
  order.cancelReason = reason
  endOrder(matching, order, 'cancelled')
}

function endOrder<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
  status: 'filled' | 'cancelled',
): void {
  if (order.status === 'pending') matching.stopWaiting(order)
  else removeOrder(sideOf(matching.book, order), order)
  order.status = status
  order.updatedAt = matching.now
  matching.close(order)
  matching.putOrder(order)
}
