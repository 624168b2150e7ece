import { applyFillToOrder } from '../execution/order-machine.ts'
import { type Fill } from '../domain/fill.ts'
import { type OrderId } from '../domain/ids.ts'
import { type Order } from '../domain/order.ts'
import { applyToHolding } from '../domain/position.ts'
import { decimal } from '../lib/decimal.ts'
import { accountHoldingOf, type Book, holdingOf, NO_MONEY, pairKey, storeOrder } from './book.ts'
import { giveOrphans, holdOrphan, orphanKey, storeHolding, takeFromHolders } from './holders.ts'

/** The owner under which the book keeps what no strategy's order explains. */
const NOBODY = ''

/**
 * A fill enters the book once, by its tradeId: it moves the account, and then the order that its orderId
 * names. A fill that nothing names yet waits as an orphan; one that the exchange made itself is foreign.
 */
export function applyFill(book: Book, fill: Fill): void {
  if (book.trades.has(fill.tradeId)) return
  book.trades.set(fill.tradeId, fill.filledAt)
  book.fillsThroughAt = Math.max(book.fillsThroughAt, fill.filledAt)
  const holding = applyToHolding(book.positionMode, accountHoldingOf(book, fill.symbol), fill)
  book.account.set(fill.symbol, holding)
  // The funding counter of a position ends with it: the next position counts from nothing again.
  if (holding.longLots === 0) book.fundingCounters.delete(pairKey(fill.symbol, 'long'))
  if (holding.shortLots === 0) book.fundingCounters.delete(pairKey(fill.symbol, 'short'))

  const clientOid = book.byOrderId.get(fill.orderId)
  const order = clientOid === undefined ? undefined : book.orders.get(clientOid)
  if (order) bindFill(book, order, fill)
  else if (fill.source === 'API') {
    book.orphans.set(fill.orderId, [...(book.orphans.get(fill.orderId) ?? []), fill])
    holdOrphan(book, fill)
  } else applyForeignFill(book, fill)
}

/** Gives the orphans of an orderId to the order that turned out to own it. */
export function bindOrphans(book: Book, orderId: OrderId): void {
  const fills = book.orphans.get(orderId)
  if (!fills) return
  book.orphans.delete(orderId)
  for (const fill of fills) {
    const clientOid = book.byOrderId.get(orderId)
    const order = clientOid === undefined ? undefined : book.orders.get(clientOid)
    if (order) countFill(book, order, fill)
  }
  giveOrphans(book, orderId, fills)
}

/** Orphans that nothing of ours explains move the account, and whoever held that side. */
export function disownOrphans(book: Book, orderId: OrderId): void {
  const fills = book.orphans.get(orderId) ?? []
  book.orphans.delete(orderId)
  for (const { symbol } of fills) book.holdings.delete(orphanKey(orderId, symbol))
  for (const fill of fills) applyForeignFill(book, fill)
}

function bindFill(book: Book, order: Order, fill: Fill): void {
  const { strategyId, symbol } = order.terms
  countFill(book, order, fill)
  const holding = applyToHolding(book.positionMode, holdingOf(book, strategyId, symbol), fill)
  storeHolding(book, order.terms, holding)
}

function countFill(book: Book, order: Order, fill: Fill): void {
  const { strategyId, symbol } = order.terms
  storeOrder(book, applyFillToOrder(order, fill.lots))
  addMoney(book, pairKey(strategyId, symbol), fill)
}

function addMoney(book: Book, key: string, fill: Fill): void {
  const money = book.money.get(key) ?? NO_MONEY
  book.money.set(key, {
    profit: money.profit.plus(decimal(fill.profit)),
    fees: money.fees.plus(decimal(fill.fee)),
    fills: money.fills + 1,
  })
}

function applyForeignFill(book: Book, fill: Fill): void {
  addMoney(book, pairKey(NOBODY, fill.symbol), fill)
  takeFromHolders(book, fill.symbol, fill)
}
