import type { FillsReading } from '../../domain/fill.ts'
import type { OrderId } from '../../domain/ids.ts'
import { own } from '../../lib/own.ts'
import { exchangeNow } from './market-state.ts'
import type { EngineEvent } from '../event.ts'
import {
  type Core,
  emit,
  type OrphanNote,
  type ReadFailure,
  record,
  type UnreadableNote,
} from './core.ts'

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
  return Math.max(
    0,
    Math.min(readThrough(core), exchangeNow(core)) - fillVisibilityMs - KNOWN_MARGIN_MS,
  )
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
 * The age of what is known of the account on an instrument, ms: since the last complete reading of its fills or of its
 * position was asked for, whichever is longer ago. @param now Unix ms, our clock: the present step's, or a later time.
 */
export function accountAgeMs(
  { readings, instruments, now: steppedAt }: Core,
  symbol: string,
  now = steppedAt,
): number {
  const positionReadAt = instruments.get(symbol)?.position.readAt ?? 0
  return Math.max(ageMs(readings.fillsAskedAt, now), ageMs(positionReadAt, now))
}

/** Infinite where there was no reading, or our clock was set back since: the next reading says how old it is. */
function ageMs(readAt: number, now: number): number {
  return readAt === 0 || readAt > now ? Number.POSITIVE_INFINITY : now - readAt
}

/** A reading of the account that is older than its limit: while there is one, nothing that adds risk leaves. */
export interface StaleReading {
  /** `fills` or `position BTCUSDT`. */
  readonly what: string
  /** Unix ms, our clock: the last one was asked for then; 0: there was none. */
  readonly readAt: number
  readonly reason: string
}

/** @param now Unix ms, our clock. */
export function listStaleReadings(core: Core, now: number): readonly StaleReading[] {
  const { accountAgeMaxMs } = core.settings.limits
  const stale = (what: string, readAt: number, otherwise: string): readonly StaleReading[] =>
    ageMs(readAt, now) <= accountAgeMaxMs
      ? []
      : [{ what, readAt, reason: core.readings.failures.get(what)?.reason ?? otherwise }]
  return [
    ...stale('fills', core.readings.fillsAskedAt, NO_ANSWER),
    ...[...core.instruments.values()].flatMap(({ symbol, position: { readAt, mismatch } }) =>
      stale(
        `position ${symbol}`,
        readAt,
        mismatch ? 'it is not what the fills explain' : NO_ANSWER,
      ),
    ),
  ]
}

/** Why a reading is too old that was never refused: it has not come. */
export const NO_ANSWER = 'no answer'

/**
 * Fills were read: all that were readable when this was asked for are known. Returns up to when: Unix ms, our clock.
 * @param isReadAgain A row could not be read: the next reading begins where this one began.
 */
export function noteFillsRead(core: Core, reading: FillsReading, isReadAgain: boolean): number {
  const { requestedAt, exchangeTime } = reading
  const { fillVisibilityMs } = core.settings.execution
  const state = own(core.readings)
  const readableAt = requestedAt - fillVisibilityMs
  state.fillsReadAt = Math.max(state.fillsReadAt, readableAt)
  // Not the later of the two: after our clock was set back the age must not count from a time that is still to come.
  state.fillsAskedAt = requestedAt
  if (isReadAgain) return readableAt
  // The earlier of what the two clocks say: either may be wrong once.
  const askedAt = Math.min(exchangeTime, exchangeNow(core) - (core.now - requestedAt))
  state.fillsReadThroughAt = Math.max(state.fillsReadThroughAt, askedAt - fillVisibilityMs)
  bringBackKnown(core, reading, askedAt)
  return readableAt
}

/**
 * Fills are known up to a time that has not come yet, and that no fill has: a run began while public answers alone told
 * the exchange's time. Left in the book, it would hide what fills until then from a run that starts afterwards.
 */
function bringBackKnown(core: Core, { fills }: FillsReading, askedAt: number): void {
  const { book, now, settings } = core
  const known = book.fillsThroughAt
  if (known <= askedAt || fills.some(({ filledAt }) => filledAt === known)) return
  record(core, {
    kind: 'prune',
    at: now,
    ordersBefore: 0,
    keysBefore: 0,
    tradesBefore: 0,
    fillsThroughAt: Math.max(0, askedAt - settings.execution.fillVisibilityMs),
    isBroughtBack: true,
  })
}

/** @param failure Why the reading failed; undefined: it has come. */
export function noteReadFailure(
  { readings }: Core,
  what: string,
  failure: ReadFailure | undefined,
): void {
  const known = readings.failures.get(what)
  if (
    known?.reason === failure?.reason &&
    known?.isRefused === failure?.isRefused &&
    known?.isRemoved === failure?.isRemoved
  )
    return
  const { failures } = own(readings)
  if (failure === undefined) failures.delete(what)
  else failures.set(what, failure)
}

/** As an operator reads it: an answer's code and words, or that there was none. */
export function toReadFailure({
  reason,
  status,
  isRefused = false,
  isRemoved = false,
}: Extract<EngineEvent, { kind: 'readFailed' }>): ReadFailure {
  return {
    reason: status === undefined && !isRefused ? `${NO_ANSWER} (${reason})` : reason,
    isRefused,
    ...(isRemoved && { isRemoved }),
  }
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
export function takeSettledOrphans({
  readings,
  book,
}: Core): readonly (readonly [OrderId, OrphanNote])[] {
  const { orphans } = own(readings)
  const settled = [...orphans].filter(([orderId]) => !book.orphans.has(orderId))
  for (const [orderId] of settled) orphans.delete(orderId)
  return settled
}

/** Unreadable rows that are remembered, far more than one answer has. An older one that is forgotten begins anew. */
const UNREADABLE_MAX = 1000

/** @param name what it is of: `fill 77`, `position BTCUSDT`, `fills`. */
export function noteUnreadable<Kind extends 'unreadable' | 'wholes'>(
  { readings }: Core,
  kind: Kind,
  name: string,
  note: Kind extends 'unreadable' ? UnreadableNote : number,
): void {
  const notes = own(readings)[kind] as Map<string, typeof note>
  notes.set(name, note)
  for (const oldest of notes.keys()) {
    if (notes.size <= UNREADABLE_MAX) return
    notes.delete(oldest)
  }
}

export function forgetUnreadable(
  { readings }: Core,
  kind: 'unreadable' | 'wholes',
  name: string,
): void {
  own(readings)[kind].delete(name)
}
