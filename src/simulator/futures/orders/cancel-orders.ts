import type { ResponseOf } from '../../../protocol/endpoints.ts'
import type { CancelAllRequest } from '../../../protocol/futures/cancel-all-orders.ts'
import type { AccountRef } from '../../shared/account.ts'
import { accept, eachOf, type OrderReference, type Reply } from '../../shared/reply.ts'
import { accountOf, symbolOf, type CoreState } from '../core-state.ts'
import { cancelRefusal } from '../instruments/delivery.ts'
import { isOfAsked, listedSymbol } from '../instruments/asked-symbols.ts'
import { refusals } from '../../shared/refusals.ts'
import { cancelOrder } from './order-lifecycle.ts'
import { referenceOf, type FuturesOrder } from './order.ts'

export function cancelAll(
  state: CoreState,
  { uid }: AccountRef,
  { symbol, productType, marginCoin }: CancelAllRequest,
): Reply<ResponseOf<'cancelAllOrders'>> {
  const named = symbol === undefined ? undefined : listedSymbol(state, { symbol, productType })
  if (named?.ok === false) return named
  const doomed = [...accountOf(state, uid).openOrders.values()]
    .filter(isOfAsked(state, { symbol, productType, marginCoin }))
    .map((order) => ({ order, ...referenceOf(order) }))
  if (doomed.length === 0 && state.settings.cancelAllEmpty === 'error')
    return refusals.noOrderToCancel
  return eachOf(doomed, ({ order }) => cancelByUser(state, order))
}

export function cancelByUser(state: CoreState, order: FuturesOrder): Reply<OrderReference> {
  const refusal = cancelRefusal(symbolOf(state, order.symbol), state.clock.now)
  if (refusal !== undefined) return refusal
  cancelOrder(state, order, 'user')
  return accept(referenceOf(order))
}
