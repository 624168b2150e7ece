import type { WireRequestOf } from '../../protocol/endpoints.ts'
import { SPOT_HISTORY_PAGE_MAX } from '../../protocol/spot/spot-history-orders.ts'
import { textsOf } from '../wallet/rounding.ts'
import type { AccountRef } from '../shared/account.ts'
import { accept, type Reply } from '../shared/reply.ts'
import {
  lastNinetyDays,
  readHistory,
  type HistoryQuery,
  type HistoryRules,
} from '../shared/history-page.ts'
import { openOrdersOf } from '../services/pair-order.ts'
import { ZERO } from '../../lib/decimal.ts'
import type { SpotOrder } from './spot-order.ts'
import { toHistoryOrder, toOrderDetail, toUnfilledOrder } from './spot-order-view.ts'
import { refusals } from '../shared/refusals.ts'
import type { SpotSymbolRow } from './spot-symbol.ts'
import type { SpotState } from './spot-state.ts'

export function spotHistory(
  state: SpotState,
  { uid }: AccountRef,
  query: WireRequestOf<'spotHistoryOrders'>,
) {
  const boundAt = state.ports.accounts.find((account) => account.uid === uid)?.boundAt
  const page = orderPage(state, state.orders.of(uid), query, { refusesDisorder: true, boundAt })
  return page.ok ? accept(page.data.map((order) => toHistoryOrder(state, order))) : page
}

/** Document: by clientOid only if the client set it and nothing is filled. The orderId prevails. */
export function spotOrderInfo(
  state: SpotState,
  { uid }: AccountRef,
  { orderId, clientOid }: WireRequestOf<'spotOrderInfo'>,
) {
  if (orderId === undefined && clientOid === undefined) return refusals.idMissing
  const order =
    orderId === undefined
      ? state.orders
          .of(uid)
          .find(
            (one) => one.isClientOidOwn && one.clientOid === clientOid && one.filledBase.eq(ZERO),
          )
      : state.orders.find(uid, orderId)
  return accept(order === undefined ? [] : [toOrderDetail(state, order)])
}

export function spotUnfilled(state: SpotState, { uid }: AccountRef, query: SpotPageQuery) {
  const page = orderPage(state, openOrdersOf(state, uid), query)
  return page.ok ? accept(page.data.map(toUnfilledOrder)) : page
}

type SpotPageQuery = HistoryQuery & {
  readonly orderId?: string | undefined
  readonly symbol?: string | undefined
  readonly tpslType?: 'normal' | 'tpsl' | undefined
}

function orderPage(
  state: SpotState,
  orders: readonly SpotOrder[],
  { orderId, symbol, tpslType = 'normal', ...query }: SpotPageQuery,
  rules: Pick<HistoryRules, 'refusesDisorder' | 'boundAt'> = {},
): Reply<SpotOrder[]> {
  if (symbol && !state.pairs.has(symbol)) return refusals.symbolUnknown(symbol)
  return readHistory(orders, query, {
    limitMax: SPOT_HISTORY_PAGE_MAX,
    ...rules,
    span: lastNinetyDays,
    now: state.ports.clock.now,
    idOf: ({ id }) => id,
    timeOf: ({ createdAt }) => createdAt,
    accepts: (order) =>
      (orderId === undefined || order.id === orderId) &&
      (!symbol || order.symbol === symbol) &&
      (order.trigger === undefined) === (tpslType === 'normal'),
  })
}

export function spotAssetRows(
  state: SpotState,
  { uid }: AccountRef,
  {
    coin: asked,
    assetType,
  }: { readonly coin?: string | undefined; readonly assetType?: string | undefined },
) {
  const rows = [...state.ports.wallet.coins(uid, 'spot')]
    .filter(([coin]) => !asked || coin === asked.toUpperCase())
    .filter(([, { available, frozen }]) => assetType === 'all' || available.plus(frozen).gt(ZERO))
    .map(([coin, { available, frozen }]) => ({
      coin,
      ...textsOf({ available, frozen }),
      locked: '0',
      limitAvailable: '0',
      uTime: String(state.ports.clock.now),
    }))
  return accept(rows)
}

export function spotSymbolRows(
  state: SpotState,
  _: unknown,
  { symbol }: WireRequestOf<'spotSymbols'>,
): Reply<SpotSymbolRow[]> {
  if (!symbol) return accept(state.settings.symbols.map((row) => ({ ...row })))
  const pair = state.pairs.get(symbol)
  return pair === undefined ? refusals.symbolUnknown(symbol) : accept([{ ...pair.rules.row }])
}
