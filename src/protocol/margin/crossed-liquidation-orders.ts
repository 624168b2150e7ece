import { defineEndpoint } from '../endpoint.ts'
import { liquidationPage, liquidationQuery } from './liquidation-record.ts'

/** Reads what was liquidated of the account's cross margin, newest first, a page at a time. */
export const crossedLiquidationOrders = defineEndpoint({
  name: 'crossedLiquidationOrders',
  method: 'GET',
  path: '/api/v2/margin/crossed/liquidation-order',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section:
    'GET /api/v2/margin/isolated/liquidation-order and GET /api/v2/margin/crossed/liquidation-order (liquidation orders)',
  request: liquidationQuery,
  response: liquidationPage,
})
