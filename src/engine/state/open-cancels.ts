import { canRest } from '../../domain/order.ts'
import { openOrdersOf } from '../book/book.ts'
import { type Core, exchangeNow } from './core.ts'
import { type InstrumentState } from './instrument-state.ts'

/**
 * The request itself says how long it is good for (document: receiveWindow), because a copy that arrives
 * after the instrument is free again would take away what was placed since.
 */
export const RECEIVE_WINDOW_MS = 5000
/** By as much our idea of the exchange's clock may be wrong. */
const CLOCK_ERROR_MS = 1000

export function askForCancel(core: Core): void {
  if (core.asked.has('cancelAllOrders')) return
  core.asked.add('cancelAllOrders')
  core.effects.push({ kind: 'askGrant', endpoint: 'cancelAllOrders', priority: 'reduce' })
}

/** Whether a cancel-all is on the wire that may take orders of the instrument away. */
export function isUnderCancel(core: Core, symbol: string): boolean {
  for (const { symbols } of core.cancels.values()) if (symbols.includes(symbol)) return true
  return false
}

/**
 * Of a cancel-all that left at `requestAt` (Unix ms, exchange clock) nobody will hear any more, and it may
 * still arrive: nothing is placed on the instrument before it cannot. That is what the request says itself: it may have
 * been signed later than it was decided on.
 */
export function noteLateCancel(core: Core, instrument: InstrumentState, requestAt: number | undefined): void {
  if (requestAt === undefined) return
  const acceptanceDeadlineAt = requestAt + RECEIVE_WINDOW_MS + CLOCK_ERROR_MS
  instrument.lateUntil = Math.max(instrument.lateUntil, core.now + acceptanceDeadlineAt - exchangeNow(core))
}

/** Whether an order is known to rest on the instrument. */
export function hasResting(core: Core, symbol: string): boolean {
  for (const { state, terms } of openOrdersOf(core.book, symbol)) {
    if (state === 'live' && canRest(terms)) return true
  }
  return false
}

export function hasUnknown(core: Core, symbol: string): boolean {
  for (const { state } of openOrdersOf(core.book, symbol)) if (state === 'unknown') return true
  return false
}
