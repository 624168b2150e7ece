import { applyFillToOrder } from '../../execution/order-machine.ts'
import { type Fill, fillKey } from '../../domain/fill.ts'
import type { ClientOid, OrderId, StrategyId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import { addFill, NO_MONEY } from '../../domain/fill-money.ts'
import type { EntryRecord, FillsRecord } from '../../domain/record.ts'
import { NOBODY } from '../../domain/allocation.ts'
import {
  accountHoldingOf,
  type Book,
  knowsFill,
  pairKey,
  storeOrder,
  type WritableBook,
} from './book.ts'
import { beyondPriceOf } from './own-trades.ts'
import { applyMove, settleOwner, waiterOf } from './allocation.ts'
import { type Holding, sideClosedBy } from '../../domain/position.ts'
import type { AccountEntry } from '../../domain/own-trades.ts'

/**
 * Counts each fill of a trade and order once. A fill through the API whose orderId is not known
 * waits as an orphan; any other is foreign.
 * @param record.throughAt Unix ms, exchange clock: `fillsThroughAt` does not move beyond it
 * @param record.waiting these fills wait for their order, whatever their source says
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
  moveAccountEntry(book, fill.symbol, { before: was, ticks: fill.ticks })
  // The next position's funding counter begins at zero.
  const { longLots, shortLots } = is
  if (longLots === 0) book.fundingCounters.delete(pairKey(fill.symbol, 'long'))
  if (shortLots === 0) book.fundingCounters.delete(pairKey(fill.symbol, 'short'))
}

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

/** No order of ours explains these fills: they belong to no strategy. */
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

function addMoney(book: WritableBook, key: string, fill: Fill): void {
  book.money.set(key, addFill(book.money.get(key) ?? NO_MONEY, fill))
}

/** An exit that the exchange kept for us, and that a fill of its system shows. */
export interface FilledExit {
  readonly kind: 'takeProfit' | 'stopLoss'
  readonly ticks: number
  readonly clientOid: ClientOid
  readonly strategyId: StrategyId
}

/** Fills may be a little short of the price that set off an exit. */
const EXIT_TOLERANCE = 0.01

/** The fill itself does not name the exit, so the price decides between those that we have set. */
export function findFilledExit(book: Book, fill: Fill): FilledExit | undefined {
  const { source, symbol, ticks, fillKind = 'trade' } = fill
  if (source !== 'SYS' || fillKind !== 'trade') return undefined
  const side = sideClosedBy(book.positionMode, fill)
  const exits = side && book.exits.get(pairKey(symbol, side))
  if (!exits) return undefined
  const { clientOid, strategyId, takeProfitTicks, stopLossTicks } = exits
  const sign = side === 'long' ? 1 : -1
  const isReached = (level: number, direction: number): boolean =>
    (ticks - level) * sign * direction >= -level * EXIT_TOLERANCE
  const found = [
    ...(takeProfitTicks !== undefined && isReached(takeProfitTicks, 1)
      ? [{ kind: 'takeProfit' as const, ticks: takeProfitTicks }]
      : []),
    ...(stopLossTicks !== undefined && isReached(stopLossTicks, -1)
      ? [{ kind: 'stopLoss' as const, ticks: stopLossTicks }]
      : []),
  ].sort((one, other) => Math.abs(one.ticks - ticks) - Math.abs(other.ticks - ticks))
  const [nearest] = found
  return nearest && { ...nearest, clientOid, strategyId }
}

const NOTHING: AccountEntry = {
  longLots: 0,
  longTicks: 0,
  shortLots: 0,
  shortTicks: 0,
  statedLongLots: 0,
  statedShortLots: 0,
}

/**
 * As the exchange counts, closing leaves the average price, and opening moves it. Called after the
 * position has changed.
 * @param change `before`: what was held; `ticks`: the price, undefined if it is not known
 */
export function moveAccountEntry(
  book: WritableBook,
  symbol: string,
  { before, ticks }: { readonly before: Holding; readonly ticks: number | undefined },
): void {
  const after = accountHoldingOf(book, symbol)
  const known = book.entries.get(symbol) ?? NOTHING
  const long = moveSide(
    { lots: known.longLots, ticks: known.longTicks, statedLots: known.statedLongLots },
    { was: before.longLots, is: after.longLots, ticks },
  )
  const short = moveSide(
    { lots: known.shortLots, ticks: known.shortTicks, statedLots: known.statedShortLots },
    { was: before.shortLots, is: after.shortLots, ticks },
  )
  storeEntry(book, symbol, long, short)
}

/** Takes the exchange's average price for a side, and keeps how many lots no fill explains. */
export function stateEntry(book: WritableBook, record: EntryRecord): void {
  const { symbol, holdSide, lots, statedLots, ticks } = record
  const known = book.entries.get(symbol) ?? NOTHING
  const long = { lots: known.longLots, ticks: known.longTicks, statedLots: known.statedLongLots }
  const short = {
    lots: known.shortLots,
    ticks: known.shortTicks,
    statedLots: known.statedShortLots,
  }
  const stated = { lots, ticks, statedLots }
  storeEntry(
    book,
    symbol,
    holdSide === 'long' ? stated : long,
    holdSide === 'short' ? stated : short,
  )
}

interface EntrySide {
  readonly lots: number
  readonly ticks: number
  readonly statedLots: number
}

interface EntryChange {
  readonly was: number
  readonly is: number
  readonly ticks: number | undefined
}

function moveSide(side: EntrySide, { was, is, ticks }: EntryChange): EntrySide {
  const opened = is - Math.max(0, was)
  if (opened > 0 && ticks !== undefined) {
    const lots = side.lots + opened
    const average = (side.lots * side.ticks + opened * ticks) / lots
    return { lots, ticks: average, statedLots: side.statedLots }
  }
  const lots = Math.max(0, Math.min(side.lots, is))
  return { lots, ticks: lots === 0 ? 0 : side.ticks, statedLots: Math.min(side.statedLots, lots) }
}

function storeEntry(book: WritableBook, symbol: string, long: EntrySide, short: EntrySide): void {
  if (long.lots === 0 && short.lots === 0) {
    if (book.entries.has(symbol)) book.entries.delete(symbol)
    return
  }
  book.entries.set(symbol, {
    longLots: long.lots,
    longTicks: long.ticks,
    shortLots: short.lots,
    shortTicks: short.ticks,
    statedLongLots: long.statedLots,
    statedShortLots: short.statedLots,
  })
}
