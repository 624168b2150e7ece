import { type OrderTerms } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { openOrdersOf, pairKey } from '../book/book.ts'
import { announce, type Core } from '../state/core.ts'
import { type InstrumentState } from '../state/instrument-state.ts'

/**
 * A resolution has ended, and these orders with it: what of them is wanted has to rest again soon (ORD8). `provedAt`:
 * Unix ms, our clock, when its cancel-all was answered.
 */
export function expectDisplaced(
  instrument: InstrumentState,
  ended: readonly OrderTerms[],
  provedAt: number,
): void {
  const known = new Set(instrument.displaced.map(({ terms }) => nameOf(terms)))
  const added = ended.filter(
    (terms) => (terms.purpose === 'quote' || terms.purpose === 'place') && !known.has(nameOf(terms)),
  )
  instrument.displaced = [
    ...instrument.displaced,
    ...added.map((terms) => ({ terms, since: provedAt, isLateLogged: false })),
  ]
}

/** What stays the same when an order is placed again. */
function nameOf({ strategyId, purpose, key, action, ticks, lots }: OrderTerms): string {
  return purpose === 'place' ? `${strategyId}|${key}` : [strategyId, tradesAs(action), ticks, lots].join('|')
}

/** Looks which displaced rest again, or are not wanted any more, and says so when that takes too long. */
export function watchDisplaced(core: Core, instrument: InstrumentState): void {
  const [first] = instrument.displaced
  if (!first || core.mode === 'starting') return
  const wasLate = instrument.displaced.some(({ isLateLogged }) => isLateLogged)
  instrument.displaced =
    core.mode === 'running' ? instrument.displaced.filter(({ terms }) => isMissing(core, terms)) : []
  if (instrument.displaced.length > 0) return logLate(core, instrument)
  if (core.mode !== 'running') return
  const fields = { symbol: instrument.symbol, sinceMs: core.now - first.since }
  announce(core, wasLate ? 'info' : 'debug', 'orders.restored', fields)
}

/** Each is told once. */
function logLate(core: Core, instrument: InstrumentState): void {
  const { displacedWithinMs } = core.settings.execution
  const late = instrument.displaced.filter(
    ({ since, isLateLogged }) => !isLateLogged && core.now - since > displacedWithinMs,
  )
  const [first] = late
  if (!first) return
  instrument.displaced = instrument.displaced.map((one) =>
    late.includes(one) ? { ...one, isLateLogged: true } : one,
  )
  announce(core, 'warn', 'order.displacedLate', {
    symbol: instrument.symbol,
    sinceMs: core.now - first.since,
    instrument: instrument.phase,
    orders: late.map(({ terms }) => ({ strategy: terms.strategyId, key: terms.key })),
    denials: [...instrument.denials.keys()],
  })
}

/** Not back, still wanted, and not filled by the time it was taken away. */
function isMissing(core: Core, terms: OrderTerms): boolean {
  const { book } = core
  const old = book.orders.get(terms.clientOid)
  if (old?.state === 'live') return false
  if (terms.purpose === 'place') return book.places.has(pairKey(terms.strategyId, terms.key))
  if (old?.filledLots === terms.lots) return false
  const side = tradesAs(terms.action)
  const levels = book.quotes.get(pairKey(terms.strategyId, terms.symbol)) ?? []
  const isWanted = levels.some(
    (level) => level.side === side && level.ticks === terms.ticks && level.lots === terms.lots,
  )
  return isWanted && !stands(core, terms)
}

/** Whether an order of the same rung is on its way or rests. */
function stands(core: Core, terms: OrderTerms): boolean {
  for (const { terms: other, state } of openOrdersOf(core.book, terms.symbol)) {
    const isRung =
      other.strategyId === terms.strategyId &&
      other.purpose === terms.purpose &&
      other.ticks === terms.ticks &&
      other.lots === terms.lots &&
      tradesAs(other.action) === tradesAs(terms.action)
    if (isRung && (state === 'live' || state === 'sent')) return true
  }
  return false
}
