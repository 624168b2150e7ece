import { type OrderTerms } from '../../domain/order.ts'
import { tradesAs } from '../../domain/order-action.ts'
import { openOrdersOf, pairKey } from '../book/book.ts'
import { announce, type Core } from '../state/core.ts'
import { type Lane } from '../state/instrument-state.ts'

/**
 * A fence has ended, and these orders with it: what of them is wanted has to rest again soon (ORD8). `provedAt`:
 * Unix ms, our clock, when its cancel-all was answered.
 */
export function expectSurvivors(lane: Lane, ended: readonly OrderTerms[], provedAt: number): void {
  const known = new Set(lane.survivors.map(({ terms }) => nameOf(terms)))
  const added = ended.filter(
    (terms) => (terms.purpose === 'quote' || terms.purpose === 'place') && !known.has(nameOf(terms)),
  )
  lane.survivors = [
    ...lane.survivors,
    ...added.map((terms) => ({ terms, since: provedAt, isLateTold: false })),
  ]
}

/** What stays the same when an order is placed again. */
function nameOf({ strategyId, purpose, key, action, ticks, lots }: OrderTerms): string {
  return purpose === 'place' ? `${strategyId}|${key}` : [strategyId, tradesAs(action), ticks, lots].join('|')
}

/** Looks which survivors rest again, or are not wanted any more, and says so when that takes too long. */
export function watchSurvivors(core: Core, lane: Lane): void {
  const [first] = lane.survivors
  if (!first || core.mode === 'starting') return
  const wasLate = lane.survivors.some(({ isLateTold }) => isLateTold)
  lane.survivors = core.mode === 'running' ? lane.survivors.filter(({ terms }) => isMissing(core, terms)) : []
  if (lane.survivors.length > 0) return tellLate(core, lane)
  if (core.mode !== 'running') return
  const fields = { symbol: lane.symbol, sinceMs: core.now - first.since }
  announce(core, wasLate ? 'info' : 'debug', 'survivors.back', fields)
}

/** Each is told once. */
function tellLate(core: Core, lane: Lane): void {
  const { survivorsWithinMs } = core.settings.execution
  const late = lane.survivors.filter(
    ({ since, isLateTold }) => !isLateTold && core.now - since > survivorsWithinMs,
  )
  const [first] = late
  if (!first) return
  lane.survivors = lane.survivors.map((one) => (late.includes(one) ? { ...one, isLateTold: true } : one))
  announce(core, 'warn', 'survivor.late', {
    symbol: lane.symbol,
    sinceMs: core.now - first.since,
    lane: lane.state,
    orders: late.map(({ terms }) => ({ strategy: terms.strategyId, key: terms.key })),
    denials: [...lane.denials.keys()],
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
