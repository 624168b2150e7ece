import { type Fill } from '../domain/fill.ts'
import { type PositionMode } from '../domain/instrument.ts'
import { canRest, type Order, openLots, type OrderTerms } from '../domain/order.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'

/** A fill may seem to have happened this long before its order was sent: by as much the clocks may differ. */
const CLOCK_ERROR_MS = 2000

/** What attribution looks at of an order, before it has a name or after. */
export type AttributedTerms = Pick<OrderTerms, 'symbol' | 'action' | 'force'> & {
  readonly ticks?: number | undefined
}

/**
 * What a fill shows of the order it belongs to: symbol, side, trade side, and where it was a maker the price
 * too, because a maker's fill happens at its own limit. It is what lets an order of a lost answer be found
 * again, so within one batch no two orders may share one. A post-only order has the key of its price alone,
 * one that cannot rest the taker's alone, and one that may do either has both.
 */
export function attributionKeys(mode: PositionMode, terms: AttributedTerms): readonly string[] {
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  const taker = `${terms.symbol}:${side}:${tradeSide ?? ''}`
  const maker = `${taker}@${terms.ticks}`
  if (terms.force === 'post_only') return [maker]
  return terms.ticks !== undefined && terms.force === 'gtc' ? [taker, maker] : [taker]
}

/** Whether a fill of an unknown orderId may belong to this order. */
export function couldBe(mode: PositionMode, order: Order, fill: Fill): boolean {
  return fill.lots <= openLots(order) && fitsClass(mode, order, fill)
}

/** The same whatever its size: a fill that shows what this order would show. */
export function fitsClass(mode: PositionMode, order: Order, fill: Fill): boolean {
  const { terms } = order
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  if (terms.symbol !== fill.symbol || side !== fill.side) return false
  if (tradeSide !== undefined && tradeSide !== fill.tradeSide) return false
  if (order.orderId !== undefined || order.attempts === 0) return false
  if (fill.filledAt < order.firstSentAt - CLOCK_ERROR_MS) return false
  if (fill.scope === 'maker') return canRest(terms) && fill.ticks === terms.ticks
  return terms.force !== 'post_only' && isWithinLimit(terms, fill)
}

/** A limit order is never filled at a worse price than its limit. */
function isWithinLimit(terms: OrderTerms, fill: Fill): boolean {
  if (terms.ticks === undefined) return true
  const buys = terms.action === 'openLong' || terms.action === 'closeShort'
  return buys ? fill.ticks <= terms.ticks : fill.ticks >= terms.ticks
}
