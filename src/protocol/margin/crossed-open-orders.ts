import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { clientOid, exchangeId, millisText, pageLimit, symbol } from '../values.ts'
import { crossedOrder, openOrdersPage } from './margin-order.ts'

/** Reads the orders of cross margin that rest on one symbol. The document gives `limit` no maximum. */
export const crossedOpenOrders = defineEndpoint({
  name: 'crossedOpenOrders',
  method: 'GET',
  path: '/api/v2/margin/crossed/open-orders',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section:
    'GET /api/v2/margin/isolated/open-orders and GET /api/v2/margin/crossed/open-orders (current orders)',
  request: z.strictObject({
    symbol: symbol.describe('Trading pair'),
    orderId: exchangeId.describe('Order ID').optional(),
    clientOid: clientOid.describe('Client-defined ID').optional(),
    startTime: millisText.describe('From, Unix ms'),
    endTime: millisText.describe('To, Unix ms').optional(),
    limit: pageLimit({ byDefault: 100 }).optional(),
    idLessThan: exchangeId.describe('Records with a smaller ID than the last loanId returned').optional(),
  }),
  response: openOrdersPage(crossedOrder),
})
