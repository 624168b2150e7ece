import { type Fill } from '../domain/fill.ts'
import { type PositionMode } from '../domain/instrument.ts'
import { canRest, type Order, openLots, type OrderTerms } from '../domain/order.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'

/**
 * What a fill shows of the order it belongs to: symbol, side, trade side, and for an order that can only be
 * a maker its price too, because a maker's fill happens at its own limit. It is what lets an order of a lost
 * answer be found again, so within one batch no two orders may share it.
 */
export function attributionKey(mode: PositionMode, terms: OrderTerms): string {
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  const maker = terms.force === 'post_only' ? `@${terms.ticks}` : ''
  return `${terms.symbol}:${side}:${tradeSide ?? ''}${maker}`
}

/** Whether a fill of an unknown orderId may belong to this order. */
export function couldBe(mode: PositionMode, order: Order, fill: Fill): boolean {
  const { terms } = order
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  if (terms.symbol !== fill.symbol || side !== fill.side) return false
  if (tradeSide !== undefined && tradeSide !== fill.tradeSide) return false
  if (order.orderId !== undefined || fill.lots > openLots(order)) return false
  if (terms.force === 'post_only') return fill.scope === 'maker' && fill.ticks === terms.ticks
  if (fill.scope === 'maker' && !canRest(terms)) return false
  return isWithinLimit(terms, fill)
}

/** A limit order is never filled at a worse price than its limit. */
function isWithinLimit(terms: OrderTerms, fill: Fill): boolean {
  if (terms.ticks === undefined) return true
  const buys = terms.action === 'openLong' || terms.action === 'closeShort'
  return buys ? fill.ticks <= terms.ticks : fill.ticks >= terms.ticks
}
