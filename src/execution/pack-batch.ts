import type { ClientOid } from '../domain/ids.ts'
import type { PositionMode } from '../domain/instrument.ts'
import type { OrderIntent } from '../domain/intent.ts'
import { canRest, openLots, type Order, type OrderTerms } from '../domain/order.ts'
import type { Approved } from '../domain/proofs.ts'
import type { Fill } from '../domain/fill.ts'
import { WIRE_DIRECTIONS } from '../domain/order-action.ts'

export interface ApprovedItem {
  readonly intent: Approved<OrderIntent>
  readonly again?: ClientOid
}

export interface PackingRules {
  readonly max: number
  readonly mode: PositionMode
  /** Orders that may be at the exchange and have no orderId. */
  readonly nameless: readonly Order[]
}

/**
 * In the given order, at most `max`. No two items, nor an item and a nameless order, may have fills
 * that look alike: if the answer is lost, fills then identify each order. Other items wait.
 */
export function packBatch(
  items: readonly ApprovedItem[],
  { max, mode, nameless }: PackingRules,
): readonly ApprovedItem[] {
  const owners = new Map<string, ClientOid | undefined>()
  for (const { terms } of nameless) {
    for (const key of attributionKeys(mode, terms)) owners.set(key, terms.clientOid)
  }
  const packed: ApprovedItem[] = []
  const taken = new Set<string>()
  for (const item of items) {
    const keys = attributionKeys(mode, item.intent)
    const isFree = (key: string): boolean =>
      !taken.has(key) &&
      (!owners.has(key) || (item.again !== undefined && owners.get(key) === item.again))
    if (packed.length >= max || !keys.every(isFree)) continue
    for (const key of keys) taken.add(key)
    packed.push(item)
  }
  return packed
}

/** Clocks differ, so a fill may seem this much older than its order. */
const CLOCK_ERROR_MS = 2000

export type AttributedTerms = Pick<OrderTerms, 'symbol' | 'action' | 'force'> & {
  readonly ticks?: number | undefined
}

/**
 * A fill shows these of its order: symbol, side, trade side, and a maker's limit. Keys identify an
 * order whose answer was lost, so no two orders of a batch share one. A post-only order has the
 * maker's key, one that cannot rest the taker's, any other both.
 */
function attributionKeys(mode: PositionMode, terms: AttributedTerms): readonly string[] {
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  const taker = `${terms.symbol}:${side}:${tradeSide ?? ''}`
  const maker = `${taker}@${terms.ticks}`
  if (terms.force === 'post_only') return [maker]
  return terms.ticks !== undefined && terms.force === 'gtc' ? [taker, maker] : [taker]
}

/** For a fill with an unknown orderId. */
export function couldBe(mode: PositionMode, order: Order, fill: Fill): boolean {
  return fill.lots <= openLots(order) && fitsClass(mode, order, fill)
}

export function fitsClass(mode: PositionMode, order: Order, fill: Fill): boolean {
  return fill.filledAt >= order.firstSentAt - CLOCK_ERROR_MS && fitsAtAnyTime(mode, order, fill)
}

/** For when dates cannot be compared, after a clock was set. */
export function fitsAtAnyTime(mode: PositionMode, order: Order, fill: Fill): boolean {
  const { terms } = order
  const { side, tradeSide } = WIRE_DIRECTIONS[mode][terms.action]
  if (terms.symbol !== fill.symbol || side !== fill.side) return false
  if (tradeSide !== undefined && tradeSide !== fill.tradeSide) return false
  if (order.orderId !== undefined || order.attempts === 0) return false
  if (fill.scope === 'maker') return canRest(terms) && fill.ticks === terms.ticks
  return terms.force !== 'post_only' && isWithinLimit(terms, fill)
}

/** A limit order is never filled at a worse price. */
function isWithinLimit(terms: OrderTerms, fill: Fill): boolean {
  if (terms.ticks === undefined) return true
  const buys = terms.action === 'openLong' || terms.action === 'closeShort'
  return buys ? fill.ticks <= terms.ticks : fill.ticks >= terms.ticks
}
