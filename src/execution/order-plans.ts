import type { ExitKind } from '../domain/exits.ts'
import type { ClientOid } from '../domain/ids.ts'
import type { Instrument, PositionMode } from '../domain/instrument.ts'
import type { OrderIntent, OrderPurpose, QuoteLevel, Tag } from '../domain/intent.ts'
import { isClosing, type OrderAction, tradesAs } from '../domain/order-action.ts'
import { isTerminal, openLots, type Order, type OrderTerms } from '../domain/order.ts'
import { type Holding, netLots } from '../domain/position.ts'
import { floatOnGrid, stepAbove, stepBelow } from '../lib/grid.ts'

export interface QuotePlanInput extends PlanInput {
  readonly levels: readonly QuoteLevel[]
  /**
   * The ladder may only close. Then an order may be smaller than its level, and levels nearest to
   * the market come first.
   */
  readonly isRestricted: boolean
}

/** Orders in neither list stay. */
interface QuotePlan {
  readonly missing: readonly OrderCandidate[]
  readonly extra: readonly Order[]
}

/**
 * An order fulfils a level of its side, price and size, however much of it was filled. In a
 * restricted ladder smaller orders may fulfil a level; the rest of the level is missing only while
 * something is left to close, so that a reduced level stays as it is.
 */
export function planQuote(input: QuotePlanInput): QuotePlan {
  const standing = Map.groupBy(
    input.orders.filter((order) => !isTerminal(order)),
    ({ terms }) => terms.ticks ?? 0,
  )
  const closable = closableLots(input)
  const missing: OrderCandidate[] = []
  const add = (level: QuoteLevel): void => {
    const intent = toOrderIntent(input, level, closable, input.ordinal + missing.length)
    missing.push(input.isRestricted ? { intent, isCut: true } : { intent })
  }
  for (const level of input.isRestricted ? nearestFirst(input) : input.levels) {
    const orders = takeFor(level, standing.get(level.ticks), input.isRestricted)
    if (orders.length === 0) add(level)
    for (const order of orders) {
      if (order.state !== 'queued') continue
      const intent = { ...intentOf(order.terms), deadlineAt: input.deadlineAt }
      missing.push({ intent, resendOf: order.terms.clientOid })
    }
    const lots = level.lots - lotsOf(orders)
    if (orders.length > 0 && lots > 0 && closableBy(level.side, closable) > 0)
      add({ ...level, lots })
  }
  return { missing, extra: [...standing.values()].flat() }
}

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
 * A post-only level that would cross the spread comes last: the exchange would refuse it, and the
 * others would have nothing left to close.
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

/** Orders of the ladder have reserved what they close. In one-way mode each sell closes a long. */
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
 * orders. In hedge mode a level closes the opposite leg if that is large enough, and else opens its
 * own. A restricted level closes what there is.
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

export function intentOf(order: OrderTerms): OrderIntent {
  const { clientOid: _, generation: __, ...terms } = order
  // An intent names these also where they are undefined.
  const { ticks, takeProfitTicks, stopLossTicks } = terms
  return { ...terms, ticks, takeProfitTicks, stopLossTicks }
}

export interface TargetPlanInput extends PlanInput {
  readonly purpose: OrderPurpose
  /** Present if an exit asks for this target. */
  readonly exit?: ExitKind
  readonly tag?: Tag
  /** Signed lots. */
  readonly target: number
  readonly accountHolding: Holding
  /** The part of the strategy's position that the account holds or other strategies account for. */
  readonly backedHolding: Holding
  /** Share: 0.001 is 10 basis points. Undefined: the order names no price. */
  readonly takerCollarRatio: number | undefined
  readonly orderLotsMax: number
}

/**
 * While an order leads to the target, no other is placed. Orders are `ioc` at the collar, so they
 * never rest.
 */
export function planTarget(input: TargetPlanInput): readonly OrderCandidate[] {
  const open = input.orders.filter((order) => !isTerminal(order))
  if (open.length > 0) {
    const stale = staleTargetOrders(input)
    return open
      .filter((order) => order.state === 'queued' && !stale.includes(order))
      .map(({ terms }) => ({
        intent: { ...intentOf(terms), deadlineAt: input.deadlineAt },
        resendOf: terms.clientOid,
      }))
  }
  return stepsOf(input)
    .filter((step) => step.lots >= input.instrument.lotsMin)
    .map(({ action, lots }, index) => ({
      intent: toIntent(input, action, Math.min(lots, Math.max(input.orderLotsMax, 1)), index),
    }))
}

/**
 * ORD7: orders are dropped that no longer lead to the target, have another purpose, or would take
 * at a price beyond the present collar.
 */
export function staleTargetOrders(input: TargetPlanInput): readonly Order[] {
  const steps = stepsOf(input)
  return input.orders.filter(({ state, terms }) => {
    const leads = steps.some((step) => step.action === terms.action && step.lots >= terms.lots)
    const leadsThere = terms.purpose === input.purpose && leads && !isBeyondCollar(input, terms)
    return state === 'queued' && !leadsThere
  })
}

function isBeyondCollar(input: TargetPlanInput, { action, ticks }: OrderTerms): boolean {
  const side = tradesAs(action)
  const collar = collarTicks(input, side)
  if (collar === undefined) return false
  if (ticks === undefined) return true
  return side === 'buy' ? ticks > collar : ticks < collar
}

interface TargetStep {
  readonly action: OrderAction
  readonly lots: number
}

function stepsOf(input: TargetPlanInput): readonly TargetStep[] {
  return input.positionMode === 'one_way_mode' ? oneWaySteps(input) : hedgeSteps(input)
}

/**
 * One order leads to the target. It is reduce-only if the positions of strategy and account are
 * both as large, so that outdated data cannot turn a close into an opening. Otherwise it closes
 * against the positions of other strategies, and what those do not cover is denied.
 */
function oneWaySteps(input: TargetPlanInput): readonly TargetStep[] {
  const change = input.target - netLots(input.holding)
  if (change > 0)
    return [oneWayStep(input, { side: 'shortLots', close: 'closeShort', open: 'openLong' }, change)]
  if (change < 0)
    return [oneWayStep(input, { side: 'longLots', close: 'closeLong', open: 'openShort' }, -change)]
  return []
}

interface OneWayDirection {
  readonly side: keyof Holding
  readonly close: OrderAction
  readonly open: OrderAction
}

function oneWayStep(
  input: TargetPlanInput,
  { side, close, open }: OneWayDirection,
  lots: number,
): TargetStep {
  const { holding, accountHolding, backedHolding, instrument } = input
  const inAccount = accountHolding[side]
  if (holding[side] >= lots && inAccount >= lots) return { action: close, lots }
  const reduced = Math.min(lots, holding[side])
  const isDenied = reduced > backedHolding[side]
  if (isDenied && inAccount >= instrument.lotsMin)
    return { action: close, lots: Math.min(reduced, inAccount) }
  return { action: open, lots }
}

function hedgeSteps({ target, holding }: TargetPlanInput): readonly TargetStep[] {
  const long = Math.max(0, target) - holding.longLots
  const short = Math.max(0, -target) - holding.shortLots
  const steps: TargetStep[] = []
  if (long < 0) steps.push({ action: 'closeLong', lots: -long })
  if (short < 0) steps.push({ action: 'closeShort', lots: -short })
  if (long > 0) steps.push({ action: 'openLong', lots: long })
  if (short > 0) steps.push({ action: 'openShort', lots: short })
  return steps
}

function toIntent(
  input: TargetPlanInput,
  action: OrderAction,
  lots: number,
  index: number,
): OrderIntent {
  return {
    strategyId: input.strategyId,
    symbol: input.instrument.symbol,
    purpose: input.purpose,
    key: `target:${input.instrument.symbol}:${input.ordinal + index}`,
    action,
    lots,
    ticks: collarTicks(input, tradesAs(action)),
    force: 'ioc',
    takeProfitTicks: undefined,
    stopLossTicks: undefined,
    deadlineAt: input.deadlineAt,
    ...(input.exit && { exit: input.exit }),
    ...(input.tag !== undefined && { tag: input.tag }),
  }
}

function collarTicks(
  { instrument, bid, ask, takerCollarRatio }: TargetPlanInput,
  side: 'buy' | 'sell',
): number | undefined {
  if (takerCollarRatio === undefined) return undefined
  return side === 'buy'
    ? Math.max(
        stepBelow(instrument.tick, ask * (1 + takerCollarRatio)),
        stepAbove(instrument.tick, ask),
      )
    : Math.min(
        stepAbove(instrument.tick, bid * (1 - takerCollarRatio)),
        stepBelow(instrument.tick, bid),
      )
}

export interface OrderCandidate {
  readonly intent: OrderIntent
  /** The waiting order that is sent again, unchanged. */
  readonly resendOf?: ClientOid
  /** Its lots are reduced to what is left to close (`cutToHeld`). */
  readonly isCut?: true
}

/** A ladder and a target of a strategy on an instrument are planned on the same basis. */
export interface PlanBasis {
  readonly strategyId: string
  readonly instrument: Instrument
  readonly positionMode: PositionMode
  /** Quote coin. */
  readonly bid: number
  readonly ask: number
  /** It makes the key of the first new order, and counts up with each further one. */
  readonly ordinal: number
  /** Unix ms, our clock. */
  readonly deadlineAt: number
}

interface PlanInput extends PlanBasis {
  readonly orders: readonly Order[]
  readonly holding: Holding
}
