import type { FillsReading, UnreadableFill } from '../../domain/fill.ts'
import { type Book, restrictionOf } from '../book/book.ts'
import { announce, type Core } from '../state/core.ts'
import { noteReadable, noteUnreadable } from '../state/readings.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'

const FILL = 'fill '
const NONE: NonNullable<FillsReading['unreadable']> = []

/**
 * Rows of fills and positions that cannot be read (MKT4). A row may have been damaged on its way, so it must be
 * unreadable twice. Then its instrument is halted, and until an operator has released it readings prove nothing about
 * it: its orders do not end, and its position is not compared. The other instruments go on.
 */
export function takeUnreadableFills(core: Core, { unreadable = NONE }: FillsReading): void {
  if (unreadable.length === 0 && core.readings.unreadable.size === 0) return
  const rows = new Set(unreadable.map(nameOf))
  for (const known of core.readings.unreadable.keys()) {
    if (known.startsWith(FILL) && !rows.has(known)) noteReadable(core, known)
  }
  for (const fill of unreadable) take(core, nameOf(fill), fill.symbol, fill.problem)
}

/** The two fills of a self-trade have one tradeId. */
function nameOf({ tradeId, orderId }: UnreadableFill): string {
  return orderId === '' ? `${FILL}${tradeId}` : `${FILL}${tradeId} of order ${orderId}`
}

export function takeUnreadablePosition(
  core: Core,
  { symbol, problem }: { readonly symbol: string; readonly problem: string },
): void {
  take(core, positionOf(symbol), symbol, problem)
}

export function notePositionReadable(core: Core, symbol: string): void {
  noteReadable(core, positionOf(symbol))
}

/** Whether a row of fills could not be read once. Until it was read again, reads of fills begin where that one began. */
export function isReadingAgain({ readings }: Core): boolean {
  if (readings.unreadable.size === 0) return false
  return [...readings.unreadable].some(([row, { isHalted }]) => row.startsWith(FILL) && !isHalted)
}

/** Whether rows of the instrument are unreadable: then readings prove nothing about it. */
export function hasUnreadableRows({ book, readings }: Core, symbol: string): boolean {
  if (isHaltedForUnreadable(book, symbol)) return true
  if (readings.unreadable.size === 0) return false
  return [...readings.unreadable.values()].some((note) => note.symbol === symbol && !note.isHalted)
}

/** Whether the instrument is halted because its rows are unreadable: then a start does not wait for it. */
export function isHaltedForUnreadable(book: Book, symbol: string): boolean {
  return restrictionOf(book, symbol, 'unreadable') !== undefined
}

function positionOf(symbol: string): string {
  return `position ${symbol}`
}

function take(core: Core, row: string, symbol: string, problem: string): void {
  if (!core.instruments.has(symbol)) return
  const known = core.readings.unreadable.get(row)
  if (known?.isHalted) return
  noteUnreadable(core, row, { symbol, isHalted: known !== undefined })
  announce(core, 'warn', 'read.failed', { what: row, reason: problem })
  if (known) halt(core, symbol, 'unreadable', `${row} cannot be read (${problem}): ${RELEASE_HINT}`)
}
