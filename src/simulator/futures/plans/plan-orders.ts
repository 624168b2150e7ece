import type { WireRequestOf } from '../../../protocol/endpoints.ts'
import type { AccountRef } from '../../shared/account.ts'
import { idText } from '../../shared/order-sequence.ts'
import { refusals } from '../../shared/refusals.ts'
import {
  accept,
  acceptAll,
  type OrderReference,
  type RefusedReply,
  type Reply,
} from '../../shared/reply.ts'
import {
  type ExchangeAccount,
  accountOf,
  type CoreState,
  symbolOf,
  type SymbolState,
} from '../core-state.ts'
import { namedSymbol } from '../instruments/asked-symbols.ts'
import { deliveryRefusal } from '../instruments/delivery.ts'
import { priceText } from '../instruments/instruments.ts'
import { admitOrder } from '../orders/order-admission.ts'
import { readAction, readOrderPrice, readPrice, readSize } from '../orders/order-validation.ts'
import {
  orderIdText,
  type PositionExits,
  type PositionTrigger,
  referenceOf,
  sequenceOfId,
  type TriggerType,
  UNSAID,
} from '../orders/order.ts'
import { placeAdmitted } from '../orders/place-orders.ts'
import { openingLots } from '../positions/margin.ts'
import { lastTriggerTicks, watchedTicks } from '../positions/position-exits.ts'
import type { Position } from '../positions/position.ts'
import { PLAN_ORDERS, POSITIONS } from '../stored-entities.ts'
import type { PlacePlanOrderRequest } from './place-plan-request.ts'
import { isPending, type PlanOrder, type PlanTerms } from './plan-order.ts'

export function placePlanOrder(
  state: CoreState,
  { uid }: AccountRef,
  request: PlacePlanOrderRequest,
): Reply<OrderReference> {
  const account = accountOf(state, uid)
  const symbol = namedSymbol(state, request)
  if (!symbol.ok) return symbol
  const action = readAction(account, request)
  if (!action.ok) return action
  const pending = [...account.planOrders.values()].filter(isPending)
  if (pending.length >= state.settings.planOrdersMax) return refusals.ordersFull.plans
  if (pending.some(({ clientOid }) => clientOid === request.clientOid))
    return refusals.duplicateClientOid.futures
  const terms = readPlanTerms(symbol.data, request)
  if (!terms.ok) return terms
  const { planType, marginMode, orderType } = request
  const opening = openingLots(account, {
    ...UNSAID,
    uid,
    symbol: request.symbol,
    marginMode,
    orderType,
    ...action.data,
    ...terms.data,
    triggerTicks: 0,
  })
  const refusal = deliveryRefusal(symbol.data, state.clock.now, opening > 0)
  if (refusal !== undefined) return refusal
  const sequence = ++state.clock.orderSequence
  const plan: PlanOrder = {
    ...terms.data,
    ...action.data,
    sequence,
    clientOid: request.clientOid ?? `SIM-${orderIdText(sequence)}`,
    uid,
    symbol: request.symbol,
    planType,
    marginMode,
    orderType,
    status: 'pending',
    isRising: isAbove(symbol.data, terms.data),
    extremeTicks: 0,
    createdAt: state.clock.now,
    updatedAt: state.clock.now,
  }
  account.planOrders.set(sequence, plan)
  symbol.data.planOrders.push(plan)
  state.rows.put(PLAN_ORDERS, plan)
  return accept(referenceOf(plan))
}

export function modifyPlan(
  state: CoreState,
  { uid }: AccountRef,
  request: WireRequestOf<'modifyPlanOrder'>,
): Reply<OrderReference> {
  const account = accountOf(state, uid)
  const plan = findPlan(account, request)
  const symbol = plan && symbolOf(state, plan.symbol)
  if (symbol?.instrument.productType !== request.productType) return refusals.planOrderUnknown
  if (request.symbol !== undefined && request.symbol !== plan?.symbol)
    return refusals.planOrderUnknown
  if (plan?.status !== 'pending') return refusals.planOrderClosed
  const terms = readChangedTerms(symbol, plan, request)
  if (!terms.ok) return terms
  Object.assign(plan, terms.data, { updatedAt: state.clock.now })
  if (request.newTriggerPrice)
    Object.assign(plan, { isRising: isAbove(symbol, plan), extremeTicks: 0 })
  state.rows.put(PLAN_ORDERS, plan)
  return accept(referenceOf(plan))
}

interface FoundExit {
  readonly position: Position
  readonly kind: keyof PositionExits
}

/** An exit closes the whole position at the market, so only its trigger can change. */
export function modifyExit(
  state: CoreState,
  { uid }: AccountRef,
  request: ExitChange,
): Reply<OrderReference> {
  const { orderId = '', productType, size } = request
  const exit = findExit(accountOf(state, uid), orderId)
  const symbol = exit && symbolOf(state, exit.position.symbol)
  if (!exit || symbol?.instrument.productType !== productType) return refusals.planOrderUnknown
  const { position, kind } = exit
  if (request.symbol !== position.symbol) return refusals.planOrderUnknown
  if (size) return refusals.parameterPresent('size')
  const triggerTicks = readPrice(symbol, request.triggerPrice)
  if (!triggerTicks.ok) return triggerTicks
  const before = position[kind]
  const triggerType = request.triggerType ?? before?.triggerType ?? 'fill_price'
  const trigger = { ...before, triggerTicks: triggerTicks.data, triggerType }
  const refusal = movedExitRefusal(symbol, exit, trigger)
  if (refusal !== undefined) return refusal
  position[kind] = { ...trigger, executeTicks: before?.executeTicks }
  position.updatedAt = state.clock.now
  state.rows.put(POSITIONS, position)
  return accept({ orderId, clientOid: orderId })
}

interface ExitChange {
  readonly orderId?: string | undefined
  readonly productType: string
  readonly symbol: string
  readonly triggerPrice: string
  readonly triggerType?: PositionTrigger['triggerType'] | undefined
  readonly size?: string | undefined
}

function findExit({ positions }: ExchangeAccount, orderId: string): FoundExit | undefined {
  for (const position of positions.values()) {
    for (const kind of EXIT_KINDS) {
      const isIt = orderId === idText(kind, position.sequence)
      if (isIt && position[kind] !== undefined) return { position, kind }
    }
  }
  return undefined
}

const EXIT_KINDS = ['takeProfit', 'stopLoss'] as const

function movedExitRefusal(
  symbol: SymbolState,
  { position, kind }: FoundExit,
  trigger: Pick<PositionTrigger, 'triggerTicks' | 'triggerType'>,
): RefusedReply | undefined {
  const isLong = position.holdSide === 'long'
  const gain = (trigger.triggerTicks - watchedTicks(symbol, trigger)) * (isLong ? 1 : -1)
  if (kind === 'takeProfit' && gain <= 0)
    return isLong ? refusals.longTakeProfit : refusals.shortTakeProfit
  if (kind === 'takeProfit' || gain < 0) return undefined
  const mark = priceText(symbol.instrument, symbol.markTicks)
  return isLong ? refusals.longStopLoss(mark) : refusals.shortStopLoss(mark)
}

/** Document: "When both are given, orderId prevails". */
function findPlan(
  { planOrders }: ExchangeAccount,
  { orderId, clientOid }: WireRequestOf<'modifyPlanOrder'>,
): PlanOrder | undefined {
  if (orderId !== undefined) return planOrders.get(sequenceOfId(orderId) ?? 0)
  return [...planOrders.values()].findLast((plan) => plan.clientOid === clientOid)
}

function isAbove(
  symbol: SymbolState,
  plan: Pick<PlanOrder, 'triggerTicks' | 'triggerType'>,
): boolean {
  return plan.triggerTicks >= watchedTicks(symbol, plan)
}

export function triggerPlanOrders(state: CoreState, symbol: SymbolState): void {
  if (symbol.planOrders.length === 0) return
  for (const plan of symbol.planOrders.slice()) {
    if (isPending(plan) && isTriggered(state, symbol, plan)) executePlan(state, symbol, plan)
  }
}

function isTriggered(state: CoreState, symbol: SymbolState, plan: PlanOrder): boolean {
  const price = watchedTicks(symbol, plan)
  const isReached = plan.isRising ? price >= plan.triggerTicks : price <= plan.triggerTicks
  if (plan.callbackPercent === undefined) return isReached
  if (plan.extremeTicks === 0 && !isReached) return false
  const isSell = plan.direction === 'sell'
  const isBetter =
    plan.extremeTicks === 0 || (isSell ? price > plan.extremeTicks : price < plan.extremeTicks)
  if (isBetter) {
    plan.extremeTicks = price
    state.rows.put(PLAN_ORDERS, plan)
  }
  const reach = (plan.extremeTicks * Number(plan.callbackPercent)) / 100
  return isSell ? price <= plan.extremeTicks - reach : price >= plan.extremeTicks + reach
}

function executePlan(state: CoreState, symbol: SymbolState, plan: PlanOrder): void {
  const { uid, direction, slot, action, reduceOnly, marginMode, orderType } = plan
  const { priceTicks, lots, takeProfit, stopLoss } = plan
  const admission = admitOrder(state, accountOf(state, uid), symbol, {
    ...UNSAID,
    uid,
    symbol: plan.symbol,
    direction,
    slot,
    action,
    reduceOnly,
    marginMode,
    orderType,
    priceTicks,
    lots,
    takeProfit,
    stopLoss,
    triggerTicks: plan.callbackPercent === undefined ? lastTriggerTicks(plan) : 0,
  })
  endPlanOrder(state, plan, admission.ok ? 'triggered' : 'failed')
  if (admission.ok) placeAdmitted(state, admission.data.terms)
}

export function endPlanOrder(
  state: CoreState,
  plan: PlanOrder,
  status: 'triggered' | 'failed' | 'cancelled',
): void {
  const { planOrders } = symbolOf(state, plan.symbol)
  const index = planOrders.indexOf(plan)
  if (index >= 0) planOrders.splice(index, 1)
  plan.status = status
  plan.updatedAt = state.clock.now
  state.rows.put(PLAN_ORDERS, plan)
}

/** Document: "newCallbackRatio must not be greater than 10". */
const CALLBACK_PERCENT_MAX = 10

function readPlanTerms(symbol: SymbolState, request: PlacePlanOrderRequest): Reply<PlanTerms> {
  const { planType, callbackRatio = '', orderType, triggerType } = request
  const isTrailing = planType === 'track_plan'
  const refusal = callbackRefusal('callbackRatio', callbackRatio, isTrailing)
  if (refusal !== undefined) return refusal
  if (isTrailing && orderType === 'limit') return refusals.parameter('orderType')
  const exit = { request, isTrailing, existing: undefined, mustNameType: false }
  return acceptAll<PlanTerms>({
    lots: readSize(symbol, request.size),
    priceTicks: readOrderPrice(symbol, request),
    triggerTicks: readPrice(symbol, request.triggerPrice),
    triggerType: accept(triggerType),
    callbackPercent: accept(isTrailing ? callbackRatio : undefined),
    takeProfit: readExit(symbol, 'stopSurplus', exit),
    stopLoss: readExit(symbol, 'stopLoss', exit),
  })
}

function readChangedTerms(
  symbol: SymbolState,
  plan: PlanOrder,
  request: WireRequestOf<'modifyPlanOrder'>,
): Reply<PlanTerms> {
  const { newSize, newPrice, newCallbackRatio = '', newTriggerPrice, newTriggerType } = request
  const isTrailing = plan.planType === 'track_plan'
  if (newPrice && (isTrailing || plan.orderType === 'market'))
    return refusals.parameterPresent('newPrice')
  const refusal = callbackRefusal('newCallbackRatio', newCallbackRatio, isTrailing)
  if (refusal !== undefined) return refusal
  // The document's table says newSurplusTriggerPrice, its other places newStopSurplusTriggerPrice.
  const newStopSurplusTriggerPrice =
    request.newStopSurplusTriggerPrice || request.newSurplusTriggerPrice
  const exit = {
    request: { ...request, newStopSurplusTriggerPrice },
    isTrailing,
    mustNameType: !isTrailing,
  }
  return acceptAll<PlanTerms>({
    lots: newSize ? readSize(symbol, newSize) : accept(plan.lots),
    priceTicks: newPrice ? readPrice(symbol, newPrice) : accept(plan.priceTicks),
    triggerTicks: newTriggerPrice ? readPrice(symbol, newTriggerPrice) : accept(plan.triggerTicks),
    triggerType: accept(newTriggerType || plan.triggerType),
    callbackPercent: accept(isTrailing ? newCallbackRatio : undefined),
    takeProfit: readExit(symbol, 'newStopSurplus', { ...exit, existing: plan.takeProfit }),
    stopLoss: readExit(symbol, 'newStopLoss', { ...exit, existing: plan.stopLoss }),
  })
}

function callbackRefusal(
  name: string,
  ratio: string,
  isTrailing: boolean,
): RefusedReply | undefined {
  if (!isTrailing) return ratio === '' ? undefined : refusals.parameterPresent(name)
  if (ratio === '') return refusals.parameterEmpty(name)
  return Number(ratio) > CALLBACK_PERCENT_MAX ? refusals.parameter(name) : undefined
}

interface ExitPart {
  readonly request: Readonly<Record<string, unknown>>
  readonly existing: PositionTrigger | undefined
  readonly isTrailing: boolean
  readonly mustNameType: boolean
}

/**
 * Document, modify-plan-order, for the fields that begin with the prefix:
 * - trigger price: empty keeps it, a price sets it, `0` removes the exit
 * - execute price: empty keeps it, a price sets it, `0` makes a market order; a trailing plan has
 *   none
 * - trigger type: required with the trigger price; a trailing plan has none
 */
function readExit(
  symbol: SymbolState,
  prefix: string,
  { request, existing, isTrailing, mustNameType }: ExitPart,
): Reply<PositionTrigger | undefined> {
  const names = [`${prefix}TriggerPrice`, `${prefix}ExecutePrice`, `${prefix}TriggerType`] as const
  const [price, executePrice, type] = names.map((name) => (request[name] ?? '') as string) as [
    string,
    string,
    TriggerType | '',
  ]
  if (isTrailing && executePrice !== '') return refusals.parameterPresent(names[1])
  if (isTrailing && type !== '') return refusals.parameterPresent(names[2])
  if (isZero(price)) return accept(undefined)
  if (price !== '' && type === '' && mustNameType) return refusals.parameterEmpty(names[2])
  if (price === '' && existing === undefined)
    return executePrice === '' && type === ''
      ? accept(undefined)
      : refusals.parameterEmpty(names[0])
  const kept = executePrice === '' ? existing?.executeTicks : undefined
  return acceptAll<PositionTrigger>({
    triggerTicks: price === '' ? accept(existing?.triggerTicks ?? 0) : readPrice(symbol, price),
    triggerType: accept(type || (existing?.triggerType ?? 'fill_price')),
    executeTicks:
      executePrice === '' || isZero(executePrice) ? accept(kept) : readPrice(symbol, executePrice),
  })
}

function isZero(text: string): boolean {
  return text !== '' && Number(text) === 0
}
