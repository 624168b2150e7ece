import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import {
  batchResult,
  clientOid,
  decimalText,
  force,
  marginCoin,
  marginMode,
  orderType,
  positiveDecimal,
  productType,
  side,
  stpMode,
  symbol,
  tradeSide,
} from '../values.ts'

/** Document: "orderList — at most 50 items". */
export const BATCH_ORDERS_MAX = 50

const order = z
  .strictObject({
    size: positiveDecimal,
    price: positiveDecimal.optional(),
    side,
    tradeSide: tradeSide.optional(),
    orderType,
    force: force.optional(),
    clientOid: clientOid.optional(),
    reduceOnly: z.enum(['YES', 'NO']).optional(),
    presetStopSurplusPrice: z.union([decimalText, z.literal('')]).optional(),
    presetStopLossPrice: z.union([decimalText, z.literal('')]).optional(),
    stpMode: stpMode.optional(),
  })
  .refine((item) => item.orderType === 'market' || item.price !== undefined, {
    path: ['price'],
    message: 'price is required when orderType is limit',
  })
  .refine((item) => item.orderType === 'market' || item.force !== undefined, {
    path: ['force'],
    message: 'force is required when orderType is limit',
  })

/** Places up to 50 orders of one symbol, product type, margin coin and margin mode. */
export const batchPlaceOrder = defineEndpoint({
  name: 'batchPlaceOrder',
  method: 'POST',
  path: '/api/v2/mix/order/batch-place-order',
  auth: 'schemeA',
  limit: { calls: 5, perMs: 1000, scope: 'uid', copyTraderCalls: 1 },
  retry: 'protocol',
  section: 'POST /api/v2/mix/order/batch-place-order (place orders in batch)',
  request: z.strictObject({
    symbol,
    productType,
    marginCoin,
    marginMode,
    orderList: z
      .array(order)
      .min(1)
      .max(BATCH_ORDERS_MAX, `orderList takes at most ${BATCH_ORDERS_MAX} items`),
  }),
  response: batchResult,
  rules: ({ orderList }, { positionMode }) =>
    orderList.flatMap((item, index) => {
      const at = `orderList.${index}`
      if (positionMode === 'hedge_mode') {
        return [
          ...(item.tradeSide === undefined ? [`${at}.tradeSide is required in hedge position mode`] : []),
          ...(item.reduceOnly === undefined ? [] : [`${at}.reduceOnly is for one-way position mode only`]),
        ]
      }
      return item.tradeSide === undefined ? [] : [`${at}.tradeSide must be omitted in one-way position mode`]
    }),
})

export type BatchPlaceRequest = z.input<(typeof batchPlaceOrder)['request']>
export type BatchPlaceItem = BatchPlaceRequest['orderList'][number]
