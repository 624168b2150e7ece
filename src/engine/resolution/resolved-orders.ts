import { isInsideWindow } from '../../execution/order-machine.ts'
import { intentOf } from '../../execution/order-plans.ts'
import { canRest, openLots, type Order, type OrderTerms } from '../../domain/order.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import type { SettledOrder } from '../../domain/record.ts'
import { isHaltedItself, killOf, pairKey, restrictionsOn } from '../book/book.ts'
import {
  type FoundFills,
  halt,
  isCovered,
  isFlattening,
  isHeldFromReturn,
  isRestricted,
  isTrading,
  RELEASE_HINT,
  restrictedOrders,
} from '../state/trading-mode.ts'
import { exchangeNow } from '../state/market-state.ts'
import {
  announce,
  type Core,
  type InstrumentState,
  record,
  type ResolutionCause,
  specOf,
} from '../state/core.ts'
import { hasOrder, isStarting, noteDisplaced } from '../state/instrument-state.ts'
import { denialsOn } from '../state/denials.ts'
import { ordersOf } from '../state/totals.ts'

/**
 * Decides what becomes of orders once a resolution has proved what happened. docs/mechanisms.md
 * lists the state that each evidence leads to (Resolution).
 *
 * A ladder or a target is planned anew. A `place` that could rest gets a replacement for what was
 * not filled, the next generation of its key; one that cannot rest is sent again if it is absent. A
 * kill, a stop, a flatten, a withdrawal or a restriction ends the wish, so nothing replaces it.
 * Each `quote` and `place` that was taken along is displaced (ORD8):
 *
 *     displaced ──it rests again, was filled, or is not wanted any more──► over
 *         └──for longer than `displacedWithinMs`──► logged, once ──the same──► over
 */

const REPLACEMENT_TTL_MS = 60_000

/** ORD8: a `place` is replaced as far as it was not filled. */
export function withReplacement(
  core: Core,
  cause: ResolutionCause,
  settled: SettledOrder,
  found: FoundFills,
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
  if (restrictedOrders(core, order.terms, found).has(order)) return settled
  if (settled.state === 'absent' && isSentAgain(core, order)) return { ...settled, state: 'queued' }
  const deadlineAt =
    settled.state === 'absent' ? order.terms.deadlineAt : core.now + REPLACEMENT_TTL_MS
  const wanted = settled.state === 'absent' ? core.now <= deadlineAt : canRest(order.terms)
  const lots = openLots(order) - foundLots(found, settled)
  if (!wanted || lots < specOf(core, order.terms.symbol).lotsMin) return settled
  return { ...settled, replacement: { ...intentOf(order.terms), lots, deadlineAt } }
}

/**
 * An order that cannot rest is sent again under its clientOid while the exchange remembers it:
 * should the proof of absence be wrong, that is a duplicate and no second order.
 */
function isSentAgain(core: Core, order: Order): boolean {
  return (
    !canRest(order.terms) && isInsideWindow(order, exchangeNow(core)) && isStillWanted(core, order)
  )
}

/** The book gives an order the fills that revealed its orderId only when it is settled. */
export function foundFills(core: Core, orders: readonly SettledOrder[]): FoundFills {
  const ended = orders.filter(({ state }) => state !== 'quarantined')
  return new Map(
    ended.map(({ clientOid, orderId }) => [
      clientOid,
      (orderId === undefined ? undefined : core.book.orphans.get(orderId)) ?? [],
    ]),
  )
}

function foundLots(found: FoundFills, { clientOid }: SettledOrder): number {
  return (found.get(clientOid) ?? []).reduce((sum, fill) => sum + fill.lots, 0)
}

function isStillWanted(core: Core, { terms }: Order): boolean {
  if (core.run.phase === 'stopping' || core.run.phase === 'stopped') return false
  if (core.book.withdrawn.has(terms.clientOid)) return false
  const [held] = restrictionsOn(core.book, terms.symbol, terms.strategyId)
  if (held && !(held.mode === 'reducing' && isClosing(terms.action))) return false
  return core.now <= terms.deadlineAt
}

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

/**
 * A crash may have come before the halt of a quarantined order's instrument, or during a release.
 */
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

export function disownLeftOrphans(core: Core, symbol: string): void {
  const orderIds = [...core.book.orphans]
    .filter(([, [first]]) => first?.symbol === symbol)
    .map(([orderId]) => orderId)
  if (orderIds.length === 0) return
  record(core, { kind: 'foreign', at: core.now, symbol, orderIds }, true)
  announce(core, 'warn', 'fill.unowned', { symbol, orderIds })
}

/**
 * ORD8: orders that are still wanted must rest again soon.
 * @param cancelledAt Unix ms, our clock, of the answer to the cancel-all
 */
export function expectDisplaced(
  instrument: InstrumentState,
  ended: readonly OrderTerms[],
  cancelledAt: number,
): void {
  const known = new Set(instrument.displaced.map(({ terms }) => nameOf(terms)))
  const added = ended.filter(
    (terms) =>
      (terms.purpose === 'quote' || terms.purpose === 'place') && !known.has(nameOf(terms)),
  )
  const displaced = added.map((terms) => ({ terms, since: cancelledAt, isLateLogged: false }))
  noteDisplaced(instrument, [...instrument.displaced, ...displaced])
}

/** The name stays the same when an order is placed again. */
function nameOf({ strategyId, purpose, key, action, ticks, lots }: OrderTerms): string {
  return purpose === 'place'
    ? `${strategyId}|${key}`
    : [strategyId, tradesAs(action), ticks, lots].join('|')
}

/** The wait of an order ends when it rests again or is not wanted any more. */
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
    denials: denialsOn(core, instrument.symbol).map(
      ({ strategyId, code }) => `${strategyId} ${code}`,
    ),
  })
}

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
  // Orders of a restricted ladder may be smaller than their levels.
  const mayBeCut = isRestricted(core, terms)
  const isWanted = levels.some(
    ({ ticks, lots, ...level }) =>
      level.side === side &&
      ticks === terms.ticks &&
      (mayBeCut ? lots >= terms.lots : lots === terms.lots),
  )
  return isWanted && !isRungPlaced(core, terms, mayBeCut)
}

/** An order that is on its way counts as placed. */
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
