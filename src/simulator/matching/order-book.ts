import type { BookOrder } from './book-order.ts'
import type { DisplayedMarket } from './displayed-market.ts'

/** Best price first, then oldest. */
export interface BookSide<Order extends BookOrder> {
  readonly isBuy: boolean
  readonly orders: Order[]
  bestTicks: number
}

export interface OrderBook<Order extends BookOrder> {
  readonly market: DisplayedMarket
  readonly buys: BookSide<Order>
  readonly sells: BookSide<Order>
}

export function createBookSide<Order extends BookOrder>(isBuy: boolean): BookSide<Order> {
  return { isBuy, orders: [], bestTicks: 0 }
}

export function sideOf<Order extends BookOrder>(
  { buys, sells }: Pick<OrderBook<Order>, 'buys' | 'sells'>,
  { direction }: Pick<BookOrder, 'direction'>,
): BookSide<Order> {
  return direction === 'buy' ? buys : sells
}

export function insertOrder<Order extends BookOrder>(side: BookSide<Order>, order: Order): void {
  side.orders.splice(placeOf(side, order), 0, order)
  noteBest(side)
}

export function removeOrder<Order extends BookOrder>(side: BookSide<Order>, order: Order): void {
  const index = placeOf(side, order)
  if (side.orders[index] === order) side.orders.splice(index, 1)
  noteBest(side)
}

function noteBest(side: BookSide<BookOrder>): void {
  side.bestTicks = side.orders[0]?.priceTicks ?? 0
}

function placeOf<Order extends BookOrder>(
  { orders, isBuy }: BookSide<Order>,
  order: Order,
): number {
  let low = 0
  let high = orders.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = orders[middle]
    if (other !== undefined && isBefore(isBuy, other, order)) low = middle + 1
    else high = middle
  }
  return low
}

function isBefore(isBuy: boolean, a: BookOrder, b: BookOrder): boolean {
  if (a.priceTicks !== b.priceTicks) return isBuy === a.priceTicks > b.priceTicks
  return a.sequence < b.sequence
}
