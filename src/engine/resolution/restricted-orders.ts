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

type StrategyInstrument = Pick<OrderTerms, 'strategyId' | 'symbol'>

const NONE: ReadonlySet<Order> = new Set()

export type FoundFills = ReadonlyMap<ClientOid, readonly Fill[]>

const NOTHING_FOUND: FoundFills = new Map()

/**
 * A recorded restriction takes away open orders (RSK2) that may add risk, and wait or rest. If
 * several together exceed what is held, the first stay. What cannot be taken away counts first.
 * Volatile restrictions take nothing.
 * @param found counts as recorded
 */
export function restrictedOrders(
  core: Core,
  { strategyId, symbol }: StrategyInstrument,
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

/** Nothing of it is left once what was found is recorded. */
function isEnding(order: Order, found: FoundFills): boolean {
  const fills = found.get(order.terms.clientOid)
  if (fills === undefined) return false
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
  return !canRest(order.terms) || lots >= openLots(order)
}

/** Its rest may add risk, so it is not placed again. */
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

export function mayBeRestricted({ book }: Core): boolean {
  return book.restrictions.size > 0 || book.exitStates.size > 0 || book.leavings.size > 0
}

/** A recorded restriction, or a pause of entries, lets the strategy only close. */
export function isRestricted(core: Core, { strategyId, symbol }: StrategyInstrument): boolean {
  if (entryPauseOn(core, strategyId, symbol) !== undefined) return true
  return restrictionsOn(core.book, symbol, strategyId).some(
    (one) => !isToLeave(core, strategyId, one),
  )
}

/** `onFailure: leave`: the orders stay open. */
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

/** It can be dropped or cancelled: any other ends by itself. */
export function canEnd({ state, terms }: Order): boolean {
  return state === 'queued' || (state === 'live' && canRest(terms))
}

function restingFirst(left: Order, right: Order): number {
  return Number(left.state === 'queued') - Number(right.state === 'queued')
}
