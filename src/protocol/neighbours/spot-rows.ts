import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import {
  clientOid,
  exchangeId,
  force,
  foreignClientOid,
  orderReference,
  orderType,
  positiveDecimal,
  side,
  symbol,
} from '../values.ts'

/** Spot orders outside the document, which can only read what was ordered. */

const limit = { calls: 10, perMs: 1000, scope: 'uid' } as const

export const spotPlaceOrder = defineEndpoint({
  name: 'spotPlaceOrder',
  method: 'POST',
  path: '/api/v2/spot/trade/place-order',
  auth: 'schemeA',
  limit,
  retry: 'protocol',
  section: 'outside: place a spot order',
  outside: true,
  request: z.looseObject({
    symbol,
    side,
    orderType,
    force: force.optional(),
    price: positiveDecimal.optional(),
    size: positiveDecimal.describe('Base coin; of a market buy the quote coin'),
    clientOid: clientOid.optional(),
  }),
  response: orderReference,
})

export const spotCancelOrder = defineEndpoint({
  name: 'spotCancelOrder',
  method: 'POST',
  path: '/api/v2/spot/trade/cancel-order',
  auth: 'schemeA',
  limit,
  retry: 'repeatable',
  section: 'outside: cancel a spot order',
  outside: true,
  request: z.looseObject({
    symbol,
    orderId: exchangeId.optional(),
    clientOid: foreignClientOid.optional(),
  }),
  response: orderReference,
})
