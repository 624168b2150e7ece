import type { OrderTerms } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { pairKey } from '../book/book.ts'
import { announce, type Core, type InstrumentState } from '../state/core.ts'
import { denialKindsOf } from '../state/denials.ts'
import { isHeldFromReturn, isRestricted } from './restricted-orders.ts'
import { ordersOf } from '../state/totals.ts'
import { isFlattening, isTrading } from '../state/trading-mode.ts'
import { isStarting, noteDisplaced } from '../state/instrument-state.ts'

/**
 * A resolution has ended these orders: those that are still wanted must rest again soon (ORD8). `provedAt`: Unix ms, our
 * clock, when the cancel-all was answered.
 */
export function expectDisplaced(
  instrument: InstrumentState,
  ended: readonly OrderTerms[],
  provedAt: number,
): void {
  const known = new Set(instrument.displaced.map(({ terms }) => nameOf(terms)))
  const added = ended.filter(
    (terms) =>
      (terms.purpose === 'quote' || terms.purpose === 'place') && !known.has(nameOf(terms)),
  )
  const displaced = added.map((terms) => ({ terms, since: provedAt, isLateLogged: false }))
  noteDisplaced(instrument, [...instrument.displaced, ...displaced])
}

/** Names what stays the same when an order is placed again. */
function nameOf({ strategyId, purpose, key, action, ticks, lots }: OrderTerms): string {
  return purpose === 'place'
    ? `${strategyId}|${key}`
    : [strategyId, tradesAs(action), ticks, lots].join('|')
}

/** Forgets displaced orders that rest again or are not wanted any more, and logs when that takes too long. */
export function watchDisplaced(core: Core, instrument: InstrumentState): void {
  const [first] = instrument.displaced
  if (!first || isStarting(core, instrument)) return
  const wasLate = instrument.displaced.some(({ isLateLogged }) => isLateLogged)
  const isRunning = isTrading(core)
  const missing = isRunning
    ? instrument.displaced.filter(({ terms }) => isMissing(core, terms))
    : []
  noteDisplaced(instrument, missing)
  if (instrument.displaced.length > 0) return logLate(core, instrument)
  if (!isRunning) return
  const fields = { symbol: instrument.symbol, sinceMs: core.now - first.since }
  announce(core, wasLate ? 'info' : 'debug', 'orders.restored', fields)
}

/** Logs the displaced orders that are late, each once. */
function logLate(core: Core, instrument: InstrumentState): void {
  const { displacedWithinMs } = core.settings.execution
  const late = instrument.displaced.filter(
    ({ since, isLateLogged }) => !isLateLogged && core.now - since > displacedWithinMs,
  )
  const [first] = late
  if (!first) return
  const logged = instrument.displaced.map((one) =>
    late.includes(one) ? { ...one, isLateLogged: true } : one,
  )
  noteDisplaced(instrument, logged)
  announce(core, 'warn', 'order.displacedLate', {
    symbol: instrument.symbol,
    sinceMs: core.now - first.since,
    phase: instrument.phase,
    orders: late.map(({ terms }) => ({ strategy: terms.strategyId, key: terms.key })),
    denials: denialKindsOf(core, instrument.symbol),
  })
}

/** Whether a displaced order is still wanted, does not rest again, and was not filled. */
function isMissing(core: Core, terms: OrderTerms): boolean {
  const { book } = core
  if (isFlattening(core, terms.symbol, terms.strategyId) || isHeldFromReturn(core, terms))
    return false
  const old = book.orders.get(terms.clientOid)
  if (old?.state === 'live') return false
  if (terms.purpose === 'place') return book.places.has(pairKey(terms.strategyId, terms.key))
  if (old?.filledLots === terms.lots) return false
  const side = tradesAs(terms.action)
  const levels = book.quotes.get(pairKey(terms.strategyId, terms.symbol)) ?? []
  // The orders of a restricted ladder may be smaller than their rungs.
  const mayBeCut = isRestricted(core, terms)
  const isWanted = levels.some(
    ({ ticks, lots, ...level }) =>
      level.side === side &&
      ticks === terms.ticks &&
      (mayBeCut ? lots >= terms.lots : lots === terms.lots),
  )
  return isWanted && !isRungPlaced(core, terms, mayBeCut)
}

/** Whether an order for the same rung rests or is on its way. */
function isRungPlaced(core: Core, terms: OrderTerms, mayBeCut: boolean): boolean {
  for (const { terms: other, state } of ordersOf(core, terms.strategyId, terms.symbol)) {
    const isRung =
      other.purpose === terms.purpose &&
      other.ticks === terms.ticks &&
      (mayBeCut || other.lots === terms.lots) &&
      tradesAs(other.action) === tradesAs(terms.action)
    if (isRung && (state === 'live' || state === 'sent')) return true
  }
  return false
}
