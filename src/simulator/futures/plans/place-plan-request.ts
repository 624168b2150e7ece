import { z } from 'zod'
import {
  clientOid,
  decimalText,
  marginCoin,
  marginMode,
  orderType,
  positiveDecimal,
  productType,
  side,
  symbol,
  tradeSide,
  triggerType,
} from '../../../protocol/values.ts'

const empty = z.literal('')
const price = z.union([decimalText, empty]).optional()
const exitType = z.union([triggerType, empty]).optional()

/** The document has only the modification of a plan order, not place-plan-order. */
export const placePlanRequest = z.looseObject({
  planType: z.enum(['normal_plan', 'track_plan']),
  symbol,
  productType,
  marginMode,
  marginCoin,
  size: positiveDecimal,
  price: price.describe('Execution price; a limit order has one'),
  callbackRatio: price.describe('Percent, of a trailing order; at most 10'),
  triggerPrice: positiveDecimal,
  triggerType,
  side,
  tradeSide: tradeSide.optional(),
  orderType,
  clientOid: clientOid.optional(),
  reduceOnly: z.enum(['YES', 'NO']).optional(),
  presetStopSurplusPrice: price,
  stopSurplusTriggerPrice: price,
  stopSurplusExecutePrice: price,
  stopSurplusTriggerType: exitType,
  presetStopLossPrice: price,
  stopLossTriggerPrice: price,
  stopLossExecutePrice: price,
  stopLossTriggerType: exitType,
})

export type PlacePlanOrderRequest = z.input<typeof placePlanRequest>
