import { z } from 'zod'
import { defineEndpoint } from '../../protocol/endpoint.ts'
import {
  clientOid,
  force,
  orderReference,
  orderType,
  positiveDecimal,
  side,
  symbol,
} from '../../protocol/values.ts'

/** Placing a margin order: outside the document, which reads, cancels and liquidates them. */

const columns = {
  method: 'POST',
  auth: 'schemeA',
  limit: { calls: 10, perMs: 1000, scope: 'uid' },
  retry: 'protocol',
  section: 'outside: place a margin order',
  outside: true,
  request: z.looseObject({
    symbol,
    side,
    orderType,
    force: force.optional(),
    price: positiveDecimal.optional(),
    baseSize: positiveDecimal.optional(),
    quoteSize: positiveDecimal.optional(),
    loanType: z.enum(['normal', 'autoLoan', 'autoRepay', 'autoLoanAndRepay']),
    clientOid: clientOid.optional(),
  }),
  response: orderReference,
} as const

export const isolatedPlaceOrder = defineEndpoint({
  ...columns,
  name: 'isolatedPlaceOrder',
  path: '/api/v2/margin/isolated/place-order',
})

export const crossedPlaceOrder = defineEndpoint({
  ...columns,
  name: 'crossedPlaceOrder',
  path: '/api/v2/margin/crossed/place-order',
})
