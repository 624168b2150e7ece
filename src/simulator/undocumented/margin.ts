import { orderReference, symbol } from '../../protocol/values.ts'
import { cancelOne } from '../margin/orders/cancel-batch.ts'
import type { ExchangeMarginMode } from '../shared/account.ts'
import { placeMarginFields, placeNow } from '../margin/orders/place-order.ts'
import type { MarginState } from '../margin/margin-state.ts'
import { byEitherId, change, place } from './undocumented-row.ts'

/** Places and cancels single margin orders, which the document cannot. */
export const marginRows = {
  isolatedPlaceOrder: placeRow('isolated'),
  crossedPlaceOrder: placeRow('crossed'),
  isolatedCancelOrder: cancelRow('isolated'),
  crossedCancelOrder: cancelRow('crossed'),
}

function placeRow(mode: ExchangeMarginMode) {
  return place(`/margin/${mode}/place-order`, {
    asks: placeMarginFields,
    shows: orderReference,
    answer: (state: MarginState, { uid }, request) => placeNow(state, { uid, mode }, request),
  })
}

function cancelRow(mode: ExchangeMarginMode) {
  return change(`/margin/${mode}/cancel-order`, {
    asks: { symbol, ...byEitherId },
    shows: orderReference,
    answer: (state: MarginState, { uid }, request) => cancelOne(state, { uid, mode }, request),
  })
}
