import { applyFillToOrder } from '../execution/order-machine.ts'
import { type Fill } from '../domain/fill.ts'
import { type OrderId } from '../domain/ids.ts'
import { type Order } from '../domain/order.ts'
import { applyToHolding, FLAT, type Holding } from '../domain/position.ts'
import { decimal } from '../lib/decimal.ts'
import { accountHoldingOf, type Book, holdingOf, NO_MONEY, pairKey, splitPair, storeOrder } from './book.ts'

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
  else if (fill.source === 'API')
    book.orphans.set(fill.orderId, [...(book.orphans.get(fill.orderId) ?? []), fill])
  else applyForeignFill(book, fill)
}

/** Gives the orphans of an orderId to the order that turned out to own it. */
export function bindOrphans(book: Book, orderId: OrderId): void {
  const fills = book.orphans.get(orderId)
  if (!fills) return
  book.orphans.delete(orderId)
  for (const fill of fills) {
    const clientOid = book.byOrderId.get(orderId)
    const order = clientOid === undefined ? undefined : book.orders.get(clientOid)
    if (order) bindFill(book, order, fill)
  }
}

/** Orphans that nothing of ours explains move the account, and whoever held that side. */
export function disownOrphans(book: Book, orderId: OrderId): void {
  for (const fill of book.orphans.get(orderId) ?? []) applyForeignFill(book, fill)
  book.orphans.delete(orderId)
}

function bindFill(book: Book, order: Order, fill: Fill): void {
  const { strategyId, symbol } = order.terms
  storeOrder(book, applyFillToOrder(order, fill.lots))
  const key = pairKey(strategyId, symbol)
  book.holdings.set(key, applyToHolding(book.positionMode, holdingOf(book, strategyId, symbol), fill))
  addMoney(book, key, fill)
}

function addMoney(book: Book, key: string, fill: Fill): void {
  const money = book.money.get(key) ?? NO_MONEY
  book.money.set(key, {
    profit: money.profit.plus(decimal(fill.profit)),
    fees: money.fees.plus(decimal(fill.fee)),
    fills: money.fills + 1,
  })
}

/**
 * A liquidation, a delivery, somebody's hand: it takes from the strategies that hold the side it closes, in
 * the order of their names, as far as they hold it. What it opens is nobody's.
 */
function applyForeignFill(book: Book, fill: Fill): void {
  addMoney(book, pairKey(NOBODY, fill.symbol), fill)
  let lots = fill.lots
  for (const key of [...book.holdings.keys()].sort()) {
    const [, symbol] = splitPair(key)
    const holding = book.holdings.get(key) ?? FLAT
    if (symbol !== fill.symbol || lots === 0) continue
    const taken = Math.min(lots, closedBy(book, holding, fill))
    if (taken === 0) continue
    book.holdings.set(key, applyToHolding(book.positionMode, holding, { ...fill, lots: taken }))
    lots -= taken
  }
}

/** How much of a holding a fill of that direction can close, in lots. */
function closedBy({ positionMode }: Book, holding: Holding, fill: Fill): number {
  if (positionMode === 'one_way_mode') return fill.side === 'buy' ? holding.shortLots : holding.longLots
  if (fill.tradeSide === 'open') return 0
  return fill.side === 'buy' ? holding.longLots : holding.shortLots
}
