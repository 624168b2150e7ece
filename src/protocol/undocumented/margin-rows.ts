import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { clientOid, force, orderReference, orderType, positiveDecimal, side, symbol } from '../values.ts'
import { byEitherId, changeColumns, placeColumns } from './shared-columns.ts'

/** Margin orders one at a time: outside the document, which reads, cancels in batch and liquidates them. */

const placing = {
  ...placeColumns,
  response: orderReference,
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
} as const

const cancelling = {
  ...changeColumns,
  response: orderReference,
  request: z.looseObject({ symbol, ...byEitherId }),
} as const

export const marginRows = {
  isolatedPlaceOrder: defineEndpoint({
    ...placing,
    name: 'isolatedPlaceOrder',
    path: '/api/v2/margin/isolated/place-order',
  }),
  crossedPlaceOrder: defineEndpoint({
    ...placing,
    name: 'crossedPlaceOrder',
    path: '/api/v2/margin/crossed/place-order',
  }),
  isolatedCancelOrder: defineEndpoint({
    ...cancelling,
    name: 'isolatedCancelOrder',
    path: '/api/v2/margin/isolated/cancel-order',
  }),
  crossedCancelOrder: defineEndpoint({
    ...cancelling,
    name: 'crossedCancelOrder',
    path: '/api/v2/margin/crossed/cancel-order',
  }),
} as const
