import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { OrderStatus } from '../matching/book-order.ts'
import { pairOf } from '../services/pair-order.ts'
import { obtainedCoin } from '../services/pair-venue.ts'
import type { SpotOrder } from './spot-order.ts'
import { negated } from '../wallet/rounding.ts'
import type { SpotState } from './spot-state.ts'

export function toHistoryOrder(state: SpotState, order: SpotOrder) {
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

export function toOrderDetail(state: SpotState, order: SpotOrder) {
  return {
    ...shared(order),
    size: amountText(order.size),
    status: detailStatus(order),
    feeDetail: feeText(state, order, order.hasOldFees ? ['coin'] : ['coin', 'newFees']),
  }
}

export function toUnfilledOrder(order: SpotOrder) {
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

/** Samples have sixteen decimals with zeros; ours need fewer. */
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
