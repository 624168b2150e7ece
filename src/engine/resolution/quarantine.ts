import { type SettledOrder } from '../../domain/record.ts'
import { isHalted, isHaltedItself } from '../book/book.ts'
import { announce, type Core, record } from '../state/core.ts'
import { hasOrder } from '../state/instrument-state.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'

/**
 * An order whose evidence contradicts itself is in quarantine: it counts as open, its instrument is halted,
 * the others go on. An operator who has looked releases the instrument; a resolution then proves that nothing rests,
 * the order ends with the fills that fit it, and what is too much is nobody's.
 */
export function haltOnContradiction(core: Core, symbol: string, orders: readonly SettledOrder[]): void {
  for (const { clientOid, state, reason } of orders) {
    if (state === 'quarantined')
      halt(core, symbol, 'contradiction', `order ${clientOid} is in quarantine, ${reason}: ${RELEASE_HINT}`)
  }
}

/** Whether an instrument that has orders in quarantine was released. */
export function hasReleasedQuarantine(core: Core, symbol: string): boolean {
  return hasOrder(core, symbol, 'quarantined') && !isHalted(core.book, symbol)
}

/** A crash may come between the quarantine and its halt, or within a release: then somebody looks once more. */
export function haltQuarantined(core: Core): void {
  for (const symbol of core.instruments.keys()) {
    if (hasOrder(core, symbol, 'quarantined') && !isHaltedItself(core.book, symbol)) {
      halt(core, symbol, 'contradiction', `an order is in quarantine since before the start: ${RELEASE_HINT}`)
    }
  }
}

/** After a release: fills that no order could own are nobody's. */
export function disownLeftOrphans(core: Core, symbol: string): void {
  const orderIds = [...core.book.orphans]
    .filter(([, [first]]) => first?.symbol === symbol)
    .map(([orderId]) => orderId)
  if (orderIds.length === 0) return
  record(core, { kind: 'foreign', at: core.now, symbol, orderIds }, true)
  announce(core, 'warn', 'fill.unowned', { symbol, orderIds })
}
