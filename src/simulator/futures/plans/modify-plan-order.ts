import { type WireRequestOf } from '../../../protocol/endpoints.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type Account, type CoreState, type SymbolState } from '../core-state.ts'
import { checked, readPrice, readSize, refused, type Checked } from '../orders/order-validation.ts'
import { orderIdText, sequenceOfId } from '../orders/order.ts'
import { changeExit, type ExitChange, type PlanExits } from './plan-exits.ts'
import { type PlanOrder } from './plan-order.ts'
import { CALLBACK_PERCENT_MAX } from './plan-orders.ts'
import { watchedTicks } from '../positions/position-exits.ts'
import { PLAN_ORDERS } from '../stored-entities.ts'
import { refusals } from '../refusals.ts'
import { accept, refuse, type OrderReference, type Reply } from '../../shared/reply.ts'

type Modification = WireRequestOf<'modifyPlanOrder'>

/** Changes a pending trigger order, whole or not at all. Document: POST /api/v2/mix/order/modify-plan-order. */
export function modifyPlan(
  state: CoreState,
  { uid }: AccountRef,
  request: Modification,
): Reply<OrderReference> {
  const plan = findPlan(accountOf(state, uid), request)
  if (plan === undefined) return refuse(refusals.planOrderUnknown())
  const symbol = symbolOf(state, plan.symbol)
  const isOther = request.symbol !== undefined && request.symbol !== plan.symbol
  if (isOther || symbol.instrument.productType !== request.productType)
    return refuse(refusals.planOrderUnknown())
  if (plan.status !== 'pending') return refuse(refusals.planOrderClosed())
  const terms = readTerms(symbol, plan, request)
  if (!terms.ok) return refuse(terms.refusal)
  const exits = readExitChanges(symbol, plan, request)
  if (!exits.ok) return refuse(exits.refusal)
  Object.assign(plan, terms.value, exits.value)
  if (request.newTriggerPrice) {
    plan.isRising = plan.triggerTicks >= watchedTicks(symbol, plan.triggerType)
    plan.extremeTicks = 0
  }
  plan.updatedAt = state.clock.now
  state.rows.put(PLAN_ORDERS, plan)
  return accept({ orderId: orderIdText(plan.sequence), clientOid: plan.clientOid })
}

/** Document: "When both are given, orderId prevails". A clientOid names the newest order that carried it. */
function findPlan(account: Account, { orderId, clientOid }: Modification): PlanOrder | undefined {
  if (orderId !== undefined) {
    const sequence = sequenceOfId('11', orderId)
    return sequence === undefined ? undefined : account.planOrders.get(sequence)
  }
  return [...account.planOrders.values()].findLast((plan) => plan.clientOid === clientOid)
}

type Terms = Pick<PlanOrder, 'lots' | 'priceTicks' | 'triggerTicks' | 'triggerType' | 'callbackPercent'>

function readTerms(symbol: SymbolState, plan: PlanOrder, request: Modification): Checked<Terms> {
  const {
    newSize = '',
    newPrice = '',
    newCallbackRatio = '',
    newTriggerPrice = '',
    newTriggerType = '',
  } = request
  const isTrailing = plan.planType === 'track_plan'
  if (newPrice !== '' && (isTrailing || plan.orderType === 'market'))
    return refused(refusals.parameterPresent('newPrice'))
  if (newCallbackRatio !== '' && !isTrailing) return refused(refusals.parameterPresent('newCallbackRatio'))
  if (newCallbackRatio === '' && isTrailing) return refused(refusals.parameterEmpty('newCallbackRatio'))
  if (Number(newCallbackRatio) > CALLBACK_PERCENT_MAX) return refused(refusals.parameter('newCallbackRatio'))
  if (newTriggerType !== '' && newTriggerPrice === '')
    return refused(refusals.parameterEmpty('newTriggerPrice'))
  const lots = newSize === '' ? checked(plan.lots) : readSize(symbol, newSize)
  if (!lots.ok) return lots
  const price = newPrice === '' ? checked(plan.priceTicks) : readPrice(symbol, newPrice)
  if (!price.ok) return price
  const trigger = newTriggerPrice === '' ? checked(plan.triggerTicks) : readPrice(symbol, newTriggerPrice)
  if (!trigger.ok) return trigger
  return checked({
    lots: lots.value,
    priceTicks: price.value,
    triggerTicks: trigger.value,
    triggerType: newTriggerType === '' ? plan.triggerType : newTriggerType,
    callbackPercent: isTrailing ? newCallbackRatio : undefined,
  })
}

function readExitChanges(symbol: SymbolState, plan: PlanOrder, request: Modification): Checked<PlanExits> {
  const isTrailing = plan.planType === 'track_plan'
  // The document names this field newSurplusTriggerPrice in its table and newStopSurplusTriggerPrice elsewhere.
  const { newSurplusTriggerPrice, newStopSurplusTriggerPrice } = request
  if (
    newSurplusTriggerPrice &&
    newStopSurplusTriggerPrice &&
    newSurplusTriggerPrice !== newStopSurplusTriggerPrice
  ) {
    return refused(refusals.parameter('newSurplusTriggerPrice'))
  }
  const gain: ExitChange = {
    triggerPrice: newStopSurplusTriggerPrice || newSurplusTriggerPrice,
    executePrice: request.newStopSurplusExecutePrice,
    triggerType: request.newStopSurplusTriggerType,
    names: {
      triggerPrice: 'newStopSurplusTriggerPrice',
      executePrice: 'newStopSurplusExecutePrice',
      triggerType: 'newStopSurplusTriggerType',
    },
  }
  const loss: ExitChange = {
    triggerPrice: request.newStopLossTriggerPrice,
    executePrice: request.newStopLossExecutePrice,
    triggerType: request.newStopLossTriggerType,
    names: {
      triggerPrice: 'newStopLossTriggerPrice',
      executePrice: 'newStopLossExecutePrice',
      triggerType: 'newStopLossTriggerType',
    },
  }
  const takeProfit = changeExit(symbol, plan.takeProfit, { change: gain, isTrailing })
  if (!takeProfit.ok) return takeProfit
  const stopLoss = changeExit(symbol, plan.stopLoss, { change: loss, isTrailing })
  return stopLoss.ok ? checked({ takeProfit: takeProfit.value, stopLoss: stopLoss.value }) : stopLoss
}
