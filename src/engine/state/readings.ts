import { type FillsReading, type Fill, isOfOthers } from '../../domain/fill.ts'
import type { OrderId } from '../../domain/ids.ts'
import { mutable } from '../../lib/mutable.ts'
import { exchangeNow, latestExchangeTime } from './market-state.ts'
import type { EventOf } from '../event.ts'
import {
  type Core,
  emit,
  type OrphanNote,
  type ReadFailure,
  record,
  type UnreadableNote,
} from './core.ts'
import { findFilledExit } from '../book/apply-fill.ts'

/** Readings of fills begin so long before the newest known fill, beside the visibility. */
const KNOWN_MARGIN_MS = 2000
/** The exchange's clock is known no better, so readings begin so long before the last one. */
const READ_MARGIN_MS = 60_000
/** If the clocks are further apart, ours does not limit which trades are forgotten. */
const CLOCKS_APART_MS_MAX = 7 * 86_400_000
/** Trades are remembered from this long before fills are read again. */
const TRADES_MARGIN_MS = 60_000

export function askForFills(core: Core): void {
  emit(core, { kind: 'readFills', sinceAt: fillsSince(core) })
}

export function askForPosition(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol })
}

export function askForPositionSoon(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol, isUrgent: true })
}

/** Unix ms, exchange clock: all earlier fills are known. */
function fillsSince(core: Core): number {
  const { fillVisibilityMs } = core.settings.execution
  return Math.max(
    0,
    Math.min(readThrough(core), exchangeNow(core)) - fillVisibilityMs - KNOWN_MARGIN_MS,
  )
}

/**
 * A time in the future was noted while the exchange's clock was ahead. Then our clock says when the
 * last reading was; without one in this run, fills are read from where trades are remembered.
 */
function readThrough(core: Core): number {
  const known = knownThrough(core)
  if (known <= exchangeNow(core) + READ_MARGIN_MS) return known
  const { fillsKnownUntil } = core.readings
  const lastReadAt =
    fillsKnownUntil > 0 ? fillsKnownUntil + (core.clock.offsetMs ?? 0) - READ_MARGIN_MS : 0
  return Math.max(core.book.tradesSinceAt + TRADES_MARGIN_MS, lastReadAt)
}

/** Unix ms, exchange clock: earlier fills are known, if they were visible. */
export function knownThrough({ book, readings }: Core): number {
  return Math.max(book.fillsThroughAt, readings.fillsReadThroughAt - READ_MARGIN_MS)
}

/** Unix ms, exchange clock: earlier trades are never read again. */
export function tradesNeededSince(core: Core): number {
  // While the exchange's clock is a day ahead, fills to come must not count as forgotten.
  const notAhead = Math.max(core.now, exchangeNow(core) - CLOCKS_APART_MS_MAX)
  return Math.max(0, Math.min(fillsSince(core), notAhead) - TRADES_MARGIN_MS)
}

/** The longer time since fills or position were last asked for. */
export function accountAgeMs(
  { readings, instruments, now: steppedAt }: Core,
  symbol: string,
  now = steppedAt,
): number {
  const positionReadAt = instruments.get(symbol)?.position.readAt ?? 0
  return Math.max(ageMs(readings.fillsAskedAt, now), ageMs(positionReadAt, now))
}

/** The time since the last reading came that fits the book. */
export function positionSilenceMs({ instruments, now }: Core, symbol: string): number {
  return ageMs(instruments.get(symbol)?.position.heardAt ?? 0, now)
}

/** Infinity without a reading, or if our clock was set back since. */
function ageMs(readAt: number, now: number): number {
  return readAt === 0 || readAt > now ? Number.POSITIVE_INFINITY : now - readAt
}

/** While a reading is stale, nothing that adds risk leaves. */
export interface StaleReading {
  /** `fills` or `position BTCUSDT`. */
  readonly what: string
  /** When the last one was asked for; 0: never. */
  readonly readAt: number
  readonly reason: string
}

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

export const NO_ANSWER = 'no answer'

/**
 * @param isReadAgain a row could not be read, so the next reading begins where this one began
 * @returns Unix ms, our clock: fills are known up to then
 */
export function noteFillsRead(core: Core, reading: FillsReading, isReadAgain: boolean): number {
  const { requestedAt, exchangeTime } = reading
  const { fillVisibilityMs } = core.settings.execution
  const state = mutable(core.readings)
  const readableAt = requestedAt - fillVisibilityMs
  state.fillsKnownUntil = Math.max(state.fillsKnownUntil, readableAt)
  // After our clock was set back the age must not count from a future time.
  state.fillsAskedAt = requestedAt
  if (isReadAgain) return readableAt
  // Either clock may be wrong once, so the earlier one counts.
  const askedAt = Math.min(exchangeTime, exchangeNow(core) - (core.now - requestedAt))
  state.fillsReadThroughAt = Math.max(state.fillsReadThroughAt, askedAt - fillVisibilityMs)
  bringBackKnown(core, reading, askedAt)
  return readableAt
}

/**
 * A run whose time came from public answers alone may have noted a time in the future, which would
 * hide fills from later runs.
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

/** @param failure undefined: the reading has come */
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
  const { failures } = mutable(readings)
  if (failure === undefined) failures.delete(what)
  else failures.set(what, failure)
}

export function toReadFailure({
  reason,
  status,
  isRefused = false,
  isRemoved = false,
}: EventOf<'readFailed'>): ReadFailure {
  return {
    reason: status === undefined && !isRefused ? `${NO_ANSWER} (${reason})` : reason,
    isRefused,
    ...(isRemoved && { isRemoved }),
  }
}

export function noteOrphan({ readings, now }: Core, orderId: OrderId, symbol: string): OrphanNote {
  const { orphans } = mutable(readings)
  const note = orphans.get(orderId) ?? { symbol, since: now, isLogged: false }
  orphans.set(orderId, note)
  return note
}

export function noteOrphanLogged({ readings }: Core, orderId: OrderId, note: OrphanNote): void {
  mutable(readings.orphans).set(orderId, { ...note, isLogged: true })
}

/** Takes the notes of fills that have an owner by now, or belong to no strategy. */
export function takeSettledOrphans({
  readings,
  book,
}: Core): readonly (readonly [OrderId, OrphanNote])[] {
  const { orphans } = mutable(readings)
  const settled = [...orphans].filter(([orderId]) => !book.orphans.has(orderId))
  for (const [orderId] of settled) orphans.delete(orderId)
  return settled
}

/** One answer has far fewer. A note that was forgotten begins anew. */
const UNREADABLE_MAX = 1000

/** @param name `fill 77`, `position BTCUSDT`, `fills` */
export function noteUnreadable<Kind extends 'unreadable' | 'wholes'>(
  { readings }: Core,
  kind: Kind,
  name: string,
  note: Kind extends 'unreadable' ? UnreadableNote : number,
): void {
  const notes = mutable(readings)[kind] as Map<string, typeof note>
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
  mutable(readings)[kind].delete(name)
}

/**
 * With `foreignFills: adopt`, a fill through the API may be of an order that a lost run left
 * resting. So a cancel-all is sent that lists what rests (`listResting`), and nothing is placed
 * meanwhile.
 */
export function noteAdopted(core: Core, fill: Fill): void {
  const isListed = core.unlisted.listed.has(fill.symbol)
  if (isOfOthers(fill) || isListed || findFilledExit(core.book, fill)) return
  mutable(core.unlisted).symbols.add(fill.symbol)
}

export function noteListing({ unlisted }: Core, symbol: string): void {
  mutable(unlisted).symbols.delete(symbol)
}

/** Nothing that was accepted before the cancel-all rests on these instruments (A5). */
export function noteListed(core: Core, symbols: Iterable<string>, requestAt: number): void {
  const { run, settings } = core
  const acceptableUntil =
    latestExchangeTime(core, run.startedAt) + settings.execution.acceptanceWindowMs
  if (requestAt < acceptableUntil) return
  const unlisted = mutable(core.unlisted)
  for (const symbol of symbols) {
    unlisted.listed.add(symbol)
    unlisted.symbols.delete(symbol)
  }
}
