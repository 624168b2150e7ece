import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { clientOid, exchangeId, millisText, pageLimit, symbol } from '../values.ts'
import { isolatedOrder, openOrdersPage } from './margin-order.ts'

/** Document: "limit — optional, default 100, max 500". */
export const MARGIN_PAGE_MAX = 500

/** Reads the orders of isolated margin that rest on one symbol. */
export const isolatedOpenOrders = defineEndpoint({
  name: 'isolatedOpenOrders',
  method: 'GET',
  path: '/api/v2/margin/isolated/open-orders',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section:
    'GET /api/v2/margin/isolated/open-orders and GET /api/v2/margin/crossed/open-orders (current orders)',
  request: z.strictObject({
    symbol: symbol.describe('Trading pair'),
    orderId: exchangeId.describe('Order ID').optional(),
    clientOid: clientOid.describe('Client-defined ID').optional(),
    startTime: millisText.describe('From, Unix ms').optional(),
    endTime: millisText.describe('To, Unix ms').optional(),
    limit: pageLimit({ byDefault: 100, max: MARGIN_PAGE_MAX }).optional(),
  }),
  response: openOrdersPage(isolatedOrder),
})
