import type { FillsReading } from '../../domain/fill.ts'
import type { OrderId } from '../../domain/ids.ts'
import { own } from '../../lib/own.ts'
import { exchangeNow } from './clock-state.ts'
import { type Core, emit, type OrphanNote, type UnreadableNote } from './core.ts'

/** Fills are read again from this far before the newest known one, in addition to the time in which fills become visible. */
const KNOWN_MARGIN_MS = 2000
/** And from this far before the time up to which they were read: the exchange's clock may be known no better. */
const READ_MARGIN_MS = 60_000
/** With clocks further apart than this, ours no longer limits which trades can be forgotten. */
const CLOCKS_APART_MS_MAX = 7 * 86_400_000
/** Trades are remembered from this long before the time from which fills are read again. */
const TRADES_MARGIN_MS = 60_000

export function askForFills(core: Core): void {
  emit(core, { kind: 'readFills', sinceAt: fillsSince(core) })
}

/** Reads a position in its turn. */
export function askForPosition(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol })
}

/** Reads a position before all those in turn, because something waits for it. */
export function askForPositionSoon(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol, isUrgent: true })
}

/**
 * Unix ms, exchange clock: fills are read from this time on. All fills before it are known, so whatever happened to
 * orders since then shows in the fills that are read.
 */
function fillsSince(core: Core): number {
  const { fillVisibilityMs } = core.settings.execution
  return Math.max(0, Math.min(readThrough(core), exchangeNow(core)) - fillVisibilityMs - KNOWN_MARGIN_MS)
}

/**
 * Up to when fills are known. A time in the future cannot be right: it was noted while the exchange's clock was ahead.
 * Then our own clock says when the last read was; in a run without a read yet, everything is read again from where
 * trades are remembered.
 */
function readThrough(core: Core): number {
  const known = knownThrough(core)
  if (known <= exchangeNow(core) + READ_MARGIN_MS) return known
  const { fillsReadAt } = core.readings
  const lastReadAt = fillsReadAt > 0 ? fillsReadAt + (core.clock.offsetMs ?? 0) - READ_MARGIN_MS : 0
  return Math.max(core.book.tradesSinceAt + TRADES_MARGIN_MS, lastReadAt)
}

/** Unix ms, exchange clock: fills before this time are known, if they were visible. Each read and each fill moves it on. */
export function knownThrough({ book, readings }: Core): number {
  return Math.max(book.fillsThroughAt, readings.fillsReadThroughAt - READ_MARGIN_MS)
}

/** Unix ms, exchange clock: trades before this time are never read again and need not be remembered. */
export function tradesNeededSince(core: Core): number {
  // What is forgotten is never read again. If the exchange's clock is a day ahead for a while, fills still to come must
  // not count as forgotten: so our clock limits it as well, unless ours is far behind.
  const notAhead = Math.max(core.now, exchangeNow(core) - CLOCKS_APART_MS_MAX)
  return Math.max(0, Math.min(fillsSince(core), notAhead) - TRADES_MARGIN_MS)
}

/**
 * The age of what is known of the account on an instrument, ms: since the last complete read of fills was asked for, or
 * since a position was that agrees with the fills, whichever is longer ago. A position is compared only when the fills
 * of its moment are readable, so that time is taken off.
 */
export function accountAgeMs({ readings, instruments, settings, now }: Core, symbol: string): number {
  const agreedAt = instruments.get(symbol)?.position.agreedAt ?? 0
  return now - Math.min(readings.fillsReadAt, agreedAt) - settings.execution.fillVisibilityMs
}

/**
 * Fills were read: all that were readable when this was asked for are known. Returns up to when: Unix ms, our clock.
 * @param isReadAgain A row could not be read: the next reading begins where this one began.
 */
export function noteFillsRead(
  core: Core,
  { requestedAt, exchangeTime }: FillsReading,
  isReadAgain: boolean,
): number {
  const { fillVisibilityMs } = core.settings.execution
  const state = own(core.readings)
  const readableAt = requestedAt - fillVisibilityMs
  state.fillsReadAt = Math.max(state.fillsReadAt, readableAt)
  if (isReadAgain) return readableAt
  // The earlier of what the two clocks say: either may be wrong once.
  const askedAt = Math.min(exchangeTime, exchangeNow(core) - (core.now - requestedAt))
  state.fillsReadThroughAt = Math.max(state.fillsReadThroughAt, askedAt - fillVisibilityMs)
  return readableAt
}

/** @param refusal what the exchange says when it refuses a read for good; undefined: it has answered, or failed for another reason. */
export function noteReadRefusal({ readings }: Core, what: string, refusal: string | undefined): void {
  if (readings.refusals.get(what) === refusal) return
  const { refusals } = own(readings)
  if (refusal === undefined) refusals.delete(what)
  else refusals.set(what, refusal)
}

/** Fills of this orderId wait for their order. */
export function noteOrphan({ readings, now }: Core, orderId: OrderId, symbol: string): OrphanNote {
  const { orphans } = own(readings)
  const note = orphans.get(orderId) ?? { symbol, since: now, isLogged: false }
  orphans.set(orderId, note)
  return note
}

/** It was logged that fills of this orderId are not explained. */
export function noteOrphanLogged({ readings }: Core, orderId: OrderId, note: OrphanNote): void {
  own(readings.orphans).set(orderId, { ...note, isLogged: true })
}

/** The orderIds whose fills have waited and have an owner now, or belong to no strategy; each once. */
export function takeSettledOrphans({ readings, book }: Core): readonly (readonly [OrderId, OrphanNote])[] {
  const { orphans } = own(readings)
  const settled = [...orphans].filter(([orderId]) => !book.orphans.has(orderId))
  for (const [orderId] of settled) orphans.delete(orderId)
  return settled
}

/** Unreadable rows that are remembered, far more than one answer has. An older one that is forgotten may halt its instrument again. */
const UNREADABLE_MAX = 1000

/** @param row what it is of: `fill 77`, `position BTCUSDT`. */
export function noteUnreadable({ readings }: Core, row: string, note: UnreadableNote): void {
  const { unreadable } = own(readings)
  unreadable.set(row, note)
  for (const oldest of unreadable.keys()) {
    if (unreadable.size <= UNREADABLE_MAX) return
    unreadable.delete(oldest)
  }
}

/** The row can be read, or is gone. One that has halted its instrument stays remembered. */
export function noteReadable({ readings }: Core, row: string): void {
  if (readings.unreadable.get(row)?.isHalted === false) own(readings).unreadable.delete(row)
}
