import { isWorthACopy } from '../../execution/resend-window.ts'
import { type Order } from '../../domain/order.ts'
import { openOrdersOf } from '../book/book.ts'
import { announce, type Core, exchangeNow, record } from '../state/core.ts'
import { type InstrumentState } from '../state/instrument-state.ts'
import { isStillWanted } from './still-wanted.ts'

/**
 * `retryMode: window`: an order of unknown fate is sent again at once under its clientOid, trusting that the
 * exchange keeps the two apart from one for twenty minutes. Where it remembers only pending orders, one that
 * was filled meanwhile is doubled: never switch it on before the account's exchange has been asked.
 */
export function copyUnknown(core: Core, instrument: InstrumentState): void {
  // What an earlier life has sent, somebody may have cancelled since: a copy would be told that it was accepted.
  if (core.settings.execution.retryMode !== 'window' || core.mode !== 'running') return
  const copied = [...openOrdersOf(core.book, instrument.symbol)].filter((order) =>
    mayBeCopied(core, instrument, order),
  )
  if (copied.length === 0) return
  for (const clientOid of instrument.copies.keys()) {
    if (!core.book.open.get(instrument.symbol)?.has(clientOid)) instrument.copies.delete(clientOid)
  }
  for (const { terms, attempts } of copied) instrument.copies.set(terms.clientOid, attempts)
  const reason = 'sent again, trusting the idempotency window'
  const orders = copied.map(({ terms }) => ({ clientOid: terms.clientOid, state: 'queued', reason }) as const)
  record(core, { kind: 'settle', at: core.now, symbol: instrument.symbol, isResolved: false, orders })
  for (const { clientOid } of orders) {
    announce(core, 'warn', 'order.copied', { clientOid, symbol: instrument.symbol })
  }
}

/**
 * A copy that waits is doubted again when a cancel-all may take the order, or may have taken it: the exchange
 * would answer the copy with the order's acceptance, and nothing would rest.
 */
export function doubtCopies(core: Core, symbol: string): void {
  if (core.settings.execution.retryMode !== 'window') return
  const waiting = [...openOrdersOf(core.book, symbol)].filter(
    ({ state, attempts }) => state === 'queued' && attempts > 0,
  )
  if (waiting.length === 0) return
  const orders = waiting.map(({ terms }) => ({ clientOid: terms.clientOid, state: 'unknown' }) as const)
  record(core, { kind: 'expire', at: core.now, orders, places: [], reason: 'a cancel-all may take it' })
}

/** Once an attempt: what the plan then drops all the same is left to evidence. */
function mayBeCopied(core: Core, instrument: InstrumentState, order: Order): boolean {
  const isUnknown = order.state === 'unknown' && order.filledLots === 0
  if (!isUnknown || instrument.copies.get(order.terms.clientOid) === order.attempts) return false
  return isWorthACopy(order, exchangeNow(core)) && isStillWanted(core, order)
}
