import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type CoreState, type SymbolState } from '../core-state.ts'
import { admitOrder } from '../orders/order-admission.ts'
import {
  checked,
  fitsPositionMode,
  readAction,
  readPrice,
  readSize,
  refused,
  type Checked,
} from '../orders/order-validation.ts'
import { orderIdText } from '../orders/order.ts'
import { listedSymbol, placeAdmitted } from '../orders/place-orders.ts'
import { readExits } from './plan-exits.ts'
import { type PlanOrder } from './plan-order.ts'
import { type PlacePlanOrderRequest } from './place-plan-request.ts'
import { watchedTicks } from '../positions/position-exits.ts'
import { PLAN_ORDERS } from '../stored-entities.ts'
import { refusals } from '../refusals.ts'
import { accept, refuse, type OrderReference, type Reply } from '../../shared/reply.ts'

/** Document: "newCallbackRatio must not be greater than 10". */
export const CALLBACK_PERCENT_MAX = 10

/** Places a trigger order. Nothing is checked against balance or position until it triggers. */
export function placePlanOrder(
  state: CoreState,
  { uid }: AccountRef,
  request: PlacePlanOrderRequest,
): Reply<OrderReference> {
  const account = accountOf(state, uid)
  const symbol = listedSymbol(state, request)
  if (symbol === undefined) return refuse(refusals.symbolUnknown(request.symbol))
  if (request.marginCoin !== symbol.instrument.marginCoin) return refuse(refusals.parameter('marginCoin'))
  if (!fitsPositionMode(account, request)) return refuse(refusals.positionModeMismatch())
  const pending = [...account.planOrders.values()].filter(({ status }) => status === 'pending')
  if (pending.length >= state.settings.planOrdersMax) return refuse(refusals.planOrdersFull())
  if (pending.some(({ clientOid }) => clientOid === request.clientOid))
    return refuse(refusals.duplicateClientOid())
  const terms = readPlan(symbol, request)
  if (!terms.ok) return refuse(terms.refusal)
  const sequence = ++state.clock.orderSequence
  const plan: PlanOrder = {
    ...terms.value,
    ...readAction(account, request),
    sequence,
    clientOid: request.clientOid ?? `SIM-${orderIdText(sequence)}`,
    uid,
    symbol: request.symbol,
    planType: request.planType,
    reduceOnly: account.setup.positionMode === 'one_way_mode' && request.reduceOnly === 'YES',
    marginMode: request.marginMode,
    orderType: request.orderType,
    status: 'pending',
    isRising: terms.value.triggerTicks >= watchedTicks(symbol, request.triggerType),
    extremeTicks: 0,
    createdAt: state.clock.now,
    updatedAt: state.clock.now,
  }
  account.planOrders.set(sequence, plan)
  symbol.planOrders.push(plan)
  state.rows.put(PLAN_ORDERS, plan)
  return accept({ orderId: orderIdText(sequence), clientOid: plan.clientOid })
}

/** Triggers what a new quote reaches: its order is placed like any other, and may be refused. */
export function triggerPlanOrders(state: CoreState, symbol: SymbolState): void {
  if (symbol.planOrders.length === 0) return
  for (const plan of symbol.planOrders.slice()) {
    if (plan.status === 'pending' && isTriggered(state, symbol, plan)) executePlan(state, symbol, plan)
  }
}

type PlanTerms = Pick<
  PlanOrder,
  'lots' | 'priceTicks' | 'triggerTicks' | 'triggerType' | 'callbackPercent' | 'takeProfit' | 'stopLoss'
>

function readPlan(symbol: SymbolState, request: PlacePlanOrderRequest): Checked<PlanTerms> {
  const isTrailing = request.planType === 'track_plan'
  const { callbackRatio = '' } = request
  if (isTrailing && callbackRatio === '') return refused(refusals.parameterEmpty('callbackRatio'))
  if (!isTrailing && callbackRatio !== '') return refused(refusals.parameterPresent('callbackRatio'))
  if (Number(callbackRatio) > CALLBACK_PERCENT_MAX) return refused(refusals.parameter('callbackRatio'))
  if (isTrailing && request.orderType === 'limit') return refused(refusals.parameter('orderType'))
  const size = readSize(symbol, request.size)
  if (!size.ok) return size
  const price = request.orderType === 'limit' ? readPrice(symbol, request.price ?? '') : checked(0)
  if (!price.ok) return price
  const trigger = readPrice(symbol, request.triggerPrice)
  if (!trigger.ok) return trigger
  const exits = readExits(symbol, request, isTrailing)
  if (!exits.ok) return exits
  return checked({
    lots: size.value,
    priceTicks: price.value,
    triggerTicks: trigger.value,
    triggerType: request.triggerType,
    callbackPercent: isTrailing ? callbackRatio : undefined,
    ...exits.value,
  })
}

/** A trailing order is reached first, then follows the best price, and triggers when the price comes back. */
function isTriggered(state: CoreState, symbol: SymbolState, plan: PlanOrder): boolean {
  const price = watchedTicks(symbol, plan.triggerType)
  const isReached = plan.isRising ? price >= plan.triggerTicks : price <= plan.triggerTicks
  if (plan.callbackPercent === undefined) return isReached
  if (plan.extremeTicks === 0 && !isReached) return false
  const isSell = plan.direction === 'sell'
  const isBetter = plan.extremeTicks === 0 || (isSell ? price > plan.extremeTicks : price < plan.extremeTicks)
  if (isBetter) {
    plan.extremeTicks = price
    state.rows.put(PLAN_ORDERS, plan)
  }
  const reach = (plan.extremeTicks * Number(plan.callbackPercent)) / 100
  return isSell ? price <= plan.extremeTicks - reach : price >= plan.extremeTicks + reach
}

function executePlan(state: CoreState, symbol: SymbolState, plan: PlanOrder): void {
  const account = accountOf(state, plan.uid)
  const admission = admitOrder(state, account, symbol, {
    uid: plan.uid,
    symbol: plan.symbol,
    clientOid: undefined,
    direction: plan.direction,
    slot: plan.slot,
    action: plan.action,
    reduceOnly: plan.reduceOnly,
    marginMode: plan.marginMode,
    orderType: plan.orderType,
    force: 'gtc',
    stpMode: 'none',
    priceTicks: plan.priceTicks,
    lots: plan.lots,
    takeProfit: plan.takeProfit,
    stopLoss: plan.stopLoss,
    source: 'API',
    systemTradeSide: undefined,
  })
  endPlanOrder(state, plan, admission.ok ? 'triggered' : 'failed')
  if (admission.ok) placeAdmitted(state, admission.value.terms)
}

/** Takes a trigger order out of the market; the account remembers it for the idempotency window. */
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
