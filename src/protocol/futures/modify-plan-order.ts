import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import {
  decimalText,
  exchangeId,
  positiveDecimal,
  productType,
  symbol,
  textOrNull,
  triggerType,
} from '../values.ts'

const empty = z.literal('')
const newTrigger = z.union([triggerType, empty]).optional()
/** Empty keeps, a price sets or adds, `0` removes. */
const removable = z.union([decimalText, empty]).optional()
const settable = z.union([positiveDecimal, empty]).optional()

/** Changes a pending trigger order: amount, prices, take-profit and stop-loss. */
export const modifyPlanOrder = defineEndpoint({
  name: 'modifyPlanOrder',
  method: 'POST',
  path: '/api/v2/mix/order/modify-plan-order',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section: 'POST /api/v2/mix/order/modify-plan-order (modify a trigger order)',
  request: z
    .strictObject({
      orderId: exchangeId.optional(),
      clientOid: z.string().min(1).max(64).optional(),
      productType,
      symbol: symbol.optional(),
      planType: z.enum(['normal_plan', 'track_plan']).optional(),
      newSize: settable,
      newPrice: settable,
      newCallbackRatio: settable,
      newTriggerPrice: settable,
      newTriggerType: newTrigger,
      newSurplusTriggerPrice: removable,
      newStopSurplusTriggerPrice: removable,
      newStopSurplusExecutePrice: removable,
      newStopSurplusTriggerType: newTrigger,
      newStopLossTriggerPrice: removable,
      newStopLossExecutePrice: removable,
      newStopLossTriggerType: newTrigger,
    })
    .refine((body) => body.orderId !== undefined || body.clientOid !== undefined, {
      path: ['orderId'],
      message: 'one of orderId and clientOid is required',
    })
    .refine((body) => !body.newTriggerType || !!body.newTriggerPrice, {
      path: ['newTriggerType'],
      message: 'newTriggerType requires newTriggerPrice',
    })
    .refine((body) => Number(body.newCallbackRatio || '0') <= 10, {
      path: ['newCallbackRatio'],
      message: 'newCallbackRatio must not be greater than 10',
    }),
  response: z.object({ orderId: textOrNull, clientOid: textOrNull }),
})
