import { type ResponseOf } from '../../../protocol/endpoints.ts'
import { type ProductType } from '../../../protocol/values.ts'
import { type AccountRef } from '../../shared/account.ts'
import { accountOf, symbolOf, type Account, type CoreState } from '../../futures/core-state.ts'
import { cancelAll } from '../../futures/orders/cancel-orders.ts'
import { cancelRefusal } from '../../futures/instruments/delivery.ts'
import { cancelOrder } from '../../futures/orders/order-lifecycle.ts'
import { isOpen } from '../../matching/order-lifecycle.ts'
import { orderIdText, sequenceOfId, type Order } from '../../futures/orders/order.ts'
import { refusals } from '../../futures/refusals.ts'
import { accept, refuse, type OrderReference, type Reply } from '../../shared/reply.ts'
import { historyPage } from '../../shared/history-page.ts'
import { toOrderRow } from './futures-order-row.ts'
import { isOfAsked } from './listed-symbols.ts'
import { undocumentedRefusals } from './undocumented-refusals.ts'
import { type OrderName } from '../undocumented-row.ts'

type BatchResult = ResponseOf<'cancelAllOrders'>

interface PageQuery extends OrderName {
  readonly productType: string
  readonly symbol?: string | undefined
  readonly idLessThan?: string | undefined
  readonly limit?: string | undefined
  readonly startTime?: string | undefined
  readonly endTime?: string | undefined
}

interface NamedOrderRequest extends OrderName {
  readonly productType: string
  readonly symbol: string
}

interface CancelListRequest {
  readonly productType: ProductType
  readonly symbol?: string | undefined
  readonly marginCoin?: string | undefined
  readonly orderIdList?: readonly OrderName[] | undefined
}

/** Lists are silently cut here, whatever limit was asked. */
const PAGE_MAX = 100

/** One order, open or done within the idempotency window. */
export function futuresOrderDetail(state: CoreState, { uid }: AccountRef, request: NamedOrderRequest) {
  const account = accountOf(state, uid)
  const order = findOrder(state, account, request)
  return order === undefined
    ? refuse(undocumentedRefusals.orderUnknown())
    : accept(toOrderRow(state, account, order))
}

/** Open orders, newest first, whenever they were placed. */
export function futuresOrdersPending(
  state: CoreState,
  { uid }: AccountRef,
  { startTime: _start, endTime: _end, ...query }: PageQuery,
) {
  const account = accountOf(state, uid)
  return accept(orderPage(state, account, { query, orders: [...account.openOrders.values()] }))
}

/** Filled and cancelled orders, newest first: those of the idempotency window, no older ones are kept. */
export function futuresOrdersHistory(state: CoreState, { uid }: AccountRef, query: PageQuery) {
  const account = accountOf(state, uid)
  // They are kept in the order in which they ended.
  const orders = [...account.closedOrders.values()].sort((a, b) => a.sequence - b.sequence)
  return accept(orderPage(state, account, { query, orders }))
}

interface PageParts {
  readonly query: PageQuery
  /** Oldest first. */
  readonly orders: readonly Order[]
}

/** `endId` is the page's last: the next page's idLessThan. */
function orderPage(state: CoreState, account: Account, { query, orders }: PageParts) {
  const isListed = isOfAsked(state, query)
  const page = historyPage(orders, {
    idOf: ({ sequence }) => orderIdText(sequence),
    timeOf: ({ createdAt }) => createdAt,
    startAt: Number(query.startTime || 0),
    endAt: Number(query.endTime || Number.POSITIVE_INFINITY),
    idLessThan: query.idLessThan,
    limit: Math.min(PAGE_MAX, Number(query.limit ?? PAGE_MAX)),
    accepts: (order) =>
      isListed(order) &&
      (query.orderId === undefined || orderIdText(order.sequence) === query.orderId) &&
      (query.clientOid === undefined || order.clientOid === query.clientOid),
  })
  const rows = page.map((order) => toOrderRow(state, account, order))
  return { entrustedList: rows, endId: rows.at(-1)?.orderId ?? '' }
}

/** Cancels one order. */
export function cancelFuturesOrder(
  state: CoreState,
  { uid }: AccountRef,
  request: NamedOrderRequest,
): Reply<OrderReference> {
  const order = findOrder(state, accountOf(state, uid), request)
  if (order === undefined) return refuse(refusals.orderUnknown())
  if (!isOpen(order)) return refuse(refusals.noOrderToCancel())
  const refusal = cancelRefusal(symbolOf(state, order.symbol), state.clock.now)
  if (refusal !== undefined) return refuse(refusal)
  cancelOrder(state, order, 'user')
  return accept({ orderId: orderIdText(order.sequence), clientOid: order.clientOid })
}

/** Cancels the orders of a list; all of a product type, or of one symbol of it, when there is none. */
export function cancelFuturesOrders(
  state: CoreState,
  account: AccountRef,
  { orderIdList, symbol, productType, marginCoin }: CancelListRequest,
): Reply<BatchResult> {
  if (orderIdList === undefined) return cancelAll(state, account, { productType, symbol, marginCoin })
  const successList: BatchResult['successList'] = []
  const failureList: BatchResult['failureList'] = []
  for (const { orderId, clientOid } of orderIdList) {
    const named = orderNamed(accountOf(state, account.uid), { orderId, clientOid })
    const request = { orderId, clientOid, productType, symbol: symbol ?? named?.symbol ?? '' }
    const reply = cancelFuturesOrder(state, account, request)
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
  const { symbol, productType } = request
  const order = orderNamed(account, request)
  if (order?.symbol !== symbol) return undefined
  return symbolOf(state, symbol).instrument.productType === productType ? order : undefined
}

function orderNamed(account: Account, { orderId, clientOid }: OrderName): Order | undefined {
  if (orderId === undefined) return newestOf(account, clientOid)
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
