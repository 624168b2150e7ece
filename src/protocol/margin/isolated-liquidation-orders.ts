import { defineEndpoint } from '../endpoint.ts'
import { liquidationPage, liquidationQuery } from './liquidation-record.ts'

/** Reads what was liquidated of the account's isolated margin, newest first, a page at a time. */
export const isolatedLiquidationOrders = defineEndpoint({
  name: 'isolatedLiquidationOrders',
  method: 'GET',
  path: '/api/v2/margin/isolated/liquidation-order',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'safe',
  section:
    'GET /api/v2/margin/isolated/liquidation-order and GET /api/v2/margin/crossed/liquidation-order (liquidation orders)',
  request: liquidationQuery,
  response: liquidationPage,
})
