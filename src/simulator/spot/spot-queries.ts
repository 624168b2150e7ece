import { type Decimal, ZERO } from '../../lib/decimal.ts'
import type { WireRequestOf } from '../../protocol/endpoints.ts'
import { SPOT_HISTORY_PAGE_MAX } from '../../protocol/spot/spot-history-orders.ts'
import type { OrderStatus } from '../matching/book-order.ts'
import { obtainedCoin } from '../services/pair-order.ts'
import { openOrdersOf, pageOfOrders, pairOf } from '../services/pair-service.ts'
import type { AccountRef } from '../shared/account.ts'
import { type HistoryQuery, type HistoryRules, lastNinetyDays } from '../shared/history-page.ts'
import { refusals } from '../shared/refusals.ts'
import { accept, type Reply } from '../shared/reply.ts'
import { negated, textsOf } from '../wallet/rounding.ts'
import type { SpotOrder } from './spot-order.ts'
import type { SpotState } from './spot-state.ts'
import type { SpotSymbolRow } from './spot-symbol.ts'

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
  return pageOfOrders(state, orders, query, {
    limitMax: SPOT_HISTORY_PAGE_MAX,
    ...rules,
    span: lastNinetyDays,
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

function toHistoryOrder(state: SpotState, order: SpotOrder) {
  const isMarketSell = order.orderType === 'market' && !order.isQuoteSized
  const sold = order.filledQuote.gt(ZERO) ? order.filledQuote : order.quoteSize
  return {
    ...shared(order),
    size: amountText(isMarketSell ? sold : order.size),
    status: HISTORY_STATUS[order.status],
    feeDetail: feeText(state, order, order.hasOldFees ? ['coin'] : ['newFees']),
    ...triggerFields(order),
  }
}

function toOrderDetail(state: SpotState, order: SpotOrder) {
  return {
    ...shared(order),
    size: amountText(order.size),
    status: detailStatus(order),
    feeDetail: feeText(state, order, order.hasOldFees ? ['coin'] : ['coin', 'newFees']),
  }
}

function toUnfilledOrder(order: SpotOrder) {
  const { price, priceAvg, cancelReason: _none, ...rest } = shared(order)
  return {
    ...rest,
    priceAvg: price,
    basePrice: priceAvg || '0',
    size: amountText(order.size),
    status: detailStatus(order),
    ...triggerFields(order),
  }
}

const HISTORY_STATUS = {
  pending: 'init',
  live: 'new',
  partially_filled: 'partially_fill',
  filled: 'full_fill',
  cancelled: 'cancelled',
} as const satisfies Record<OrderStatus, string>

function detailStatus({ status }: SpotOrder): string {
  return status === 'pending' ? 'live' : status
}

function cancelText({ cancelReason }: SpotOrder): string {
  if (cancelReason === null) return ''
  return cancelReason === 'self_trade' ? 'stp_cancel' : 'normal_cancel'
}

function triggerFields({ trigger }: SpotOrder) {
  return {
    tpslType: trigger === undefined ? 'normal' : 'tpsl',
    triggerPrice: trigger === undefined ? null : amountText(trigger.price),
  }
}

function shared(order: SpotOrder) {
  const { filledBase, filledQuote } = order
  return {
    userId: order.uid,
    symbol: order.symbol,
    orderId: order.id,
    clientOid: order.clientOid,
    price: order.orderType === 'market' ? '0' : amountText(order.price),
    orderType: order.orderType,
    side: order.direction,
    priceAvg: filledBase.gt(ZERO) ? amountText(filledQuote.div(filledBase)) : '',
    baseVolume: amountText(filledBase),
    quoteVolume: amountText(filledQuote),
    enterPointSource: order.entry,
    orderSource: order.source,
    cTime: String(order.createdAt),
    uTime: String(order.updatedAt),
    cancelReason: cancelText(order),
  }
}

/** The document's samples have sixteen decimals with zeros. */
function amountText(amount: Decimal): string {
  return amount.toFixed(16)
}

/**
 * Document: feeDetail is JSON in a string, negative when the account pays. Recent orders have the
 * key `newFees`, earlier ones the fee coin's name; the detail endpoint has both.
 */
function feeText(
  state: SpotState,
  order: SpotOrder,
  keys: readonly ('newFees' | 'coin')[],
): string {
  const { fees, deductsFee, filledBase } = order
  if (!filledBase.gt(ZERO)) return ''
  const obtained = obtainedCoin(pairOf(state, order.symbol).rules, order)
  const coin = deductsFee ? state.settings.platformCoin.name : obtained
  const [d, r, t] = [paid(fees.deducted), paid(fees.remainder), paid(fees.total)]
  const texts = {
    newFees: `"newFees":{"c":0,"d":${d},"deduction":false,"r":${r},"t":${t},"totalDeductionFee":0}`,
    coin: `"${coin}":{"deduction":${deductsFee},"feeCoinCode":"${coin}","totalDeductionFee":${d},"totalFee":${t}}`,
  }
  const nameOf = (key: 'newFees' | 'coin') => (key === 'coin' ? coin : key).toLowerCase()
  const sorted = [...keys].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  return `{${sorted.map((key) => texts[key]).join(',')}}`
}

function paid(amount: Decimal): string {
  return amount.eq('0') ? '0' : negated(amount).toString()
}
