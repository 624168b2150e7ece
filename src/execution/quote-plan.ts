import type { PositionMode } from '../domain/instrument.ts'
import type { OrderIntent, QuoteLevel } from '../domain/intent.ts'
import { isTerminal, openLots, type Order } from '../domain/order.ts'
import { type OrderAction, tradesAs } from '../domain/order-action.ts'
import type { Candidate, PlanInput } from './candidate.ts'

export interface QuotePlanInput extends PlanInput {
  readonly levels: readonly QuoteLevel[]
}

/** The difference between a ladder and its orders. What is in neither list stays. */
export interface QuotePlan {
  readonly missing: readonly Candidate[]
  readonly extra: readonly Order[]
}

/**
 * Compares a ladder with the orders that stand for it. An order stands for a level of the same side, price
 * and size, whatever has been filled of it; each order stands for one level only.
 */
export function planQuote(input: QuotePlanInput): QuotePlan {
  const standing = Map.groupBy(
    input.orders.filter((order) => !isTerminal(order)),
    ({ terms }) => terms.ticks ?? 0,
  )
  const closable = closableLots(input)
  const missing: Candidate[] = []
  for (const level of input.levels) {
    const order = takeFor(level, standing.get(level.ticks))
    if (order === undefined) {
      missing.push({ intent: toOrderIntent(input, level, closable, input.ordinal + missing.length) })
    } else if (order.state === 'queued')
      missing.push({ intent: sendAgain(input, order), again: order.terms.clientOid })
  }
  return { missing, extra: [...standing.values()].flat() }
}

/** Takes out the first of the orders at a price that stands for the level. */
function takeFor({ side, lots }: QuoteLevel, orders: Order[] | undefined): Order | undefined {
  if (orders === undefined) return undefined
  const place = orders.findIndex(({ terms }) => terms.lots === lots && tradesAs(terms.action) === side)
  return place < 0 ? undefined : orders.splice(place, 1)[0]
}

interface ClosableLots {
  longLots: number
  shortLots: number
}

/** What the strategy holds and no order of its ladder closes yet. */
function closableLots({ orders, holding }: QuotePlanInput): ClosableLots {
  const closable = { ...holding }
  for (const order of orders) {
    if (order.terms.action === 'closeLong') closable.longLots -= openLots(order)
    if (order.terms.action === 'closeShort') closable.shortLots -= openLots(order)
  }
  return closable
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
    action: actionOf(input.positionMode, level, closable),
    lots: level.lots,
    ticks: level.ticks,
    force: 'post_only',
    takeProfitTicks: undefined,
    stopLossTicks: undefined,
    deadlineAt: input.deadlineAt,
  }
}

/**
 * In one-way mode ladders never use reduce-only, because the exchange would cancel older reduce-only orders. In hedge mode
 * a level closes the opposite leg as long as there is enough of it, and otherwise opens its own: never both.
 */
function actionOf(mode: PositionMode, level: QuoteLevel, closable: ClosableLots): OrderAction {
  if (mode === 'one_way_mode') return level.side === 'buy' ? 'openLong' : 'openShort'
  if (level.side === 'buy') {
    if (closable.shortLots < level.lots) return 'openLong'
    closable.shortLots -= level.lots
    return 'closeShort'
  }
  if (closable.longLots < level.lots) return 'openShort'
  closable.longLots -= level.lots
  return 'closeLong'
}

function sendAgain({ deadlineAt }: QuotePlanInput, { terms }: Order): OrderIntent {
  const { strategyId, symbol, purpose, key, action, lots, ticks, force } = terms
  const { takeProfitTicks, stopLossTicks } = terms
  const order = { strategyId, symbol, purpose, key, action, lots, ticks, force }
  return { ...order, takeProfitTicks, stopLossTicks, deadlineAt }
}
