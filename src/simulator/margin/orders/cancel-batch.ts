import type { WireRequestOf, WireResponseOf } from '../../../protocol/endpoints.ts'
import type { AccountRef } from '../../shared/account.ts'
import { accept, type OrderReference, type Reply } from '../../shared/reply.ts'
import { isNamed, referenceTo, type OrderNames } from '../../services/pair-order.ts'
import { cancelPairOrder, openOrdersOf } from '../../services/pair-service.ts'
import { isOpen } from '../../matching/order-lifecycle.ts'
import type { MarginAccountOrder, ModeOwner } from './margin-order.ts'
import { refusals } from '../../shared/refusals.ts'
import type { MarginState } from '../margin-state.ts'

/**
 * The document does not describe a request without `orderIdList`. As in futures it cancels the
 * symbol's isolated orders; an empty list cancels nothing. A failed item names the order's
 * `clientOid` if it exists.
 */
export function cancelBatch(
  state: MarginState,
  { uid }: AccountRef,
  { symbol, orderIdList }: WireRequestOf<'isolatedBatchCancelOrders'>,
): Reply<WireResponseOf<'isolatedBatchCancelOrders'>> {
  if (!state.pairs.has(symbol)) return refusals.symbolUnknown(symbol)
  if (orderIdList === undefined) {
    const resting = openOrdersOf(state, uid).filter(
      (order) => order.mode === 'isolated' && order.symbol === symbol,
    )
    return accept({ successList: resting.map((order) => cancel(state, order)), failureList: [] })
  }
  const { cancelItemsMax } = state.settings
  if (orderIdList.length > cancelItemsMax) return refusals.cancelTooMany(cancelItemsMax)
  const owner: ModeOwner = { uid, mode: 'isolated' }
  const successList: OrderReference[] = []
  const failureList: { clientOid: string; errorMsg: string }[] = []
  for (const { orderId, clientOid, clientId } of orderIdList) {
    const names = { symbol, orderId, clientOid: clientOid ?? clientId }
    const reply = cancelOne(state, owner, names)
    if (reply.ok) successList.push(reply.data)
    else {
      const meant = findOrder(state, owner, names)
      const asked = names.clientOid ?? (orderId === undefined ? '' : (meant?.clientOid ?? ''))
      failureList.push({ clientOid: asked, errorMsg: reply.message })
    }
  }
  return accept({ successList, failureList })
}

export function cancelOne(
  state: MarginState,
  owner: ModeOwner,
  names: OrderNames,
): Reply<OrderReference> {
  if (!state.pairs.has(names.symbol)) return refusals.symbolUnknown(names.symbol)
  if (names.orderId === undefined && names.clientOid === undefined) return refusals.idMissing
  const order = findOrder(state, owner, names)
  if (order === undefined) return refusals.orderUnknown
  return isOpen(order) ? accept(cancel(state, order)) : refusals.orderEnded
}

function findOrder(
  { orders }: MarginState,
  { uid, mode }: ModeOwner,
  names: OrderNames,
): MarginAccountOrder | undefined {
  return orders.of(uid).find((order) => order.mode === mode && isNamed(order, names))
}

function cancel(state: MarginState, order: MarginAccountOrder): OrderReference {
  cancelPairOrder(state, order, 'user')
  return referenceTo(order)
}
