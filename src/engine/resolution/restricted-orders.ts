import type { Fill } from '../../domain/fill.ts'
import type { ClientOid } from '../../domain/ids.ts'
import { canRest, openLots, type Order, type OrderTerms } from '../../domain/order.ts'
import { isClosing } from '../../domain/order-action.ts'
import { applyToHolding } from '../../domain/position.ts'
import type { Restriction } from '../../domain/trading-mode.ts'
import { reducesRisk } from '../../risk/checks.ts'
import { addToExposure, buildExposure } from '../../risk/exposure.ts'
import { backedHolding } from '../book/allocation.ts'
import { restrictionsOn } from '../book/book.ts'
import type { Core } from '../state/core.ts'
import { entryPauseOn } from '../state/exits.ts'
import { ordersOf } from '../state/changes.ts'

type Whose = Pick<OrderTerms, 'strategyId' | 'symbol'>

const NONE: ReadonlySet<Order> = new Set()

/** The orders that a resolution ends, with the fills that it has found for each. */
export type FoundFills = ReadonlyMap<ClientOid, readonly Fill[]>

const NOTHING_FOUND: FoundFills = new Map()

/**
 * The open orders of a strategy on an instrument that a recorded restriction takes away (RSK2): those that may add risk
 * and that wait or rest. Of several orders that together exceed what is held, the first ones stay. What is on its way,
 * unknown or in quarantine cannot be taken away, so it is counted first. Volatile restrictions take nothing away.
 * @param found counts as recorded
 */
export function restrictedOrders(
  core: Core,
  { strategyId, symbol }: Whose,
  found: FoundFills = NOTHING_FOUND,
): ReadonlySet<Order> {
  if (!isRestricted(core, { strategyId, symbol })) return NONE
  const { positionMode } = core.book
  const all = ordersOf(core, strategyId, symbol)
  const orders = all.filter((order) => found.size === 0 || !isEnding(order, found))
  const holding = all
    .flatMap(({ terms }) => found.get(terms.clientOid) ?? [])
    .reduce(
      (held, fill) => applyToHolding(positionMode, held, fill),
      backedHolding(core.book, strategyId, symbol),
    )
  const staying = orders.filter((order) => !canBeTaken(order))
  const ownExposure = buildExposure(positionMode, holding, staying)
  const restricted = new Set<Order>()
  for (const order of orders.filter(canBeTaken).sort(restingFirst)) {
    const { action } = order.terms
    const lots = openLots(order)
    if (reducesRisk({ action, lots }, { holding, ownExposure }))
      addToExposure(ownExposure, action, lots)
    else restricted.add(order)
  }
  return restricted
}

/** Whether nothing of an order is left once a resolution has recorded what it has found. */
function isEnding(order: Order, found: FoundFills): boolean {
  const fills = found.get(order.terms.clientOid)
  if (fills === undefined) return false
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
  return !canRest(order.terms) || lots >= openLots(order)
}

/**
 * Whether a recorded restriction keeps what was left of an order that has ended from being placed again, since it may
 * add risk.
 */
export function isHeldFromReturn(core: Core, terms: OrderTerms): boolean {
  if (!isRestricted(core, terms)) return false
  const { strategyId, symbol, action } = terms
  const lots = terms.lots - (core.book.orders.get(terms.clientOid)?.filledLots ?? 0)
  const holding = backedHolding(core.book, strategyId, symbol)
  const ownExposure = buildExposure(
    core.book.positionMode,
    holding,
    ordersOf(core, strategyId, symbol),
  )
  return !reducesRisk({ action, lots }, { holding, ownExposure })
}

/** Whether anything can be restricted at all. */
export function mayBeRestricted({ book }: Core): boolean {
  return book.restrictions.size > 0 || book.exitStates.size > 0 || book.leavings.size > 0
}

/**
 * Whether a recorded restriction, or a pause of entries, lets a strategy only close what it holds of an instrument, if
 * anything.
 */
export function isRestricted(core: Core, { strategyId, symbol }: Whose): boolean {
  if (entryPauseOn(core, strategyId, symbol) !== undefined) return true
  return restrictionsOn(core.book, symbol, strategyId).some(
    (one) => !isToLeave(core, strategyId, one),
  )
}

/** `onFailure: leave` says of a strategy that failed that its orders stay open. */
function isToLeave(
  { settings }: Core,
  strategyId: OrderTerms['strategyId'],
  { code }: Restriction,
): boolean {
  return code === 'strategyFailed' && settings.strategies.get(strategyId)?.onFailure === 'leave'
}

/** In hedge mode an order that closes adds no risk. */
function canBeTaken(order: Order): boolean {
  return canEnd(order) && !isClosing(order.terms.action)
}

/** Whether the order can be dropped or cancelled: any other ends by itself. */
export function canEnd({ state, terms }: Order): boolean {
  return state === 'queued' || (state === 'live' && canRest(terms))
}

function restingFirst(left: Order, right: Order): number {
  return Number(left.state === 'queued') - Number(right.state === 'queued')
}
