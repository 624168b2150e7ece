import { type WireRequestOf } from '../../protocol/endpoints.ts'
import { SPOT_HISTORY_PAGE_MAX } from '../../protocol/spot/spot-history-orders.ts'
import { accept, refuse, type Reply } from '../core/reply.ts'
import { historyPage, type HistoryQuery } from '../wallet/history-page.ts'
import { ZERO } from '../../lib/decimal.ts'
import { isOpen, type SpotOrder } from './spot-order.ts'
import {
  toHistoryOrder,
  toOrderDetail,
  toUnfilledOrder,
  type WireHistoryOrder,
  type WireOrder,
  type WireUnfilledOrder,
} from './spot-order-view.ts'
import { spotRefusals } from './spot-refusals.ts'
import { type SpotSymbolRow } from './spot-symbol.ts'
import { spotAccountOf, type SpotState } from './spot-state.ts'

/** Document: GET /api/v2/spot/trade/history-orders. Open orders stand in it too. */
export function spotHistory(
  state: SpotState,
  uid: string,
  query: WireRequestOf<'spotHistoryOrders'>,
): Reply<WireHistoryOrder[]> {
  const { symbol, tpslType = 'normal', startTime, endTime } = query
  if (symbol && !state.markets.has(symbol)) return refuse(spotRefusals.symbolUnknown(symbol))
  if (startTime && endTime && Number(startTime) > Number(endTime)) return refuse(spotRefusals.spanReversed())
  const page = historyPage([...spotAccountOf(state, uid).orders.values()], {
    query,
    limitByDefault: SPOT_HISTORY_PAGE_MAX,
    limitMax: SPOT_HISTORY_PAGE_MAX,
    now: state.clock.now,
    accepts: (order) =>
      (!symbol || order.symbol === symbol) && (order.trigger === undefined) === (tpslType === 'normal'),
  })
  return accept(page.map((order) => toHistoryOrder(state, order)))
}

/**
 * Document: GET /api/v2/spot/trade/orderInfo. By clientOid "only when that ID was set by the client (not
 * system generated) and the order is completely unfilled". The orderId prevails where both are given.
 */
export function spotOrderInfo(
  state: SpotState,
  uid: string,
  { orderId, clientOid }: WireRequestOf<'spotOrderInfo'>,
): Reply<WireOrder[]> {
  if (orderId === undefined && clientOid === undefined) return refuse(spotRefusals.idMissing())
  const account = spotAccountOf(state, uid)
  const order =
    orderId === undefined ? unfilled(account.byClientOid.get(clientOid ?? '')) : account.orders.get(orderId)
  return accept(order === undefined ? [] : [toOrderDetail(state, order)])
}

function unfilled(order: SpotOrder | undefined): SpotOrder | undefined {
  return order?.baseVolume.gt(ZERO) === true ? undefined : order
}

/** What the undocumented unfilled-orders is asked. */
export type UnfilledQuery = HistoryQuery & {
  readonly symbol?: string | undefined
  readonly tpslType?: 'normal' | 'tpsl' | undefined
}

/** The undocumented unfilled-orders: open orders, newest first. */
export function spotUnfilled(
  state: SpotState,
  uid: string,
  query: UnfilledQuery,
): Reply<WireUnfilledOrder[]> {
  const { symbol, tpslType = 'normal' } = query
  if (symbol && !state.markets.has(symbol)) return refuse(spotRefusals.symbolUnknown(symbol))
  const page = historyPage([...spotAccountOf(state, uid).orders.values()], {
    query,
    limitByDefault: SPOT_HISTORY_PAGE_MAX,
    limitMax: SPOT_HISTORY_PAGE_MAX,
    now: state.clock.now,
    accepts: (order) =>
      isOpen(order) &&
      (!symbol || order.symbol === symbol) &&
      (order.trigger === undefined) === (tpslType === 'normal'),
  })
  return accept(page.map(toUnfilledOrder))
}

/** The undocumented assets: what the spot balance holds; every coin that it ever held with `all`. */
export function spotAssetRows(
  state: SpotState,
  uid: string,
  { coin: asked, assetType }: { readonly coin?: string | undefined; readonly assetType?: string | undefined },
) {
  const rows = [...state.ports.wallet.coins(uid, 'spot')]
    .filter(([coin]) => !asked || coin === asked.toUpperCase())
    .filter(([, { available, frozen }]) => assetType === 'all' || available.plus(frozen).gt(ZERO))
    .map(([coin, { available, frozen }]) => ({
      coin,
      available: available.toString(),
      frozen: frozen.toString(),
      locked: '0',
      limitAvailable: '0',
      uTime: String(state.clock.now),
    }))
  return accept(rows)
}

/** Document: GET /api/v2/spot/public/symbols: "when blank, all symbols are returned". */
export function spotSymbolRows(
  state: SpotState,
  { symbol }: WireRequestOf<'spotSymbols'>,
): Reply<SpotSymbolRow[]> {
  if (!symbol) return accept(state.settings.symbols.map((row) => ({ ...row })))
  const market = state.markets.get(symbol)
  return market === undefined
    ? refuse(spotRefusals.symbolUnknown(symbol))
    : accept([{ ...market.symbol.row }])
}
