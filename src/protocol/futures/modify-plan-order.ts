import { z } from 'zod'
import { defineEndpoint, type RuleContext } from '../endpoint.ts'
import {
  decimalText,
  exchangeId,
  foreignClientOid,
  orderReference,
  positiveDecimal,
  productType,
  symbol,
  triggerType,
} from '../values.ts'

const empty = z.literal('')
const newTriggerType = z.union([triggerType, empty])
/** Empty keeps the price, a price sets it, `0` removes it. */
const removable = z.union([decimalText, empty])
/** Empty keeps the value. */
const settable = z.union([positiveDecimal, empty])

/** Document: "must not be greater than 10". */
const CALLBACK_RATIO_MAX = 10

const exitPrice = 'empty keeps it, a price sets or adds it, 0 removes it'
const strikePrice = `${exitPrice}; must be empty for a trailing order`
const exitType =
  'fill_price (default) or mark_price; must be empty for a trailing order, required for a trigger order ' +
  'whose trigger price is set'

const request = z
  .strictObject({
    orderId: exchangeId
      .describe('One of orderId and clientOid is required; orderId prevails when both are given')
      .optional(),
    clientOid: foreignClientOid.describe('Client trigger order ID').optional(),
    productType: productType.describe('Product type'),
    planType: z
      .string()
      .regex(/^[a-z_]{1,30}$/, 'a type of plan order such as normal_plan')
      .describe(
        'In the sample only: the document shows neither its values nor whether it is required',
      )
      .optional(),
    symbol: symbol.describe('Trading pair; in the sample only').optional(),
    newSize: settable.describe('New amount; empty keeps it').optional(),
    newPrice: settable
      .describe(
        'New execution price; empty keeps it; must be empty for a market or a trailing order',
      )
      .optional(),
    newCallbackRatio: settable
      .describe('Percent, not greater than 10: required for a trailing order, else must be empty')
      .optional(),
    newTriggerPrice: settable.describe('New trigger price; empty keeps it').optional(),
    newTriggerType: newTriggerType
      .describe('fill_price or mark_price; requires newTriggerPrice; empty keeps it')
      .optional(),
    newSurplusTriggerPrice: removable
      .meta({
        description: 'How the table of the document spells newStopSurplusTriggerPrice',
        aliasOf: 'newStopSurplusTriggerPrice',
      })
      .optional(),
    newStopSurplusTriggerPrice: removable
      .describe(`Take-profit trigger price: ${exitPrice}`)
      .optional(),
    newStopSurplusExecutePrice: removable
      .describe(`Take-profit strike price: ${strikePrice}`)
      .optional(),
    newStopSurplusTriggerType: newTriggerType
      .describe(`Take-profit trigger type: ${exitType}`)
      .optional(),
    newStopLossTriggerPrice: removable.describe(`Stop-loss trigger price: ${exitPrice}`).optional(),
    newStopLossExecutePrice: removable
      .describe(`Stop-loss strike price: ${strikePrice}`)
      .optional(),
    newStopLossTriggerType: newTriggerType
      .describe(`Stop-loss trigger type: ${exitType}`)
      .optional(),
    newPresetStopSurplusPrice: removable
      .describe('In the sample only: the document does not show what values it takes')
      .optional(),
    newPresetStopLossPrice: removable
      .describe('In the sample only: the document does not show what values it takes')
      .optional(),
  })
  .refine((body) => body.orderId !== undefined || body.clientOid !== undefined, {
    path: ['orderId'],
    message: 'one of orderId and clientOid is required',
  })
  .refine((body) => !body.newTriggerType || !!body.newTriggerPrice, {
    path: ['newTriggerType'],
    message: 'newTriggerType requires newTriggerPrice',
  })
  .refine((body) => Number(body.newCallbackRatio || '0') <= CALLBACK_RATIO_MAX, {
    path: ['newCallbackRatio'],
    message: `newCallbackRatio must not be greater than ${CALLBACK_RATIO_MAX}`,
  })
  .refine(
    ({ newSurplusTriggerPrice: one, newStopSurplusTriggerPrice: other }) =>
      !one || !other || one === other,
    {
      path: ['newSurplusTriggerPrice'],
      message:
        'newSurplusTriggerPrice and newStopSurplusTriggerPrice are two names of one field and must agree',
    },
  )

type WirePlanModification = z.input<typeof request>

type PlanModification = Omit<WirePlanModification, 'newSurplusTriggerPrice'>

export const modifyPlanOrder = defineEndpoint({
  name: 'modifyPlanOrder',
  method: 'POST',
  path: '/api/v2/mix/order/modify-plan-order',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section: 'POST /api/v2/mix/order/modify-plan-order (modify a trigger order)',
  request,
  toWire,
  response: orderReference,
  rules: planOrderProblems,
})

/**
 * The document has two names of the price, and an exchange that reads only one would silently keep
 * the old take-profit.
 */
function toWire(modification: PlanModification): WirePlanModification {
  const { newStopSurplusTriggerPrice } = modification
  if (newStopSurplusTriggerPrice === undefined) return modification
  return { ...modification, newSurplusTriggerPrice: newStopSurplusTriggerPrice }
}

const EMPTY_WHEN_TRAILING = [
  'newPrice',
  'newStopSurplusExecutePrice',
  'newStopSurplusTriggerType',
  'newStopLossExecutePrice',
  'newStopLossTriggerType',
] as const

/**
 * Without the pending order, no problem is reported. Document: POST
 * /api/v2/mix/order/modify-plan-order.
 */
function planOrderProblems(body: WirePlanModification, { planOrder }: RuleContext): string[] {
  if (planOrder === undefined) return []
  return planOrder.trailing ? trailingProblems(body) : triggerProblems(body, planOrder.type)
}

function trailingProblems(body: WirePlanModification): string[] {
  const problems = EMPTY_WHEN_TRAILING.filter((name) => body[name]).map(
    (name) => `${name} must be empty for a trailing order`,
  )
  return body.newCallbackRatio
    ? problems
    : ['newCallbackRatio is required for a trailing order', ...problems]
}

function triggerProblems(body: WirePlanModification, type: 'limit' | 'market'): string[] {
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

function isSet(price: string | undefined): boolean {
  return Number(price || '0') > 0
}
