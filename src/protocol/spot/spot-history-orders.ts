import { z } from 'zod'
import { listOf } from '../answer-values.ts'
import { defineEndpoint } from '../endpoint.ts'
import { historyDepthProblems } from '../time-span.ts'
import { exchangeId, millisText, pageLimit, receiveWindow, requestTime, symbol } from '../values.ts'
import { spotHistoryOrder } from './spot-order.ts'

/** Document: "limit (optional, default 100, max 100)". */
export const SPOT_HISTORY_PAGE_MAX = 100

export const spotHistoryOrders = defineEndpoint({
  name: 'spotHistoryOrders',
  method: 'GET',
  path: '/api/v2/spot/trade/history-orders',
  auth: 'schemeA',
  limit: { calls: 20, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section: 'GET /api/v2/spot/trade/history-orders (historical orders)',
  textField: 'message',
  request: z.strictObject({
    symbol: symbol.describe('Trading pair').optional(),
    startTime: millisText
      .describe('From, Unix ms; for a managed sub-account not before the binding time')
      .optional(),
    endTime: millisText.describe('To, Unix ms').optional(),
    idLessThan: exchangeId.describe('The page before this orderId: older data').optional(),
    limit: pageLimit({ byDefault: 100, max: SPOT_HISTORY_PAGE_MAX }).optional(),
    orderId: exchangeId.describe('Order ID').optional(),
    tpslType: z
      .enum(['normal', 'tpsl'])
      .meta({ description: 'Spot orders, or take-profit and stop-loss orders', default: 'normal' })
      .optional(),
    requestTime: requestTime.optional(),
    receiveWindow: receiveWindow.optional(),
  }),
  response: listOf(spotHistoryOrder),
  rules: historyDepthProblems,
})
