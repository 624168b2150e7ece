import { isInsideWindow } from '../../execution/resend-window.ts'
import { isClosing } from '../../domain/order-action.ts'
import { canRest, openLots, type Order } from '../../domain/order.ts'
import type { SettledOrder } from '../../domain/record.ts'
import { killOf, restrictionsOn } from '../book/book.ts'
import { restrictedOrders } from './restricted-orders.ts'
import { isCovered } from '../state/trading-mode.ts'
import { exchangeNow } from '../state/clock-state.ts'
import { type Core, specOf, type ResolutionCause } from '../state/core.ts'

/** How long a cancelled order stays wanted while it waits to be placed again. */
const REPLACEMENT_TTL_MS = 60_000

/**
 * ORD8: adds to a settled order what replaces it. A `place` whose order a cancel-all took along, or whose order never
 * arrived, is still wanted as far as it is not filled, and becomes the next generation of its key. Ladders and targets
 * need no replacement: they are planned again anyway.
 */
export function withReplacement(
  core: Core,
  cause: ResolutionCause,
  settled: SettledOrder,
): SettledOrder {
  const order = core.book.orders.get(settled.clientOid)
  if (
    !order ||
    order.terms.purpose !== 'place' ||
    cause === 'command' ||
    core.run.phase === 'stopping' ||
    killOf(core.book) !== undefined ||
    isCovered(core, order.terms)
  )
    return settled
  if (settled.state !== 'absent' && settled.state !== 'done') return settled
  if (core.book.withdrawn.has(settled.clientOid)) return settled
  if (restrictedOrders(core, order.terms).has(order)) return settled
  if (settled.state === 'absent' && isSentAgain(core, order)) return { ...settled, state: 'queued' }
  const deadlineAt =
    settled.state === 'absent' ? order.terms.deadlineAt : core.now + REPLACEMENT_TTL_MS
  const wanted = settled.state === 'absent' ? core.now <= deadlineAt : canRest(order.terms)
  const lots = openLots(order) - foundLots(core, settled)
  if (!wanted || lots < specOf(core, order.terms.symbol).lotsMin) return settled
  const { clientOid: _, generation: __, ...terms } = order.terms
  const { ticks, takeProfitTicks, stopLossTicks } = terms
  return {
    ...settled,
    replacement: { ...terms, lots, ticks, takeProfitTicks, stopLossTicks, deadlineAt },
  }
}

/**
 * Whether an absent order is sent again under the same clientOid: one that cannot rest and is still wanted, as long as
 * the exchange remembers the clientOid. Should the proof of its absence be wrong, it is a duplicate and no second order.
 */
function isSentAgain(core: Core, order: Order): boolean {
  return (
    !canRest(order.terms) && isInsideWindow(order, exchangeNow(core)) && isStillWanted(core, order)
  )
}

/** How much the fills that revealed its orderId have filled: the book gives them to the order only when it is settled. */
function foundLots(core: Core, { orderId }: SettledOrder): number {
  if (orderId === undefined) return 0
  return (core.book.orphans.get(orderId) ?? []).reduce((sum, fill) => sum + fill.lots, 0)
}

/** Whether a `place` that is not at the exchange would be sent now exactly as before. */
function isStillWanted(core: Core, { terms }: Order): boolean {
  if (core.run.phase === 'stopping' || core.run.phase === 'stopped') return false
  if (core.book.withdrawn.has(terms.clientOid)) return false
  const [held] = restrictionsOn(core.book, terms.symbol, terms.strategyId)
  if (held && !(held.mode === 'reducing' && isClosing(terms.action))) return false
  return core.now <= terms.deadlineAt
}
