import { z } from 'zod'
import {
  clientOid,
  force,
  orderReference,
  orderType,
  positiveDecimal,
  side,
  symbol,
} from '../../protocol/values.ts'
import { cancelOne } from '../margin/orders/cancel-batch.ts'
import { type MarginState } from '../margin/margin-state.ts'
import { placeNow } from '../margin/orders/place-order.ts'
import { byEitherId, changeColumns, placeColumns, undocumented } from './undocumented-row.ts'

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

/** Margin orders one at a time: outside the document, which reads, cancels in batch and liquidates them. */
export const marginRows = {
  isolatedPlaceOrder: undocumented({
    ...placing,
    path: '/api/v2/margin/isolated/place-order',
    answer: (state: MarginState, { uid }, request) => placeNow(state, { uid, mode: 'isolated' }, request),
  }),
  crossedPlaceOrder: undocumented({
    ...placing,
    path: '/api/v2/margin/crossed/place-order',
    answer: (state: MarginState, { uid }, request) => placeNow(state, { uid, mode: 'crossed' }, request),
  }),
  isolatedCancelOrder: undocumented({
    ...cancelling,
    path: '/api/v2/margin/isolated/cancel-order',
    answer: (state: MarginState, { uid }, request) => cancelOne(state, { uid, mode: 'isolated' }, request),
  }),
  crossedCancelOrder: undocumented({
    ...cancelling,
    path: '/api/v2/margin/crossed/cancel-order',
    answer: (state: MarginState, { uid }, request) => cancelOne(state, { uid, mode: 'crossed' }, request),
  }),
}
