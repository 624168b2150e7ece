import { type ResponseOf } from '../../../protocol/endpoints.ts'
import { type CancelAllRequest } from '../../../protocol/futures/cancel-all-orders.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type CoreState } from '../core-state.ts'
import { cancelRefusal } from '../instruments/delivery.ts'
import { cancelOrder } from './order-lifecycle.ts'
import { orderIdText } from './order.ts'
import { refusals } from '../refusals.ts'
import { accept, refuse, type Reply } from '../../shared/reply.ts'

/** What batch-place and cancel-all answer. */
type BatchResult = ResponseOf<'batchPlaceOrder'>

/**
 * Cancels every normal order of a product type, or of one symbol of it; trigger orders and position exits
 * stay. Document: POST /api/v2/mix/order/cancel-all-orders. Orders still on their way to matching go too.
 */
export function cancelAll(
  state: CoreState,
  { uid }: AccountRef,
  request: CancelAllRequest,
): Reply<BatchResult> {
  const named = request.symbol === undefined ? undefined : state.symbols.get(request.symbol)
  if (request.symbol !== undefined && named?.instrument.productType !== request.productType) {
    return refuse(refusals.symbolUnknown(request.symbol))
  }
  const result: BatchResult = { successList: [], failureList: [] }
  for (const order of [...accountOf(state, uid).openOrders.values()]) {
    const symbol = symbolOf(state, order.symbol)
    const { productType, marginCoin } = symbol.instrument
    if (productType !== request.productType || (named !== undefined && symbol !== named)) continue
    if (request.marginCoin !== undefined && request.marginCoin !== marginCoin) continue
    const ids = { orderId: orderIdText(order.sequence), clientOid: order.clientOid }
    const refusal = cancelRefusal(symbol, state.clock.now)
    if (refusal === undefined) {
      cancelOrder(state, order, 'user')
      result.successList.push(ids)
    } else {
      result.failureList.push({ ...ids, errorMsg: refusal.message, errorCode: refusal.code })
    }
  }
  const isEmpty = result.successList.length + result.failureList.length === 0
  return isEmpty && state.settings.cancelAllEmpty === 'error'
    ? refuse(refusals.noOrderToCancel())
    : accept(result)
}
