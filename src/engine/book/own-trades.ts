import type { Fill } from '../../domain/fill.ts'
import { feeOf, profitOf } from '../../domain/fill-money.ts'
import type { PositionMode } from '../../domain/instrument.ts'
import { type Entry, OWN_FILLS_MAX, type OwnFill, type OwnTrades } from '../../domain/own-trades.ts'
import { applyToHolding, type Holding, type HoldingChange } from '../../domain/position.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { holdingOf, pairKey, type WritableBook } from './book.ts'

const DAY_MS = 86_400_000
const NOTHING: OwnTrades = {
  entry: { longLots: 0, longTicks: 0, shortLots: 0, shortTicks: 0 },
  dayAt: 0,
  dayProfit: '0',
  dayFees: '0',
  fills: [],
}

/**
 * Counts a fill of a strategy's own order in its average price and in its results of the day.
 * @param isFirst Whether the holding is still that of before the fill: where it is below the entry, others have closed it.
 */
export function countOwnFill(book: WritableBook, strategyId: string, fill: Fill, isFirst: boolean): void {
  const pair = pairKey(strategyId, fill.symbol)
  const known = book.ownTrades.get(pair) ?? NOTHING
  const held = isFirst ? holdingOf(book, strategyId, fill.symbol) : known.entry
  const entry = heldEntry(known, held)
  const dayAt = Math.floor(fill.filledAt / DAY_MS) * DAY_MS
  const isNewDay = dayAt > known.dayAt
  // A fill of yesterday that became known only today does not count for today.
  const isToday = dayAt >= known.dayAt
  const [profit, fee] = [profitOf(fill), feeOf(fill)]
  const moved = moveEntry(book.positionMode, entry, fill)
  book.ownTrades.set(pair, {
    entry: moved,
    ...countTrade(known, moved, fill),
    dayAt: Math.max(dayAt, known.dayAt),
    dayProfit: sum(isNewDay ? '0' : known.dayProfit, isToday ? profit : ZERO),
    dayFees: sum(isNewDay ? '0' : known.dayFees, isToday ? fee : ZERO),
    fills: [...known.fills.slice(1 - OWN_FILLS_MAX), toOwnFill(fill)],
  })
}

/**
 * Counts what a strategy takes over of what no strategy held: what the account has paid for it is its price from then on.
 * A trade that ends by it counts for no streak.
 * @param change.ticks Undefined where nobody knows it: then the entry lacks what was added.
 */
export function countTakenOver(
  book: WritableBook,
  strategyId: string,
  symbol: string,
  change: HoldingChange & { readonly ticks: number | undefined },
): void {
  const pair = pairKey(strategyId, symbol)
  const known = book.ownTrades.get(pair) ?? NOTHING
  const entry = heldEntry(known, holdingOf(book, strategyId, symbol))
  const moved = moveEntry(book.positionMode, entry, { ...change, ticks: change.ticks ?? 0 })
  const isPriced = change.ticks !== undefined
  const isOver = moved.longLots === 0 && moved.shortLots === 0
  book.ownTrades.set(pair, {
    ...known,
    entry: isPriced ? moved : withoutOpened(entry, moved),
    ...(isOver && { tradeNet: '0' }),
  })
}

/** Of a change without a price only what it closes counts. */
function withoutOpened(entry: Entry, moved: Entry): Entry {
  const longLots = Math.min(entry.longLots, moved.longLots)
  const shortLots = Math.min(entry.shortLots, moved.shortLots)
  return {
    longLots,
    longTicks: longLots === 0 ? 0 : entry.longTicks,
    shortLots,
    shortTicks: shortLots === 0 ? 0 : entry.shortTicks,
  }
}

/** Where less is held than the entry says, others have closed a part of it. */
function heldEntry({ entry }: OwnTrades, held: Holding): Entry {
  return {
    ...entry,
    longLots: Math.min(entry.longLots, held.longLots),
    shortLots: Math.min(entry.shortLots, held.shortLots),
  }
}

function toOwnFill(fill: Fill): OwnFill {
  const { filledAt: at, side, tradeSide, ticks, lots, profit, scope } = fill
  return {
    at,
    side,
    tradeSide,
    ticks,
    lots,
    ...(fill.fee !== undefined && { fee: feeOf(fill).toString() }),
    ...(profit !== undefined && { profit }),
    isMaker: scope === 'maker',
  }
}

/** Counts a trade, which ends when the position is flat or has changed sides. */
function countTrade(known: OwnTrades, moved: Entry, fill: Fill) {
  const tradeNet = sum(known.tradeNet ?? '0', profitOf(fill).minus(feeOf(fill)))
  const { lostInRow = 0, entry } = known
  const isOver =
    (moved.longLots === 0 && moved.shortLots === 0) ||
    (entry.longLots > 0 && moved.longLots === 0 && moved.shortLots > entry.shortLots) ||
    (entry.shortLots > 0 && moved.shortLots === 0 && moved.longLots > entry.longLots)
  if (!isOver) return { tradeNet, lostInRow }
  return { tradeNet: '0', lostInRow: Number(tradeNet) < 0 ? lostInRow + 1 : 0 }
}

/** Closing leaves the average price as it was; opening moves it. */
function moveEntry(mode: PositionMode, entry: Entry, fill: HoldingChange & Pick<Fill, 'ticks'>): Entry {
  const { longLots, shortLots } = applyToHolding(mode, entry, fill)
  return {
    longLots: Math.max(0, longLots),
    longTicks: average({ lots: entry.longLots, ticks: entry.longTicks }, longLots, fill.ticks),
    shortLots: Math.max(0, shortLots),
    shortTicks: average({ lots: entry.shortLots, ticks: entry.shortTicks }, shortLots, fill.ticks),
  }
}

function average(
  before: { readonly lots: number; readonly ticks: number },
  lots: number,
  ticks: number,
): number {
  if (lots <= 0) return 0
  if (lots <= before.lots) return before.ticks
  return (before.lots * before.ticks + (lots - before.lots) * ticks) / lots
}

function sum(one: string, other: Decimal): string {
  return decimal(one).plus(other).toString()
}
