import { type FillsReading } from '../../domain/fill.ts'
import { type OrderId } from '../../domain/ids.ts'
import { own } from '../../lib/own.ts'
import { exchangeNow } from './clock-state.ts'
import { type Core, emit, type UnreadableNote } from './core.ts'

/** How far behind the newest known fill they are read again, ms, beside what becomes visible late. */
const KNOWN_MARGIN_MS = 2000
/** And behind the moment up to which they were read: what is known of the exchange's clock may be off by so much. */
const READ_MARGIN_MS = 60_000
/** So far apart our clock and the exchange's may be before ours is not looked at for what can be forgotten. */
const CLOCKS_APART_MS_MAX = 7 * 86_400_000
/** Trades are remembered so much longer than fills are read again, ms. */
const TRADES_MARGIN_MS = 60_000

export function askForFills(core: Core): void {
  emit(core, { kind: 'readFills', sinceAt: fillsSince(core) })
}

/** In its turn. */
export function askForPosition(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol })
}

/** Before all that are read in turn: something waits for it. */
export function askForPositionSoon(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol, isUrgent: true })
}

/**
 * Unix ms, exchange clock: fills are read from here. Everything up to then is known, whatever became of orders since:
 * what an answer did not say, the fills say, each of them once.
 */
function fillsSince(core: Core): number {
  const { fillVisibilityMs } = core.settings.execution
  return Math.max(0, Math.min(readThrough(core), exchangeNow(core)) - fillVisibilityMs - KNOWN_MARGIN_MS)
}

/**
 * Nothing is known of what is still to come: where the exchange's clock was ahead for a while, what was noted then is
 * not believed, and our own clock says when the last read was. In a run that has not read yet, all is read again that
 * is remembered.
 */
function readThrough(core: Core): number {
  const known = knownThrough(core)
  if (known <= exchangeNow(core) + READ_MARGIN_MS) return known
  const { fillsReadAt } = core.readings
  const lastReadAt = fillsReadAt > 0 ? fillsReadAt + (core.clock.offsetMs ?? 0) - READ_MARGIN_MS : 0
  return Math.max(core.book.tradesSinceAt + TRADES_MARGIN_MS, lastReadAt)
}

/** Unix ms, exchange clock: fills of before are known, if they were visible. It moves with what was read, and with each fill. */
export function knownThrough({ book, readings }: Core): number {
  return Math.max(book.fillsThroughAt, readings.fillsReadThroughAt - READ_MARGIN_MS)
}

/** Unix ms, exchange clock: trades of before are read no more, and need not be remembered. */
export function tradesNeededSince(core: Core): number {
  // What was forgotten is never read again. An exchange's clock that is a day ahead for a while must not forget
  // what is still to come: by our clock as well, unless that has been far behind for long.
  const notAhead = Math.max(core.now, exchangeNow(core) - CLOCKS_APART_MS_MAX)
  return Math.max(0, Math.min(fillsSince(core), notAhead) - TRADES_MARGIN_MS)
}

/**
 * How long ago the fills were asked for that are known, or a position of the instrument that they explain, ms: the
 * older of the two. A position is compared only when the fills of its moment are readable, and counts from then on.
 */
export function accountAgeMs({ readings, instruments, settings, now }: Core, symbol: string): number {
  const agreedAt = instruments.get(symbol)?.position.agreedAt ?? 0
  return now - Math.min(readings.fillsReadAt, agreedAt) - settings.execution.fillVisibilityMs
}

/**
 * Every fill is known that was readable when it was asked for. Returns that moment: Unix ms, our clock.
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
  // Both clocks have to agree on it: either may be wrong once.
  const askedAt = Math.min(exchangeTime, exchangeNow(core) - (core.now - requestedAt))
  state.fillsReadThroughAt = Math.max(state.fillsReadThroughAt, askedAt - fillVisibilityMs)
  return readableAt
}

/** Since when the fills of this orderId wait for their order; Unix ms, our clock. */
export function noteOrphan(core: Core, orderId: OrderId): number {
  const { orphansSince } = own(core.readings)
  const since = orphansSince.get(orderId) ?? core.now
  orphansSince.set(orderId, since)
  return since
}

/** The orderIds whose fills waited and do not any more. */
export function takeAttributedOrphans({ readings, book }: Core): readonly OrderId[] {
  const { orphansSince } = own(readings)
  const settled = [...orphansSince.keys()].filter((orderId) => !book.orphans.has(orderId))
  for (const orderId of settled) orphansSince.delete(orderId)
  return settled
}

/** Rows beyond these are forgotten, the oldest first, and halt their instrument again: far more than one listing has. */
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

/** It can be read, or is not there any more. What has halted its instrument stays known. */
export function noteReadable({ readings }: Core, row: string): void {
  if (readings.unreadable.get(row)?.isHalted === false) own(readings).unreadable.delete(row)
}
