import { type ResponseOf } from '../../protocol/endpoints.ts'
import { type ProductType } from '../../protocol/values.ts'
import { accountOf, symbolOf, type Account, type CoreState } from '../core/core-state.ts'
import { cancelAll } from '../core/cancel-orders.ts'
import { cancelRefusal } from '../core/delivery.ts'
import { cancelOrder } from '../core/order-lifecycle.ts'
import { isOpen, orderIdText, sequenceOfId, type Order } from '../core/order.ts'
import { refusals } from '../core/refusals.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'
import { toOrderRow } from './futures-order-row.ts'
import { undocumentedRefusals } from './undocumented-refusals.ts'

type BatchResult = ResponseOf<'cancelAllOrders'>

/** What names an order: when both ids are given, orderId prevails. */
export interface OrderName {
  readonly orderId?: string | undefined
  readonly clientOid?: string | undefined
}

export interface PendingQuery extends OrderName {
  readonly productType: string
  readonly symbol?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
}

export interface HistoryQuery extends PendingQuery {
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
}

export interface NamedOrderRequest extends OrderName {
  readonly productType: string
  readonly symbol: string
}

export interface CancelListRequest {
  readonly productType: ProductType
  readonly symbol?: string | undefined
  readonly marginCoin?: string | undefined
  readonly orderIdList?: readonly OrderName[] | undefined
}

/** Lists are silently cut here, whatever limit was asked. */
const PAGE_MAX = 100

/** One order, open or done within the idempotency window. */
export function futuresOrderDetail(state: CoreState, uid: string, request: NamedOrderRequest) {
  const account = accountOf(state, uid)
  const order = findOrder(state, account, request)
  return order === undefined
    ? refuse(undocumentedRefusals.orderUnknown())
    : accept(toOrderRow(state, account, order))
}

/** Open orders, newest first. `endId` is the page's last: the next page's idLessThan. */
export function futuresOrdersPending(state: CoreState, uid: string, query: PendingQuery) {
  const account = accountOf(state, uid)
  return accept(orderPage(state, account, { query, orders: [...account.openOrders.values()] }))
}

/** Filled and cancelled orders, newest first: those of the idempotency window, no older ones are kept. */
export function futuresOrdersHistory(state: CoreState, uid: string, query: HistoryQuery) {
  const account = accountOf(state, uid)
  const startAt = Number(query.startTime || 0)
  const endAt = Number(query.endTime || Number.POSITIVE_INFINITY)
  const orders = [...account.closedOrders.values()]
    .filter(({ createdAt }) => createdAt >= startAt && createdAt <= endAt)
    .sort((a, b) => a.sequence - b.sequence)
  return accept(orderPage(state, account, { query, orders }))
}

interface PageParts {
  readonly query: PendingQuery
  /** Oldest first. */
  readonly orders: readonly Order[]
}

function orderPage(state: CoreState, account: Account, { query, orders }: PageParts) {
  const limit = Math.min(PAGE_MAX, Number(query.limit ?? PAGE_MAX))
  const page = orders
    .filter((order) => isAsked(state, order, query))
    .reverse()
    .slice(0, limit)
  const last = page.at(-1)
  return {
    entrustedList: page.map((order) => toOrderRow(state, account, order)),
    endId: last === undefined ? '' : orderIdText(last.sequence),
  }
}

/** Cancels one order. */
export function futuresCancelOrder(
  state: CoreState,
  uid: string,
  request: NamedOrderRequest,
): Reply<{ readonly orderId: string; readonly clientOid: string }> {
  const account = accountOf(state, uid)
  const order = findOrder(state, account, request)
  if (order === undefined) return refuse(undocumentedRefusals.orderToCancelUnknown())
  if (!isOpen(order)) return refuse(refusals.noOrderToCancel())
  const refusal = cancelRefusal(symbolOf(state, order.symbol), state.clock.now)
  if (refusal !== undefined) return refuse(refusal)
  cancelOrder(state, order, 'user')
  return accept({ orderId: orderIdText(order.sequence), clientOid: order.clientOid })
}

/** Cancels the orders of a list; all of a product type, or of one symbol of it, when there is none. */
export function futuresCancelOrders(
  state: CoreState,
  uid: string,
  { orderIdList, symbol, productType, marginCoin }: CancelListRequest,
): Reply<BatchResult> {
  const account = accountOf(state, uid)
  if (orderIdList === undefined) return cancelAll(state, account, { productType, symbol, marginCoin })
  const successList: BatchResult['successList'] = []
  const failureList: BatchResult['failureList'] = []
  for (const { orderId, clientOid } of orderIdList) {
    const named = orderId === undefined ? newestOf(account, clientOid) : orderOfId(account, orderId)
    const request = { orderId, clientOid, productType, symbol: symbol ?? named?.symbol ?? '' }
    const reply = futuresCancelOrder(state, uid, request)
    if (reply.ok) successList.push(reply.data)
    else {
      const { code, message } = reply
      failureList.push({
        orderId: orderId ?? '',
        clientOid: clientOid ?? '',
        errorMsg: message,
        errorCode: code,
      })
    }
  }
  return accept({ successList, failureList })
}

function findOrder(state: CoreState, account: Account, request: NamedOrderRequest): Order | undefined {
  const { orderId, clientOid, symbol, productType } = request
  const order = orderId === undefined ? newestOf(account, clientOid) : orderOfId(account, orderId)
  if (order?.symbol !== symbol) return undefined
  return symbolOf(state, symbol).instrument.productType === productType ? order : undefined
}

function orderOfId(account: Account, orderId: string): Order | undefined {
  const sequence = sequenceOfId('11', orderId)
  if (sequence === undefined) return undefined
  return account.openOrders.get(sequence) ?? account.closedOrders.get(sequence)
}

/** A clientOid names the newest order that carried it. */
function newestOf(account: Account, clientOid: string | undefined): Order | undefined {
  if (clientOid === undefined) return undefined
  let newest: Order | undefined
  for (const orders of [account.closedOrders, account.openOrders]) {
    for (const order of orders.values()) {
      if (order.clientOid === clientOid && order.sequence > (newest?.sequence ?? 0)) newest = order
    }
  }
  return newest
}

function isAsked(state: CoreState, order: Order, query: PendingQuery): boolean {
  const orderId = orderIdText(order.sequence)
  return (
    symbolOf(state, order.symbol).instrument.productType === query.productType &&
    (query.symbol === undefined || order.symbol === query.symbol) &&
    (query.orderId === undefined || orderId === query.orderId) &&
    (query.clientOid === undefined || order.clientOid === query.clientOid) &&
    // Ids are of one length: they compare as texts.
    (query.idLessThan === undefined || orderId < query.idLessThan)
  )
}
