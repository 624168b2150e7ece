import { type Order } from './order.ts'

/**
 * The resting orders of one instrument on one side, best price first and oldest first at one price, over
 * all accounts. At most `symbolOrdersMax` an account.
 */
export interface BookSide {
  readonly isBuy: boolean
  readonly orders: Order[]
}

export function createBookSide(isBuy: boolean): BookSide {
  return { isBuy, orders: [] }
}

/** Puts an order behind those of the same or a better price that came before it. */
export function insertOrder(side: BookSide, order: Order): void {
  let low = 0
  let high = side.orders.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = side.orders[middle]
    if (other !== undefined && isBefore(side.isBuy, other, order)) low = middle + 1
    else high = middle
  }
  side.orders.splice(low, 0, order)
}

export function removeOrder(side: BookSide, order: Order): void {
  const index = side.orders.indexOf(order)
  if (index >= 0) side.orders.splice(index, 1)
}

function isBefore(isBuy: boolean, a: Order, b: Order): boolean {
  if (a.priceTicks !== b.priceTicks) return isBuy === a.priceTicks > b.priceTicks
  return a.sequence < b.sequence
}
