import { type Instrument, type PositionMode } from '../domain/instrument.ts'
import { type OrderIntent, type QuoteLevel } from '../domain/intent.ts'
import { isTerminal, openLots, type Order } from '../domain/order.ts'
import { type OrderAction, tradesAs } from '../domain/order-action.ts'
import { type Holding } from '../domain/position.ts'
import { type Candidate } from './candidate.ts'

/** What a ladder is planned from. `orders`: the strategy's own quote orders on the instrument. */
export interface QuotePlanInput {
  readonly strategyId: string
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  readonly levels: readonly QuoteLevel[]
  readonly orders: readonly Order[]
  /** The strategy's own. */
  readonly holding: Holding
  /** Names the first new order, the next one follows: an ordinal is used once. */
  readonly ordinal: number
  /** Unix ms, our clock: nothing of it is sent later. */
  readonly deadlineAt: number
}

/** The cheapest way from what rests to what is wanted: what stays, what is missing, what is too much. */
export interface QuotePlan {
  readonly missing: readonly Candidate[]
  readonly extra: readonly Order[]
}

/**
 * Compares a ladder with the orders that stand for it. An order stands for a level of the same side, price
 * and size, whatever has been filled of it; each order stands for one level only.
 */
export function planQuote(input: QuotePlanInput): QuotePlan {
  const standing = new Map<string, Order[]>()
  for (const order of input.orders) {
    if (isTerminal(order)) continue
    const rung = rungOf(tradesAs(order.terms.action), order.terms.ticks ?? 0, order.terms.lots)
    const alike = standing.get(rung)
    if (alike) alike.push(order)
    else standing.set(rung, [order])
  }

  const closable = closableLots(input)
  const missing: Candidate[] = []
  for (const level of input.levels) {
    const order = standing.get(rungOf(level.side, level.ticks, level.lots))?.shift()
    if (order === undefined) {
      missing.push({ intent: toOrderIntent(input, level, closable, input.ordinal + missing.length) })
    } else if (order.state === 'queued')
      missing.push({ intent: sendAgain(input, order), again: order.terms.clientOid })
  }
  return { missing, extra: [...standing.values()].flat() }
}

function rungOf(side: 'buy' | 'sell', ticks: number, lots: number): string {
  return `${side}:${ticks}:${lots}`
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
 * In one-way mode a ladder buys and sells plainly: reduce-only orders there make the exchange cancel older
 * ones. In hedge mode a level closes the opposite leg before it opens its own; each level does one or the
 * other, whole.
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

function sendAgain(input: QuotePlanInput, { terms }: Order): OrderIntent {
  return {
    strategyId: terms.strategyId,
    symbol: terms.symbol,
    purpose: terms.purpose,
    key: terms.key,
    action: terms.action,
    lots: terms.lots,
    ticks: terms.ticks,
    force: terms.force,
    takeProfitTicks: terms.takeProfitTicks,
    stopLossTicks: terms.stopLossTicks,
    deadlineAt: input.deadlineAt,
  }
}
