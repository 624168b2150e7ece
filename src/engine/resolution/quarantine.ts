import type { SettledOrder } from '../../domain/record.ts'
import { isHalted, isHaltedItself } from '../book/book.ts'
import { announce, type Core, record } from '../state/core.ts'
import { hasOrder } from '../state/instrument-state.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'

/**
 * An order about which the fills contradict each other is in quarantine: it counts as open, and its instrument is halted
 * while the others go on. When an operator has looked and released the instrument, a resolution proves that nothing
 * rests. Then the order ends with the fills that fit it, and fills beyond those belong to no strategy.
 */
export function haltOnContradiction(
  core: Core,
  symbol: string,
  orders: readonly SettledOrder[],
): void {
  for (const { clientOid, state, reason } of orders) {
    if (state === 'quarantined')
      halt(
        core,
        symbol,
        'contradiction',
        `order ${clientOid} is in quarantine, ${reason}: ${RELEASE_HINT}`,
      )
  }
}

/** Whether an instrument that has orders in quarantine was released. */
export function hasReleasedQuarantine(core: Core, symbol: string): boolean {
  return hasOrder(core, symbol, 'quarantined') && !isHalted(core.book, symbol)
}

/** Halts instruments with an order in quarantine: a crash may have come before their halt, or during a release. */
export function haltQuarantined(core: Core): void {
  for (const symbol of core.instruments.keys()) {
    if (hasOrder(core, symbol, 'quarantined') && !isHaltedItself(core.book, symbol)) {
      halt(
        core,
        symbol,
        'contradiction',
        `an order is in quarantine since before the start: ${RELEASE_HINT}`,
      )
    }
  }
}

/** After a release: fills that could belong to no order of ours are booked as foreign. */
export function disownLeftOrphans(core: Core, symbol: string): void {
  const orderIds = [...core.book.orphans]
    .filter(([, [first]]) => first?.symbol === symbol)
    .map(([orderId]) => orderId)
  if (orderIds.length === 0) return
  record(core, { kind: 'foreign', at: core.now, symbol, orderIds }, true)
  announce(core, 'warn', 'fill.unowned', { symbol, orderIds })
}
