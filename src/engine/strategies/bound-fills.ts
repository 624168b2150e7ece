import { type StrategyId } from '../../domain/ids.ts'
import { pairKey } from '../book/book.ts'
import { announce, type Core } from '../state/core.ts'
import { showFills } from './take-snapshot.ts'

/**
 * An answer, a resolution or evidence named an orderId whose fills had been waiting: they are news for their
 * strategy like any other fill. Runs after every event.
 */
export function noteBoundFills(core: Core): void {
  const owners = new Set<StrategyId>()
  for (const orderId of core.orphansSince.keys()) {
    if (core.book.orphans.has(orderId)) continue
    core.orphansSince.delete(orderId)
    const clientOid = core.book.byOrderId.get(orderId)
    const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
    if (!order) continue
    const { strategyId, symbol, purpose } = order.terms
    if (purpose === 'quote') core.quoteHolds.set(pairKey(strategyId, symbol), core.snapshots + 1)
    owners.add(strategyId)
    announce(core, 'info', 'order.fillAttributed', { clientOid, symbol, orderId, filled: order.filledLots })
  }
  if (owners.size > 0) showFills(core, owners)
}
