import { type WireRequestOf, type WireResponseOf } from '../../../protocol/endpoints.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accept, type OrderReference, type Refusal, type Reply } from '../../shared/reply.ts'
import { isOpen } from '../../matching/order-lifecycle.ts'
import { type MarginMode, type MarginOrder } from './margin-order.ts'
import { refusals } from '../../shared/refusals.ts'
import { type MarginState } from '../margin-state.ts'
import { cancelMarginOrder } from './margin-venue.ts'

type BatchCancelRequest = WireRequestOf<'isolatedBatchCancelOrders'>
type BatchCancelResult = WireResponseOf<'isolatedBatchCancelOrders'>
type CancelItem = NonNullable<BatchCancelRequest['orderIdList']>[number]

/**
 * Cancels isolated orders of one symbol. Document: POST /api/v2/margin/isolated/batch-cancel-order.
 *
 * The document has `symbol` required and `orderIdList` optional, and says nothing of a request without it.
 * Then the symbol is all that is named, so all that rests there goes, as with cancel-all of futures: the
 * account's own isolated orders of the symbol. An empty list is not a missing
 * one: it names nothing, and cancels nothing.
 *
 * An item's failure carries `clientOid` and `errorMsg` alone: the order's where there is one, else what was asked.
 */
export function cancelBatch(
  state: MarginState,
  { uid }: AccountRef,
  { symbol, orderIdList }: BatchCancelRequest,
): Reply<BatchCancelResult> {
  if (!state.symbols.has(symbol)) return refusals.symbolUnknown(symbol)
  if (orderIdList === undefined) return accept(cancelAllOf(state, uid, symbol))
  const { cancelItemsMax } = state.settings
  if (orderIdList.length > cancelItemsMax) return refusals.cancelTooMany(cancelItemsMax)
  const successList: OrderReference[] = []
  const failureList: { clientOid: string; errorMsg: string }[] = []
  for (const item of orderIdList) {
    const order = isNamed(item) ? findOrder(state, { uid, mode: 'isolated', symbol, item }) : undefined
    const refusal = isNamed(item) ? cancelRefusal(order) : refusals.idMissing
    if (order !== undefined && refusal === undefined) {
      cancelMarginOrder(state, order, 'user')
      successList.push({ orderId: order.id, clientOid: order.clientOid })
    } else {
      const clientOid = clientOidOf(item) ?? order?.clientOid ?? ''
      failureList.push({ clientOid, errorMsg: refusal?.message ?? '' })
    }
  }
  return accept({ successList, failureList })
}

/** What names one order; where both ids are given it must answer to both. */
interface CancelRequest {
  readonly symbol: string
  readonly orderId?: string | undefined
  readonly clientOid?: string | undefined
}

/** Outside the document: cancels one order, isolated or crossed. */
export function cancelOne(
  state: MarginState,
  { uid, mode }: { readonly uid: string; readonly mode: MarginMode },
  { symbol, orderId, clientOid }: CancelRequest,
): Reply<OrderReference> {
  if (!state.symbols.has(symbol)) return refusals.symbolUnknown(symbol)
  if (orderId === undefined && clientOid === undefined) return refusals.idMissing
  const order = findOrder(state, { uid, mode, symbol, item: { orderId, clientOid } })
  if (order === undefined) return refusals.orderUnknown
  const refusal = cancelRefusal(order)
  if (refusal !== undefined) return refusal
  cancelMarginOrder(state, order, 'user')
  return accept({ orderId: order.id, clientOid: order.clientOid })
}

function cancelAllOf(state: MarginState, uid: string, symbol: string): BatchCancelResult {
  const successList: OrderReference[] = []
  for (const order of state.orders.openOf(uid)) {
    if (order.mode !== 'isolated' || order.symbol !== symbol) continue
    cancelMarginOrder(state, order, 'user')
    successList.push({ orderId: order.id, clientOid: order.clientOid })
  }
  return { successList, failureList: [] }
}

function isNamed(item: CancelItem): boolean {
  return item.orderId !== undefined || clientOidOf(item) !== undefined
}

/** The client's id, under either of its names. */
function clientOidOf({ clientOid, clientId }: CancelItem): string | undefined {
  return clientOid ?? clientId
}

interface Wanted {
  readonly uid: string
  readonly mode: MarginMode
  readonly symbol: string
  readonly item: CancelItem
}

/** The order of the symbol that answers to every id of the item. */
function findOrder(state: MarginState, { uid, mode, symbol, item }: Wanted): MarginOrder | undefined {
  const clientOid = clientOidOf(item)
  const isMeant = (order: MarginOrder) =>
    order.mode === mode &&
    order.symbol === symbol &&
    (item.orderId === undefined || order.id === item.orderId) &&
    (clientOid === undefined || order.clientOid === clientOid)
  return state.orders.of(uid).find(isMeant)
}

function cancelRefusal(order: MarginOrder | undefined): Refusal | undefined {
  if (order === undefined) return refusals.orderUnknown
  if (!isOpen(order)) return refusals.orderEnded
  return undefined
}
