import { type OrderId } from '../../domain/ids.ts'
import { own } from '../../lib/own.ts'
import { type Core, emit, type UnreadableNote } from './core.ts'

/** How far back behind its first send the fills of an order are looked for, ms. */
const SENT_MARGIN_MS = 10_000
/** And behind the newest known fill, beside what becomes visible late, ms. */
const KNOWN_MARGIN_MS = 2000

export function askForFills(core: Core): void {
  emit(core, { kind: 'readFills', sinceAt: fillsSince(core) })
}

export function askForPosition(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol })
}

/** Unix ms, exchange clock, from where fills must be read to miss none: the newest known, less what may come late. */
function fillsSince(core: Core): number {
  const { fillVisibilityMs } = core.settings.execution
  const unresolved = [...core.book.open.values()]
    .flatMap((orders) => [...orders.values()])
    .filter((order) => order.state !== 'live' && order.attempts > 0)
    .map((order) => order.firstSentAt - SENT_MARGIN_MS)
  const known = core.book.fillsThroughAt - fillVisibilityMs - KNOWN_MARGIN_MS
  return Math.max(0, Math.min(known, ...unresolved))
}

/**
 * How long ago the fills were asked for that are known, or a position of the instrument that they explain, ms: the
 * older of the two. A position is compared only when the fills of its moment are readable, and counts from then on.
 */
export function accountAgeMs({ readings, instruments, settings, now }: Core, symbol: string): number {
  const agreedAt = instruments.get(symbol)?.position.agreedAt ?? 0
  return now - Math.min(readings.fillsReadAt, agreedAt) - settings.execution.fillVisibilityMs
}

/** @param readableAt Unix ms, our clock: every fill that was readable by then is known. */
export function noteFillsRead({ readings }: Core, readableAt: number): void {
  const state = own(readings)
  state.fillsReadAt = Math.max(state.fillsReadAt, readableAt)
}

/** Since when the fills of this orderId wait for their order; Unix ms, our clock. */
export function noteOrphan(core: Core, orderId: OrderId): number {
  const { orphansSince } = own(core.readings)
  const since = orphansSince.get(orderId) ?? core.now
  orphansSince.set(orderId, since)
  return since
}

/** The orderIds whose fills waited and do not any more. */
export function takeSettledOrphans({ readings, book }: Core): readonly OrderId[] {
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
