import type { WireRequestOf } from '../../../protocol/endpoints.ts'
import { accept, acceptAll, type Refusal, type Reply } from '../../shared/reply.ts'
import type { SymbolState } from '../core-state.ts'
import { readOrderPrice, readPrice, readSize } from '../orders/order-validation.ts'
import type { PositionTrigger, TriggerType } from '../orders/order.ts'
import { refusals } from '../../shared/refusals.ts'
import type { PlacePlanOrderRequest } from './place-plan-request.ts'
import type { PlanOrder, PlanTerms } from './plan-order.ts'

/** Document: "newCallbackRatio must not be greater than 10". */
const CALLBACK_PERCENT_MAX = 10

export function readPlanTerms(
  symbol: SymbolState,
  request: PlacePlanOrderRequest,
): Reply<PlanTerms> {
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

export function readChangedTerms(
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
  // The document's table has newSurplusTriggerPrice, other places newStopSurplusTriggerPrice.
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

function callbackRefusal(name: string, ratio: string, isTrailing: boolean): Refusal | undefined {
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
 * - trigger price: empty keeps, a price sets, `0` removes the exit
 * - execute price: empty keeps, a price sets, `0` makes it a market order; none for trailing
 * - trigger type: required with the trigger price; none for trailing
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
