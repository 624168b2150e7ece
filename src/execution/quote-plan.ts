import type { OrderIntent, QuoteLevel } from '../domain/intent.ts'
import {
  isClosing,
  isTerminal,
  openLots,
  type Order,
  type OrderAction,
  tradesAs,
} from '../domain/order.ts'
import { floatOnGrid } from '../lib/grid.ts'
import type { Candidate, PlanInput } from './candidate.ts'

export interface QuotePlanInput extends PlanInput {
  readonly levels: readonly QuoteLevel[]
  /**
   * The ladder may only close. Orders may be smaller than their levels, and levels nearest to the
   * market come first.
   */
  readonly isRestricted: boolean
  /** Quote coin. */
  readonly bid: number
  readonly ask: number
}

/** Orders in neither list stay. */
export interface QuotePlan {
  readonly missing: readonly Candidate[]
  readonly extra: readonly Order[]
}

/**
 * An order fulfils one level of its side, price and size, however much was filled. In a restricted
 * ladder smaller orders may fulfil a level; its rest is missing only while something is left to
 * close, so that a reduced level stays.
 */
export function planQuote(input: QuotePlanInput): QuotePlan {
  const standing = Map.groupBy(
    input.orders.filter((order) => !isTerminal(order)),
    ({ terms }) => terms.ticks ?? 0,
  )
  const closable = closableLots(input)
  const missing: Candidate[] = []
  const add = (level: QuoteLevel): void => {
    const intent = toOrderIntent(input, level, closable, input.ordinal + missing.length)
    missing.push(input.isRestricted ? { intent, isCut: true } : { intent })
  }
  for (const level of input.isRestricted ? nearestFirst(input) : input.levels) {
    const orders = takeFor(level, standing.get(level.ticks), input.isRestricted)
    if (orders.length === 0) add(level)
    for (const order of orders) {
      if (order.state === 'queued')
        missing.push({ intent: sendAgain(input, order), again: order.terms.clientOid })
    }
    const lots = level.lots - lotsOf(orders)
    if (orders.length > 0 && lots > 0 && closableBy(level.side, closable) > 0)
      add({ ...level, lots })
  }
  return { missing, extra: [...standing.values()].flat() }
}

/** The order of the level's size, or in a restricted ladder the largest that fit. */
function takeFor(
  { side, lots }: QuoteLevel,
  orders: Order[] | undefined,
  isRestricted: boolean,
): readonly Order[] {
  if (orders === undefined) return []
  if (!isRestricted) {
    const place = orders.findIndex(
      ({ terms }) => terms.lots === lots && tradesAs(terms.action) === side,
    )
    return place < 0 ? [] : orders.splice(place, 1)
  }
  const taken: Order[] = []
  for (const order of orders.toSorted((left, right) => right.terms.lots - left.terms.lots)) {
    if (tradesAs(order.terms.action) !== side || lotsOf(taken) + order.terms.lots > lots) continue
    orders.splice(orders.indexOf(order), 1)
    taken.push(order)
  }
  return taken
}

function lotsOf(orders: readonly Order[]): number {
  return orders.reduce((sum, { terms }) => sum + terms.lots, 0)
}

/**
 * A post-only level that would cross the spread comes last: the exchange would refuse it, and it
 * would leave the others nothing to close.
 */
function nearestFirst({
  levels,
  instrument: { tick },
  bid,
  ask,
}: QuotePlanInput): readonly QuoteLevel[] {
  const meets = ({ side, ticks }: QuoteLevel): boolean =>
    side === 'buy' ? floatOnGrid(tick, ticks) >= ask : floatOnGrid(tick, ticks) <= bid
  return levels.toSorted(
    (left, right) => Number(meets(left)) - Number(meets(right)) || byNearness(left, right),
  )
}

function byNearness(left: QuoteLevel, right: QuoteLevel): number {
  if (left.side !== right.side) return left.side === 'buy' ? -1 : 1
  return left.side === 'buy' ? right.ticks - left.ticks : left.ticks - right.ticks
}

interface ClosableLots {
  longLots: number
  shortLots: number
}

/** Less what the ladder's orders close. For a net position each sell closes a long. */
function closableLots({ orders, holding, positionMode }: QuotePlanInput): ClosableLots {
  const closable = { ...holding }
  for (const order of orders) {
    const { action } = order.terms
    if (positionMode === 'hedge_mode' && !isClosing(action)) continue
    if (tradesAs(action) === 'sell') closable.longLots -= openLots(order)
    else closable.shortLots -= openLots(order)
  }
  return closable
}

function closableBy(side: QuoteLevel['side'], { longLots, shortLots }: ClosableLots): number {
  return side === 'buy' ? shortLots : longLots
}

function toOrderIntent(
  input: QuotePlanInput,
  level: QuoteLevel,
  closable: ClosableLots,
  ordinal: number,
): OrderIntent {
  return {
    strategyId: input.strategyId,
    symbol: input.instrument.symbol,
    purpose: 'quote',
    key: `quote:${input.instrument.symbol}:${ordinal}`,
    action: actionOf(input, level, closable),
    lots: level.lots,
    ticks: level.ticks,
    force: 'post_only',
    takeProfitTicks: undefined,
    stopLossTicks: undefined,
    deadlineAt: input.deadlineAt,
    ...(level.tag !== undefined && { tag: level.tag }),
  }
}

/**
 * One-way ladders are never reduce-only, because the exchange would cancel older reduce-only
 * orders. In hedge mode a level closes the opposite leg if that is large enough, else opens its
 * own; restricted, it closes what there is.
 */
function actionOf(
  { positionMode, isRestricted }: QuotePlanInput,
  { side, lots }: QuoteLevel,
  closable: ClosableLots,
): OrderAction {
  if (positionMode === 'one_way_mode') return side === 'buy' ? 'openLong' : 'openShort'
  const enough = isRestricted ? 1 : lots
  if (side === 'buy') {
    if (closable.shortLots < enough) return 'openLong'
    closable.shortLots -= lots
    return 'closeShort'
  }
  if (closable.longLots < enough) return 'openShort'
  closable.longLots -= lots
  return 'closeLong'
}

function sendAgain({ deadlineAt }: QuotePlanInput, { terms }: Order): OrderIntent {
  const { strategyId, symbol, purpose, key, action, lots, ticks, force } = terms
  const { takeProfitTicks, stopLossTicks } = terms
  const order = { strategyId, symbol, purpose, key, action, lots, ticks, force }
  return { ...order, takeProfitTicks, stopLossTicks, deadlineAt }
}
