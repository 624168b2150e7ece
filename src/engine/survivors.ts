import { type OrderTerms } from '../domain/order.ts'
import { tradesAs } from '../domain/order-action.ts'
import { openOrdersOf, pairKey } from './book.ts'
import { announce, type Core } from './core.ts'
import { type Fence, type Lane } from './lane.ts'

/** The fence of a cancel-all has ended: what it took and is wanted has to rest again soon (ORD8). */
export function expectSurvivors(lane: Lane, { survivors, provedAt }: Fence): void {
  if (survivors.length === 0) return
  const earlier = lane.survivors
  lane.survivors = {
    since: earlier?.since ?? provedAt,
    orders: [...(earlier?.orders ?? []), ...survivors],
    isLateTold: earlier?.isLateTold ?? false,
  }
}

/** Looks which survivors rest again, or are not wanted any more, and says so when that takes too long. */
export function watchSurvivors(core: Core, lane: Lane): void {
  const { survivors } = lane
  if (!survivors) return
  if (core.mode !== 'running') {
    lane.survivors = undefined
    return
  }
  const missing = survivors.orders.filter((terms) => isMissing(core, terms))
  const sinceMs = core.now - survivors.since
  if (missing.length === 0) {
    lane.survivors = undefined
    return announce(core, survivors.isLateTold ? 'info' : 'debug', 'survivors.back', {
      symbol: lane.symbol,
      sinceMs,
    })
  }
  lane.survivors = { ...survivors, orders: missing }
  if (survivors.isLateTold || sinceMs <= core.settings.execution.survivorsWithinMs) return
  lane.survivors.isLateTold = true
  announce(core, 'warn', 'survivor.late', {
    symbol: lane.symbol,
    sinceMs,
    lane: lane.state,
    orders: missing.map(({ strategyId, key }) => ({ strategy: strategyId, key })),
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
