import type { AccountEntry } from '../../domain/own-trades.ts'
import type { Holding } from '../../domain/position.ts'
import type { EntryRecord } from '../../domain/record.ts'
import { accountHoldingOf, type WritableBook } from './book.ts'

const NOTHING: AccountEntry = {
  longLots: 0,
  longTicks: 0,
  shortLots: 0,
  shortTicks: 0,
  statedLongLots: 0,
  statedShortLots: 0,
}

/**
 * Follows what the account has paid for its position, as the exchange does: closing leaves the average price as it was,
 * opening moves it. Called after the position has changed.
 * @param change `before`: what was held before; `ticks`: the price at which it changed; undefined where nobody knows it.
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
  store(book, symbol, long, short)
}

/** Takes over the exchange's average price for a whole side, and keeps how much of it rests on that alone. */
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
  store(book, symbol, holdSide === 'long' ? stated : long, holdSide === 'short' ? stated : short)
}

interface EntrySide {
  readonly lots: number
  readonly ticks: number
  readonly statedLots: number
}

interface SideChange {
  readonly was: number
  readonly is: number
  readonly ticks: number | undefined
}

function moveSide(side: EntrySide, { was, is, ticks }: SideChange): EntrySide {
  const opened = is - Math.max(0, was)
  if (opened > 0 && ticks !== undefined) {
    const lots = side.lots + opened
    const average = (side.lots * side.ticks + opened * ticks) / lots
    return { lots, ticks: average, statedLots: side.statedLots }
  }
  const lots = Math.max(0, Math.min(side.lots, is))
  return { lots, ticks: lots === 0 ? 0 : side.ticks, statedLots: Math.min(side.statedLots, lots) }
}

function store(book: WritableBook, symbol: string, long: EntrySide, short: EntrySide): void {
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
