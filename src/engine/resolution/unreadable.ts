import type { FillsReading, UnreadableFill } from '../../domain/fill.ts'
import { ACCOUNT, type Scope } from '../../domain/trading-mode.ts'
import { type Book, restrictionOf } from '../book/book.ts'
import { announce, type Core, type InstrumentState, type UnreadableNote } from '../state/core.ts'
import {
  forgetUnreadable,
  noteReadFailure,
  noteUnreadable,
  toReadFailure,
} from '../state/readings.ts'
import { hearAnswer } from '../state/silence.ts'
import type { EngineEvent } from '../event.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'

/**
 * Rows of fills and positions that cannot be read halt their instrument, and readings prove nothing
 * of it meanwhile (MKT4).
 *
 *     readable ──an odd row──► unreadable ──a reading without it──► read once ──another──► readable
 *                                 ▲   │                                 │
 *                                 │   └──a fill's row stays odd──► halted until a release
 *                                 └────────────────an odd row───────────┘
 *
 * Until then fills are read from where the first such reading began, so nothing is missed; bounded,
 * because ever more fills would make all readings slow.
 */
const READ_AGAIN_MS_MAX = 15 * 60_000
/** More time between two answers does not count: the machine slept, or the exchange was away. */
const GAP_MS_MAX = 60_000

/** A stop, a flatten and a kill wait so long for readable answers, then say what is not proved. */
export const UNREADABLE_PATIENCE_MS = 10_000

const FILL = 'fill '
const NONE: NonNullable<FillsReading['unreadable']> = []

export function takeUnreadableFills(core: Core, { unreadable = NONE }: FillsReading): void {
  noteWholeReading(core, 'fills')
  if (unreadable.length === 0 && core.readings.unreadable.size === 0) return
  const rows = new Map(unreadable.map((row) => [nameOf(row), row]))
  for (const known of core.readings.unreadable.keys()) {
    if (known.startsWith(FILL) && !rows.has(known)) noteRowMissing(core, known)
  }
  for (const [row, { symbol, problem }] of rows) takeRow(core, row, { symbol, problem })
}

/** The two fills of a self-trade have one tradeId. */
function nameOf({ tradeId, orderId, symbol }: UnreadableFill): string {
  if (tradeId === '')
    return symbol === ACCOUNT ? `${FILL}without an instrument` : `${FILL}of ${symbol}`
  return orderId === '' ? `${FILL}${tradeId}` : `${FILL}${tradeId} of order ${orderId}`
}

export function takeUnreadablePosition(
  core: Core,
  { symbol, problem }: { readonly symbol: string; readonly problem: string },
): void {
  takeRow(core, positionOf(symbol), { symbol, problem })
}

export function notePositionReadable(core: Core, symbol: string): void {
  noteWholeReading(core, positionOf(symbol))
  noteRowMissing(core, positionOf(symbol))
}

/** Nothing of the answer could be read, so it restricts nothing by itself. */
function noteUnreadableAnswer(core: Core, what: string): void {
  const { wholes } = core.readings
  if (!wholes.has(what)) noteUnreadable(core, 'wholes', what, core.now)
}

function noteWholeReading(core: Core, what: string): void {
  if (core.readings.wholes.has(what)) forgetUnreadable(core, 'wholes', what)
}

export function isReadingAgain({ readings }: Core): boolean {
  if (readings.unreadable.size === 0) return false
  return [...readings.unreadable].some(([row, { isHalted }]) => row.startsWith(FILL) && !isHalted)
}

export function hasUnreadableRows({ book, readings }: Core, symbol: string): boolean {
  if (isHaltedForUnreadable(book, symbol)) return true
  if (readings.unreadable.size === 0) return false
  return [...readings.unreadable.values()].some((note) => concerns(note, symbol) && !note.isHalted)
}

/** Perhaps no answer about the instrument could be read at all. */
export function isUnreadable(core: Core, symbol: string): boolean {
  const { wholes } = core.readings
  return hasUnreadableRows(core, symbol) || wholes.has('fills') || wholes.has(positionOf(symbol))
}

/** The cancel-all was answered, and only readable readings are missing. */
export function isHeldUpByRows(core: Core, { symbol, resolution }: InstrumentState): boolean {
  return resolution?.stage === 'settling' && isUnreadable(core, symbol)
}

/**
 * The exchange does not know the instrument, while it answers for the account.
 * @returns undefined where it knows it, or may yet tell
 */
export function refusalOfInstrument(
  { readings }: Core,
  { symbol, resolution }: InstrumentState,
): string | undefined {
  const failure = readings.failures.get(positionOf(symbol))
  const isOver =
    resolution === undefined || resolution.stage === 'settling' || resolution.refusals > 0
  const isAccountRead = readings.fillsKnownUntil > 0 && !readings.failures.has('fills')
  return failure?.isRemoved === true && isOver && isAccountRead ? failure.reason : undefined
}

export function unreadableSymbols(core: Core): readonly string[] {
  return [...core.instruments.keys()].filter((symbol) => isUnreadable(core, symbol))
}

export function isHaltedForUnreadable(book: Book, symbol: string): boolean {
  return restrictionOf(book, symbol, 'unreadable') !== undefined
}

function concerns({ symbol: scope }: UnreadableNote, symbol: string): boolean {
  return scope === symbol || scope === ACCOUNT
}

function positionOf(symbol: string): string {
  return `position ${symbol}`
}

function takeRow(
  core: Core,
  row: string,
  { symbol, problem }: { readonly symbol: Scope; readonly problem: string },
): void {
  if (symbol !== ACCOUNT && !core.instruments.has(symbol)) return
  const known = core.readings.unreadable.get(row)
  if (known?.isHalted) return
  const since = known?.since ?? core.now
  const lastedMs = known ? known.lastedMs + Math.min(core.now - known.seenAt, GAP_MS_MAX) : 0
  const isHalted = row.startsWith(FILL) && lastedMs >= READ_AGAIN_MS_MAX
  const note = { symbol, problem, since, seenAt: core.now, lastedMs, isHalted, isRead: false }
  noteUnreadable(core, 'unreadable', row, note)
  if (known === undefined)
    announce(core, 'warn', 'rows.unreadable', { scope: symbol, row, reason: problem })
  if (!isHalted) return
  for (const each of symbol === ACCOUNT ? core.instruments.keys() : [symbol])
    halt(core, each, 'unreadable', `${row} cannot be read (${problem}): ${RELEASE_HINT}`)
}

/** The second whole reading without the row ends the matter. */
function noteRowMissing(core: Core, row: string): void {
  const note = core.readings.unreadable.get(row)
  if (note === undefined || note.isHalted) return
  if (!note.isRead) return noteUnreadable(core, 'unreadable', row, { ...note, isRead: true })
  forgetUnreadable(core, 'unreadable', row)
  const { symbol: scope, since } = note
  announce(core, 'info', 'rows.readable', { scope, row, afterMs: core.now - since })
}

/**
 * With this status the answer came whole: a read that failed all the same got something that cannot
 * be read.
 */
const HTTP_OK = 200

export function hearOfFailure(
  core: Core,
  event: Extract<EngineEvent, { readonly kind: 'readFailed' }>,
): void {
  const { what, reason, status } = event
  hearAnswer(core, event)
  noteReadFailure(core, what, toReadFailure(event))
  if (status === HTTP_OK) noteUnreadableAnswer(core, what)
  announce(core, 'warn', 'read.failed', { what, reason })
}
