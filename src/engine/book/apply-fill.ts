import { applyFillToOrder } from '../../execution/order-machine.ts'
import { type Fill, fillKey } from '../../domain/fill.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { addFill, type Money, NO_MONEY } from '../../domain/fill-money.ts'
import type { FillsRecord } from '../../domain/record.ts'
import { NOBODY } from '../../domain/allocation.ts'
import { moveAccountEntry } from './account-entry.ts'
import {
  accountHoldingOf,
  type Book,
  knowsFill,
  pairKey,
  storeOrder,
  type WritableBook,
} from './book.ts'
import { keepExits } from './kept-exits.ts'
import { beyondPriceOf } from './own-trades.ts'
import { applyMove, settleOwner, waiterOf } from './allocation.ts'

/**
 * Applies a fill once, by its trade and order: to the account, and to the order with its orderId. A fill of ours whose orderId is
 * not known yet waits as an orphan; any other is foreign.
 * @param in.throughAt Unix ms, exchange clock: a fill with a later date does not move `fillsThroughAt` beyond this.
 * @param in.waiting Fills that wait for their order, whatever their source says.
 */
export function applyFill(
  book: WritableBook,
  fill: Fill,
  { throughAt = Number.POSITIVE_INFINITY, waiting }: Pick<FillsRecord, 'throughAt' | 'waiting'>,
): void {
  if (knowsFill(book, fill)) return
  book.trades.set(fillKey(fill), fill.filledAt)
  book.fillsThroughAt = Math.max(book.fillsThroughAt, Math.min(fill.filledAt, throughAt))
  const clientOid = book.byOrderId.get(fill.orderId)
  const order = clientOid === undefined ? undefined : book.orders.get(clientOid)
  const was = accountHoldingOf(book, fill.symbol)
  if (order) {
    moveBy(book, fill, order.terms.strategyId)
    countFill(book, order, fill)
  } else if (fill.source === 'API' || waiting?.includes(fill.orderId)) {
    book.orphans.set(fill.orderId, [...(book.orphans.get(fill.orderId) ?? []), fill])
    moveBy(book, fill, waiterOf(fill.orderId))
  } else {
    moveBy(book, fill, NOBODY)
    addMoney(book, pairKey(NOBODY, fill.symbol), fill)
  }
  const is = accountHoldingOf(book, fill.symbol)
  keepExits(book, fill, { order, was, is })
  moveAccountEntry(book, fill.symbol, { before: was, ticks: fill.ticks })
  // The funding counter ends with its position: that of the next position begins at zero.
  const { longLots, shortLots } = is
  if (longLots === 0) book.fundingCounters.delete(pairKey(fill.symbol, 'long'))
  if (shortLots === 0) book.fundingCounters.delete(pairKey(fill.symbol, 'short'))
}

/** Gives the fills that waited under an orderId to the order that has it. */
export function bindOrphans(book: WritableBook, orderId: OrderId): void {
  const fills = book.orphans.get(orderId)
  const clientOid = book.byOrderId.get(orderId)
  if (!fills || clientOid === undefined) return
  book.orphans.delete(orderId)
  settleOwner(book, fills, book.orders.get(clientOid)?.terms.strategyId ?? NOBODY)
  for (const fill of fills) {
    const order = book.orders.get(clientOid)
    if (order) countFill(book, order, fill)
  }
}

/** Fills that belong to no order of ours: they changed the account, and what strategies held on that side. */
export function disownOrphans(book: WritableBook, orderIds: readonly OrderId[]): void {
  const fills = orderIds.flatMap((orderId) => book.orphans.get(orderId) ?? [])
  for (const orderId of orderIds) book.orphans.delete(orderId)
  for (const fill of fills) addMoney(book, pairKey(NOBODY, fill.symbol), fill)
  settleOwner(book, fills, NOBODY)
}

function moveBy(book: WritableBook, fill: Fill, owner: string): void {
  const { symbol, side, tradeSide, lots } = fill
  const beyondPrice = beyondPriceOf(book, fill)
  const priced = beyondPrice === undefined ? { fill } : { fill, beyondPrice }
  applyMove(book, symbol, { kind: 'fill', owner, change: { side, tradeSide, lots }, priced })
}

function countFill(book: WritableBook, order: Order, fill: Fill): void {
  const { strategyId, symbol } = order.terms
  storeOrder(book, applyFillToOrder(order, fill.lots))
  addMoney(book, pairKey(strategyId, symbol), fill)
}

/**
 * The money by owner and symbol, including fills that wait for their order: they have changed the account's money
 * whoever owns them. Until that is known they count for no strategy.
 */
export function moneyOf(book: Book): ReadonlyMap<string, Money> {
  if (book.orphans.size === 0) return book.money
  const money = new Map(book.money)
  for (const fill of [...book.orphans.values()].flat()) {
    const key = pairKey(NOBODY, fill.symbol)
    money.set(key, addFill(money.get(key) ?? NO_MONEY, fill))
  }
  return money
}

function addMoney(book: WritableBook, key: string, fill: Fill): void {
  book.money.set(key, addFill(book.money.get(key) ?? NO_MONEY, fill))
}
