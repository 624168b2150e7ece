import type { PricedFill, TakenOver } from '../../domain/allocation.ts'
import type { Fill } from '../../domain/fill.ts'
import { feeOf, NO_MONEY, profitOf, roundMoney } from '../../domain/fill-money.ts'
import type { PositionMode } from '../../domain/instrument.ts'
import {
  closesSide,
  type Entry,
  OWN_FILLS_MAX,
  type OwnFill,
  type OwnTrades,
} from '../../domain/own-trades.ts'
import {
  applyToHolding,
  type Holding,
  type HoldingChange,
  type HoldSide,
  sideClosedBy,
} from '../../domain/position.ts'
import { type Decimal, decimal, ZERO } from '../../lib/decimal.ts'
import { accountHoldingOf, type Book, holdingOf, pairKey, type WritableBook } from './book.ts'

/**
 * Each strategy's profit is counted at its own average price (docs/mechanisms.md, Money), also for
 * lots that others have closed: a liquidation, a trade by hand. What the exchange books beyond a
 * fill's price goes with the lots.
 */

const DAY_MS = 86_400_000
const NOTHING: OwnTrades = {
  entry: { longLots: 0, longTicks: 0, shortLots: 0, shortTicks: 0 },
  dayAt: 0,
  dayProfit: '0',
  dayFees: '0',
  fills: [],
}

/** Called before the holding changes. */
export function countOwnFill(book: WritableBook, strategyId: string, priced: PricedFill): void {
  const { fill } = priced
  const counted = { book, strategyId, priced, change: fill }
  const trades = countChange(counted, profitFor(counted), feeOf(fill))
  const fills = [...trades.fills.slice(1 - OWN_FILLS_MAX), toOwnFill(fill)]
  book.ownTrades.set(pairKey(strategyId, fill.symbol), { ...trades, fills })
}

/** Counts lots that others have closed. Called before the holding changes. */
export function countTaken(
  book: WritableBook,
  strategyId: string,
  priced: PricedFill,
  change: HoldingChange,
): void {
  const { fill } = priced
  const counted = { book, strategyId, priced, change }
  const fee = shareIn(feeOf(fill), counted)
  book.ownTrades.set(
    pairKey(strategyId, fill.symbol),
    countChange(counted, profitFor(counted), fee),
  )
}

/** Called when lots were closed at an unknown price. */
export function forgetTaken(book: WritableBook, pair: string, held: Holding): void {
  const trades = book.ownTrades.get(pair)
  if (!trades) return
  const entry = limitTo(trades.entry, held)
  // Such a trade has neither won nor lost.
  const isOver = entry.longLots === 0 && entry.shortLots === 0
  book.ownTrades.set(pair, { ...trades, entry, ...(isOver && { tradeNet: '0' }) })
}

export function forgetStreak(book: WritableBook, pair: string): void {
  const trades = book.ownTrades.get(pair)
  if (trades) book.ownTrades.set(pair, { ...trades, lostInRow: 0 })
}

/** Books of earlier versions know only what the exchange has stated. */
export function withOwnMoney(book: Book, pair: string, trades: OwnTrades): OwnTrades {
  if (trades.profit !== undefined) return trades
  const { profit, fees } = book.money.get(pair) ?? NO_MONEY
  return { ...trades, profit: profit.toString(), fees: fees.toString() }
}

/** The booked profit less that of the price. Called before the account's holding changes. */
export function beyondPriceOf(book: Book, fill: Fill): number | undefined {
  const held = accountHoldingOf(book, fill.symbol)
  const entry = book.entries.get(fill.symbol)
  const gained = gainOf(book, { entry, held, change: fill, fill })
  return gained === undefined || !fill.profit ? undefined : Number(fill.profit) - gained
}

interface CountedFill {
  readonly book: WritableBook
  readonly strategyId: string
  readonly priced: PricedFill
  readonly change: HoldingChange
}

function shareOf({ priced, change }: CountedFill): number {
  return change.lots / priced.fill.lots
}

function shareIn(amount: Decimal, counted: CountedFill): Decimal {
  const share = shareOf(counted)
  return share === 1 ? amount : roundMoney(Number(amount.toString()) * share)
}

/** Without an average price, the strategy gets its share of the stated profit. */
function profitFor(counted: CountedFill): Decimal {
  const { book, strategyId, priced, change } = counted
  const { fill, beyondPrice = 0 } = priced
  const entry = book.ownTrades.get(pairKey(strategyId, fill.symbol))?.entry
  const held = holdingOf(book, strategyId, fill.symbol)
  const gained = gainOf(book, { entry, held, change, fill })
  if (gained !== undefined) return roundMoney(gained + beyondPrice * shareOf(counted))
  return shareIn(profitOf(fill), counted)
}

/** Margin coin; undefined where the entry does not explain what is held. */
function gainOf(
  { positionMode, grids }: Book,
  {
    entry,
    held,
    change,
    fill,
  }: {
    readonly entry: Entry | undefined
    readonly held: Holding
    readonly change: HoldingChange
    readonly fill: Pick<Fill, 'symbol' | 'ticks'>
  },
): number | undefined {
  const { tick, lot, isInverse } = grids.get(fill.symbol) ?? {}
  if (tick === undefined || lot === undefined) return undefined
  const side = sideClosedBy(positionMode, change)
  const lots = side === undefined ? 0 : Math.min(change.lots, held[`${side}Lots`])
  if (side === undefined || lots === 0) return 0
  if (entry === undefined || entry[`${side}Lots`] < held[`${side}Lots`]) return undefined
  const ticks = (fill.ticks - entry[`${side}Ticks`]) * (side === 'long' ? 1 : -1)
  return ticks * lots * Number(lot) * (isInverse ? 1 / fill.ticks : Number(tick))
}

function countChange(
  { book, strategyId, priced, change }: CountedFill,
  profit: Decimal,
  fee: Decimal,
): OwnTrades {
  const { symbol, filledAt, ticks } = priced.fill
  const pair = pairKey(strategyId, symbol)
  const before = book.ownTrades.get(pair)
  const known = before ? withOwnMoney(book, pair, before) : NOTHING
  const held = holdingOf(book, strategyId, symbol)
  // If less is held than the entry says, lots are gone at an unknown price.
  const entry = limitTo(known.entry, held)
  const dayAt = Math.floor(filledAt / DAY_MS) * DAY_MS
  const isNewDay = dayAt > known.dayAt
  const isToday = dayAt >= known.dayAt
  // Lots of unknown price, which are held but not in the entry, may have been closed.
  const moved = limitTo(
    moveEntry(book.positionMode, entry, change, ticks),
    applyToHolding(book.positionMode, held, change),
  )
  return {
    entry: moved,
    profit: sum(known.profit ?? '0', profit),
    fees: sum(known.fees ?? '0', fee),
    ...countTrade(known, moved, profit.minus(fee)),
    dayAt: Math.max(dayAt, known.dayAt),
    dayProfit: sum(isNewDay ? '0' : known.dayProfit, isToday ? profit : ZERO),
    dayFees: sum(isNewDay ? '0' : known.dayFees, isToday ? fee : ZERO),
    fills: known.fills,
  }
}

/** Unix ms, exchange clock; undefined if the kept fills do not reach back to where nothing was held. */
export function openedAtOf(
  mode: PositionMode,
  { fills }: Pick<OwnTrades, 'fills'>,
  { side, lots }: { readonly side: HoldSide; readonly lots: number },
): number | undefined {
  let held = side === 'long' ? lots : -lots
  for (const fill of fills.toReversed()) {
    const { side: bought, tradeSide, lots: size, at } = fill
    if (mode === 'hedge_mode') {
      if ((bought === 'buy' ? 'long' : 'short') !== side) continue
      held += (tradeSide === 'open') === (side === 'long') ? -size : size
    } else held += bought === 'buy' ? -size : size
    if (side === 'long' ? held <= 0 : held >= 0) return at
  }
  return undefined
}

export function limitTo(entry: Entry, { longLots, shortLots }: Holding): Entry {
  return {
    ...entry,
    longLots: Math.max(0, Math.min(entry.longLots, longLots)),
    shortLots: Math.max(0, Math.min(entry.shortLots, shortLots)),
  }
}

/**
 * Lots that a strategy takes over count at the price that the account has paid; without that price
 * they are no part of the entry. A trade that ends so has neither won nor lost.
 */
export function countTakenOver(
  book: WritableBook,
  strategyId: string,
  symbol: string,
  taken: readonly TakenOver[],
): void {
  const pair = pairKey(strategyId, symbol)
  const before = book.ownTrades.get(pair)
  const known = before ? withOwnMoney(book, pair, before) : { ...NOTHING, profit: '0', fees: '0' }
  const held = limitTo(known.entry, holdingOf(book, strategyId, symbol))
  const entry = taken.reduce((from, change) => takeOver(book.positionMode, from, change), held)
  const isOver = entry.longLots === 0 && entry.shortLots === 0
  book.ownTrades.set(pair, { ...known, entry, ...(isOver && { tradeNet: '0' }) })
}

function takeOver(mode: PositionMode, entry: Entry, change: TakenOver): Entry {
  const moved = moveEntry(mode, entry, change, change.ticks ?? 0)
  return change.ticks === undefined ? withoutOpened(entry, moved) : moved
}

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

/** A trade ends when the position is flat or has changed sides. */
function countTrade(known: OwnTrades, moved: Entry, net: Decimal) {
  const tradeNet = sum(known.tradeNet ?? '0', net)
  const { lostInRow = 0, entry } = known
  const isOver =
    (moved.longLots === 0 && moved.shortLots === 0) ||
    (closesSide(entry.longLots, moved.longLots) && moved.shortLots > entry.shortLots) ||
    (closesSide(entry.shortLots, moved.shortLots) && moved.longLots > entry.longLots)
  if (!isOver) return { tradeNet, lostInRow }
  return { tradeNet: '0', lostInRow: Number(tradeNet) < 0 ? lostInRow + 1 : 0 }
}

function moveEntry(mode: PositionMode, entry: Entry, change: HoldingChange, ticks: number): Entry {
  const { longLots, shortLots } = applyToHolding(mode, entry, change)
  return {
    longLots: Math.max(0, longLots),
    longTicks: average({ lots: entry.longLots, ticks: entry.longTicks }, longLots, ticks),
    shortLots: Math.max(0, shortLots),
    shortTicks: average({ lots: entry.shortLots, ticks: entry.shortTicks }, shortLots, ticks),
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
