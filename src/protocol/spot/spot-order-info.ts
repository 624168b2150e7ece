import { z } from 'zod'
import { listOf } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { clientOid, exchangeId, receiveWindow, requestTime } from '../values.ts'
import { spotOrderDetail } from './spot-order.ts'

export const spotOrderInfo = defineEndpoint({
  name: 'spotOrderInfo',
  method: 'GET',
  path: '/api/v2/spot/trade/orderInfo',
  auth: 'schemeA',
  limit: { calls: 20, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/spot/trade/orderInfo (order detail)',
  request: z
    .strictObject({
      orderId: exchangeId.describe('Order ID; one of orderId and clientOid is required').optional(),
      clientOid: clientOid
        .describe(
          'Client order ID: works only when the client set it and nothing of the order is filled',
        )
        .optional(),
      requestTime: requestTime.optional(),
      receiveWindow: receiveWindow.optional(),
    })
    .refine(({ orderId, clientOid: own }) => orderId !== undefined || own !== undefined, {
      path: ['orderId'],
      message: 'one of orderId and clientOid is required',
    }),
  response: listOf(spotOrderDetail),
})
