import { z } from 'zod'
import { textOrNull } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import {
  batchResult,
  clientOid,
  decimalText,
  exchangeId,
  foreignClientOid,
  marginCoin,
  marginMode,
  orderReference,
  orderType,
  positiveDecimal,
  productType,
  side,
  symbol,
  tradeSide,
  triggerType,
} from '../values.ts'
import { changeColumns, placeColumns, readColumns } from './shared-columns.ts'

/** Trigger orders outside the document, which can only change one that is there. */

const text = textOrNull
const empty = z.literal('')
const price = z.union([decimalText, empty]).optional()
const type = z.union([triggerType, empty]).optional()
const byEitherId = {
  orderId: z.union([exchangeId, empty]).optional(),
  clientOid: z.union([foreignClientOid, empty]).optional(),
}

export const planOrderRows = {
  placePlanOrder: defineEndpoint({
    ...placeColumns,
    name: 'placePlanOrder',
    path: '/api/v2/mix/order/place-plan-order',
    request: z.looseObject({
      planType: z.enum(['normal_plan', 'track_plan']),
      symbol,
      productType,
      marginMode,
      marginCoin,
      size: positiveDecimal,
      price,
      callbackRatio: price.describe('Percent, of a trailing order'),
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
      stopSurplusTriggerType: type,
      presetStopLossPrice: price,
      stopLossTriggerPrice: price,
      stopLossExecutePrice: price,
      stopLossTriggerType: type,
    }),
    response: orderReference,
  }),
  ordersPlanPending: defineEndpoint({
    ...readColumns,
    name: 'ordersPlanPending',
    path: '/api/v2/mix/order/orders-plan-pending',
    request: z.looseObject({
      planType: z.string().min(1).describe('normal_plan, track_plan or profit_loss'),
      productType,
      symbol: symbol.optional(),
      idLessThan: exchangeId.optional(),
      limit: z.string().optional(),
      ...byEitherId,
    }),
    response: z.object({
      entrustedList: z
        .array(
          z.object({
            planType: text,
            symbol: z.string(),
            size: text,
            orderId: z.string(),
            clientOid: text,
            price: text,
            executePrice: text,
            callbackRatio: text,
            triggerPrice: text,
            triggerType: text,
            planStatus: text,
            side: text,
            posSide: text,
            marginCoin: text,
            marginMode: text,
            enterPointSource: text,
            tradeSide: text,
            posMode: text,
            orderType: text,
            orderSource: text,
            cTime: text,
            uTime: text,
            stopSurplusExecutePrice: text,
            stopSurplusTriggerPrice: text,
            stopSurplusTriggerType: text,
            stopLossExecutePrice: text,
            stopLossTriggerPrice: text,
            stopLossTriggerType: text,
          }),
        )
        .nullish(),
      endId: text,
    }),
  }),
  cancelPlanOrder: defineEndpoint({
    ...changeColumns,
    name: 'cancelPlanOrder',
    path: '/api/v2/mix/order/cancel-plan-order',
    request: z.looseObject({
      productType,
      symbol: symbol.optional(),
      marginCoin: marginCoin.optional(),
      planType: z.string().optional(),
      orderIdList: z.array(z.looseObject(byEitherId)).optional(),
    }),
    response: batchResult,
  }),
} as const
