import { type RuleContext } from '../endpoint.ts'

/** The fields of a modification that depend on the pending order's type. */
export interface PlanOrderFields {
  readonly newPrice?: string | undefined
  readonly newCallbackRatio?: string | undefined
  readonly newSurplusTriggerPrice?: string | undefined
  readonly newStopSurplusTriggerPrice?: string | undefined
  readonly newStopSurplusExecutePrice?: string | undefined
  readonly newStopSurplusTriggerType?: string | undefined
  readonly newStopLossTriggerPrice?: string | undefined
  readonly newStopLossExecutePrice?: string | undefined
  readonly newStopLossTriggerType?: string | undefined
}

const EMPTY_WHEN_TRAILING = [
  'newPrice',
  'newStopSurplusExecutePrice',
  'newStopSurplusTriggerType',
  'newStopLossExecutePrice',
  'newStopLossTriggerType',
] as const

/**
 * What a modification must and must not say of a trailing order, a trigger order and a market order. Without
 * the pending order's type in the context nothing is found. Document: POST /api/v2/mix/order/modify-plan-order.
 */
export function planOrderProblems(body: PlanOrderFields, { planOrder }: RuleContext): string[] {
  if (planOrder === undefined) return []
  return planOrder.trailing ? trailingProblems(body) : triggerProblems(body, planOrder.type)
}

function trailingProblems(body: PlanOrderFields): string[] {
  const problems = EMPTY_WHEN_TRAILING.filter((name) => body[name]).map(
    (name) => `${name} must be empty for a trailing order`,
  )
  return body.newCallbackRatio ? problems : ['newCallbackRatio is required for a trailing order', ...problems]
}

function triggerProblems(body: PlanOrderFields, type: 'limit' | 'market'): string[] {
  const problems: string[] = []
  if (body.newCallbackRatio) problems.push('newCallbackRatio must be empty for a trigger order')
  if (type === 'market' && body.newPrice) problems.push('newPrice must be empty for a market order')
  const takeProfit = body.newStopSurplusTriggerPrice || body.newSurplusTriggerPrice
  if (isSet(takeProfit) && !body.newStopSurplusTriggerType) {
    problems.push('newStopSurplusTriggerType is required when the take-profit trigger price is set')
  }
  if (isSet(body.newStopLossTriggerPrice) && !body.newStopLossTriggerType) {
    problems.push('newStopLossTriggerType is required when the stop-loss trigger price is set')
  }
  return problems
}

/** Empty keeps and `0` removes: neither sets. */
function isSet(price: string | undefined): boolean {
  return Number(price || '0') > 0
}
