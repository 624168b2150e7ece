import { z } from 'zod'
import { beyondEndpoints } from '../../protocol/beyond/beyond-endpoints.ts'
import { batchResult, marginCoin, orderReference } from '../../protocol/values.ts'
import { accountOf, symbolOf, type ExchangeAccount, type CoreState } from '../futures/core-state.ts'
import { isOfAsked } from '../futures/instruments/asked-symbols.ts'
import { priceText, sizeText } from '../futures/instruments/instruments.ts'
import { referenceOf, sequenceOfId, wireSide } from '../futures/orders/order.ts'
import { placePlanRequest } from '../futures/plans/place-plan-request.ts'
import { isPending, type PlanOrder } from '../futures/plans/plan-order.ts'
import { endPlanOrder, modifyExit, placePlanOrder } from '../futures/plans/plan-orders.ts'
import { refusals } from '../shared/refusals.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, eachOf } from '../shared/reply.ts'
import { exitsOf, removeExit, toPlan, triggerFields, type ExitPlan } from './position-exits.ts'
import {
  type byEitherId,
  change,
  fromTable,
  ofProduct,
  orderIdList,
  place,
  showPage,
  type RowRequest,
} from './undocumented-row.ts'

type PlansQuery = RowRequest<typeof beyondEndpoints.ordersPlanPending.request.shape>

const list = {
  ...ofProduct,
  marginCoin: marginCoin.optional(),
  planType: z.string().optional(),
  orderIdList,
}

/** Trigger orders outside the document, which can only modify existing ones, and has no exits. */
export const planOrderRows = {
  placePlanOrder: place('/mix/order/place-plan-order', {
    asks: placePlanRequest.shape,
    shows: orderReference,
    answer: placePlanOrder,
  }),
  ordersPlanPending: fromTable(beyondEndpoints.ordersPlanPending, showPending),
  modifyTpslOrder: fromTable(beyondEndpoints.modifyTpslOrder, modifyExit),
  cancelPlanOrder: change('/mix/order/cancel-plan-order', {
    asks: list,
    shows: batchResult,
    answer: cancelListed,
  }),
}

function showPending(state: CoreState, { uid }: AccountRef, query: PlansQuery) {
  const account = accountOf(state, uid)
  const { now } = state.clock
  const toRow = (plan: ExitPlan) => toPlanRow(state, account, plan)
  if (query.planType === 'profit_loss') {
    const exits = pendingExits(state, account, query).map(toPlan)
    // Sorted by id and not by age: stop-losses have the higher ids.
    exits.sort((one, other) => (one.orderId < other.orderId ? -1 : 1))
    return showPage(exits, query, { now, toRow })
  }
  const untriggered = { planStatus: 'not_trigger', orderSource: 'normal' } as const
  const plans = pendingPlans(state, account, query)
    .filter((plan) => plan.planType === query.planType)
    .map((plan) => ({ ...plan, ...referenceOf(plan), ...untriggered }))
  return showPage(plans, query, { now, toRow })
}

/** Exits are cancelled only by id, so that cancelling all orders does not remove stop-losses. */
function cancelListed(state: CoreState, { uid }: AccountRef, request: RowRequest<typeof list>) {
  const account = accountOf(state, uid)
  const pending = pendingPlans(state, account, request)
  const { orderIdList: names, planType } = request
  const cancel = (plan: PlanOrder) => {
    endPlanOrder(state, plan, 'cancelled')
    return accept(referenceOf(plan))
  }
  if (names === undefined)
    return eachOf(
      pending.filter((plan) => plan.planType === (planType ?? plan.planType)),
      cancel,
    )
  return eachOf(names, (name) => {
    const exit = pendingExits(state, account, request).find(
      ({ orderId }) => orderId === name.orderId,
    )
    const plan = pending.find((candidate) => isPending(candidate) && isNamed(candidate, name))
    if (exit === undefined) return plan === undefined ? refusals.planOrderUnknown : cancel(plan)
    removeExit(state, exit)
    return accept({ orderId: exit.orderId, clientOid: exit.orderId })
  })
}

type PlanFilter = RowRequest<typeof ofProduct>
type PlanNames = RowRequest<typeof byEitherId>

function pendingPlans(
  state: CoreState,
  { planOrders }: ExchangeAccount,
  asked: PlanFilter,
): PlanOrder[] {
  const isAsked = isOfAsked(state, { productType: asked.productType, symbol: asked.symbol })
  return [...planOrders.values()].filter(isPending).filter(isAsked)
}

function pendingExits(state: CoreState, { positions }: ExchangeAccount, asked: PlanFilter) {
  const isAsked = isOfAsked(state, { productType: asked.productType, symbol: asked.symbol })
  return [...positions.values()].filter(isAsked).flatMap(exitsOf)
}

function isNamed(plan: PlanOrder, { orderId, clientOid }: PlanNames): boolean {
  return orderId === undefined
    ? clientOid === plan.clientOid
    : sequenceOfId(orderId) === plan.sequence
}

function toPlanRow(state: CoreState, account: ExchangeAccount, plan: ExitPlan) {
  const { instrument } = symbolOf(state, plan.symbol)
  const { orderId, clientOid } = plan
  const price = plan.priceTicks === 0 ? '' : priceText(instrument, plan.priceTicks)
  return {
    planType: plan.planType,
    symbol: plan.symbol,
    size: sizeText(instrument, plan.lots),
    orderId,
    clientOid,
    price,
    executePrice: price,
    callbackRatio: plan.callbackPercent ?? '',
    triggerPrice: priceText(instrument, plan.triggerTicks),
    triggerType: plan.triggerType,
    planStatus: plan.planStatus,
    side: wireSide(plan),
    posSide: plan.slot,
    marginCoin: instrument.marginCoin,
    marginMode: plan.marginMode,
    enterPointSource: 'API',
    tradeSide: plan.action === 'net' ? '' : plan.action,
    posMode: account.setup.positionMode,
    orderType: plan.orderType,
    orderSource: plan.orderSource,
    cTime: String(plan.createdAt),
    uTime: String(plan.updatedAt),
    ...triggerFields('stopSurplusTrigger', instrument, plan.takeProfit),
    ...triggerFields('stopLossTrigger', instrument, plan.stopLoss),
  }
}
