import { isInsideWindow } from '../../execution/resend-window.ts'
import { isClosing } from '../../domain/order-action.ts'
import { canRest, openLots, type Order } from '../../domain/order.ts'
import { type SettledOrder } from '../../domain/record.ts'
import { killOf, restrictionsOn } from '../book/book.ts'
import { isFlattening } from '../state/trading-mode.ts'
import { exchangeNow } from '../state/clock-state.ts'
import { type Core, specOf, type ResolutionCause } from '../state/core.ts'

/** How long a cancelled order stays wanted while it waits to be placed again. */
const REPLACEMENT_TTL_MS = 60_000

/**
 * ORD8: an order that was cancelled for another's sake, or never arrived and is still wanted, is placed
 * again as the next generation of its key. Ladders and targets stand by themselves; what a strategy placed
 * by name has to be brought back, as far as it is not filled.
 */
export function withReplacement(core: Core, cause: ResolutionCause, settled: SettledOrder): SettledOrder {
  const order = core.book.orders.get(settled.clientOid)
  if (
    !order ||
    order.terms.purpose !== 'place' ||
    cause === 'command' ||
    core.run.phase === 'stopping' ||
    killOf(core.book) !== undefined ||
    isFlattening(core, order.terms.symbol, order.terms.strategyId)
  )
    return settled
  if (settled.state !== 'absent' && settled.state !== 'done') return settled
  if (core.book.withdrawn.has(settled.clientOid)) return settled
  if (settled.state === 'absent' && isSentAgain(core, order)) return { ...settled, state: 'queued' }
  const deadlineAt = settled.state === 'absent' ? order.terms.deadlineAt : core.now + REPLACEMENT_TTL_MS
  const wanted = settled.state === 'absent' ? core.now <= deadlineAt : canRest(order.terms)
  const lots = openLots(order) - foundLots(core, settled)
  if (!wanted || lots < specOf(core, order.terms.symbol).lotsMin) return settled
  const { clientOid: _, generation: __, ...terms } = order.terms
  const { ticks, takeProfitTicks, stopLossTicks } = terms
  return { ...settled, replacement: { ...terms, lots, ticks, takeProfitTicks, stopLossTicks, deadlineAt } }
}

/**
 * What cannot rest, is proved absent and still wanted leaves again under its own name while the exchange
 * remembers it: should the proof be wrong, it is a duplicate and no second order.
 */
function isSentAgain(core: Core, order: Order): boolean {
  return !canRest(order.terms) && isInsideWindow(order, exchangeNow(core)) && isStillWanted(core, order)
}

/** What the fills that revealed its orderId have filled of it: they are bound only when this is settled. */
function foundLots(core: Core, { orderId }: SettledOrder): number {
  if (orderId === undefined) return 0
  return (core.book.orphans.get(orderId) ?? []).reduce((sum, fill) => sum + fill.lots, 0)
}

/** Whether an order by name that is not at the exchange would be sent today exactly as it was. */
function isStillWanted(core: Core, { terms }: Order): boolean {
  if (core.run.phase === 'stopping' || core.run.phase === 'stopped') return false
  if (core.book.withdrawn.has(terms.clientOid)) return false
  const [held] = restrictionsOn(core.book, terms.symbol, terms.strategyId)
  if (held && !(held.mode === 'reducing' && isClosing(terms.action))) return false
  return core.now <= terms.deadlineAt
}
