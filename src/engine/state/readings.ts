import { type FillsReading } from '../../domain/fill.ts'
import { type OrderId } from '../../domain/ids.ts'
import { own } from '../../lib/own.ts'
import { exchangeNow } from './clock-state.ts'
import { type Core, emit } from './core.ts'

/** How far behind the newest known fill they are read again, ms, beside what becomes visible late. */
const KNOWN_MARGIN_MS = 2000
/** And behind the moment up to which they were read: what is known of the exchange's clock may be off by so much. */
const READ_MARGIN_MS = 60_000
/** Trades are remembered so much longer than fills are read again, ms. */
const TRADES_MARGIN_MS = 60_000

export function askForFills(core: Core): void {
  emit(core, { kind: 'readFills', sinceAt: fillsSince(core) })
}

export function askForPosition(core: Core, symbol: string): void {
  emit(core, { kind: 'readPosition', symbol })
}

/**
 * Unix ms, exchange clock: fills are read from here. Everything up to then is known, whatever became of orders since:
 * what an answer did not say, the fills say, each of them once.
 */
function fillsSince(core: Core): number {
  const { fillVisibilityMs } = core.settings.execution
  return Math.max(0, Math.min(knownThrough(core) - fillVisibilityMs, exchangeNow(core)) - KNOWN_MARGIN_MS)
}

/** Unix ms, exchange clock: fills of before are known, if they were visible. It moves with what was read, and with each fill. */
export function knownThrough({ book, readings }: Core): number {
  return Math.max(book.fillsThroughAt, readings.fillsReadThroughAt - READ_MARGIN_MS)
}

/** Unix ms, exchange clock: trades of before are read no more, and need not be remembered. */
export function tradesNeededSince(core: Core): number {
  return Math.max(0, fillsSince(core) - TRADES_MARGIN_MS)
}

/** Every fill is known that was readable when it was asked for. Returns that moment: Unix ms, our clock. */
export function noteFillsRead(core: Core, { requestedAt, exchangeTime }: FillsReading): number {
  const { fillVisibilityMs } = core.settings.execution
  const state = own(core.readings)
  const readableAt = requestedAt - fillVisibilityMs
  state.fillsReadAt = Math.max(state.fillsReadAt, readableAt)
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
export function takeSettledOrphans({ readings, book }: Core): readonly OrderId[] {
  const { orphansSince } = own(readings)
  const settled = [...orphansSince.keys()].filter((orderId) => !book.orphans.has(orderId))
  for (const orderId of settled) orphansSince.delete(orderId)
  return settled
}
