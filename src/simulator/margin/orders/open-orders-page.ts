import type { WireRequestOf, WireResponseOf } from '../../../protocol/endpoints.ts'
import { accept, type Reply } from '../../shared/reply.ts'
import { isNamed } from '../../services/pair-order.ts'
import { openOrdersOf, pageOfOrders } from '../../services/pair-service.ts'
import type { HistoryRules } from '../../shared/history-page.ts'
import { roundNearest } from '../../wallet/rounding.ts'
import type { MarginAccountOrder, ModeOwner } from './margin-order.ts'
import { refusals } from '../../shared/refusals.ts'
import type { MarginState } from '../margin-state.ts'

/**
 * Document: "limit: optional, default 100, max 500". For crossed orders it states no maximum, so a
 * larger limit is cut.
 */
const OPEN_ORDERS: HistoryRules = { limitUsual: 100, limitMax: 500, refusesDisorder: true }

/**
 * Newest first. A query by id shows an order of any state, since the document has no endpoint for
 * ended ones.
 */
export function openOrdersPage(
  state: MarginState,
  { uid, mode }: ModeOwner,
  query: WireRequestOf<'crossedOpenOrders'> | WireRequestOf<'isolatedOpenOrders'>,
): Reply<WireResponseOf<'crossedOpenOrders'>> {
  if (!state.pairs.has(query.symbol)) return refusals.symbolUnknown(query.symbol)
  if (mode === 'crossed' && query.startTime === undefined)
    return refusals.parameterEmpty('startTime')
  const hasName = query.orderId !== undefined || query.clientOid !== undefined
  const page = pageOfOrders(
    state,
    hasName ? state.orders.of(uid) : openOrdersOf(state, uid),
    query,
    {
      ...OPEN_ORDERS,
      refusedLimits: mode === 'isolated' ? 'outOfRange' : 'belowOne',
      accepts: (order) => order.mode === mode && isNamed(order, query),
    },
  )
  if (!page.ok) return page
  const orderList = page.data.map(toWireOrder)
  return accept({ orderList, maxId: page.data[0]?.id ?? '', minId: page.data.at(-1)?.id ?? '' })
}

/** Document, Margin order: `size` and `amount` are filled, `baseSize` and `quoteSize` ordered. */
export function toWireOrder(order: MarginAccountOrder) {
  const { price, size, isQuoteSized, filledBase, filledQuote } = order
  return {
    symbol: order.symbol,
    orderType: order.orderType,
    enterPointSource: order.source,
    orderId: order.id,
    clientOid: order.clientOid,
    loanType: order.loanType,
    price: price.toString(),
    side: wireSide(order),
    status: statusOf(order),
    baseSize: isQuoteSized ? '0' : size.toString(),
    quoteSize: (isQuoteSized ? size : price.times(size)).toString(),
    // In crossed mode the document calls it the order price.
    priceAvg: order.mode === 'crossed' && price.gt('0') ? price.toString() : averagePrice(order),
    size: filledBase.toString(),
    amount: filledQuote.toString(),
    force: order.force,
    cTime: String(order.createdAt),
    uTime: String(order.updatedAt),
  }
}

export function averagePrice(
  order: Pick<MarginAccountOrder, 'filledBase' | 'filledQuote'>,
): string {
  const { filledBase, filledQuote } = order
  return filledBase.eq('0') ? '0' : roundNearest(filledQuote.div(filledBase)).toString()
}

/** Document: only a crossed order's side names the system's action. */
function wireSide({ mode, purpose, direction }: MarginAccountOrder): string {
  if (mode === 'isolated' || purpose === 'trade') return direction
  if (purpose === 'liquidation') return `liquidation-${direction}`
  // Document: "`systemRepay-selll` (spelled so)".
  return direction === 'buy' ? 'systemRepay-buy' : 'systemRepay-selll'
}

function statusOf({ status, cancelReason }: MarginAccountOrder) {
  if (status === 'cancelled') return cancelReason === 'post_only' ? 'reject' : 'cancelled'
  return status === 'partially_filled' ? 'partial_fill' : status
}
