import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import {
  batchResult,
  marginCoin,
  productType,
  receiveWindow,
  requestTime,
  symbol,
} from '../values.ts'

/** The API has no other way to cancel. */
export const cancelAllOrders = defineEndpoint({
  name: 'cancelAllOrders',
  method: 'POST',
  path: '/api/v2/mix/order/cancel-all-orders',
  auth: 'schemeA',
  limit: { calls: 1, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section: 'POST /api/v2/mix/order/cancel-all-orders (cancel all orders)',
  request: z
    .strictObject({
      symbol: symbol.describe('Trading pair; all of the product type when omitted').optional(),
      productType: productType.describe('Product type'),
      marginCoin: marginCoin
        .describe('Margin coin, upper case; required when productType is COIN-FUTURES')
        .optional(),
      requestTime: requestTime.optional(),
      receiveWindow: receiveWindow.optional(),
    })
    .refine((body) => body.productType !== 'COIN-FUTURES' || body.marginCoin !== undefined, {
      path: ['marginCoin'],
      message: 'marginCoin is required when productType is COIN-FUTURES',
    }),
  response: batchResult,
})

export type CancelAllRequest = z.input<(typeof cancelAllOrders)['request']>
