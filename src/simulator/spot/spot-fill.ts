import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { removeOrder, sideOf } from '../matching/order-book.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { platformCoinPrice } from '../wallet/platform-coin.ts'
import { roundUp } from '../wallet/rounding.ts'
import {
  isMarketBuy,
  remainingOf,
  type SpotCancelReason,
  type SpotFeeSums,
  type SpotOrder,
} from './spot-order.ts'
import {
  obtainedCoin,
  paidCoin,
  SPOT_ORDERS,
  spotMarketOf,
  spotBalance,
  type SpotState,
} from './spot-state.ts'

/** One meeting of an order with the market. */
export interface SpotFill {
  /** Base coin; not more than remains. */
  readonly base: Decimal
  readonly price: Decimal
  readonly scope: 'taker' | 'maker'
  /** Unix ms. */
  readonly at: number
}

/** Decimals of amounts in the platform's own coin. */
const PLATFORM_DECIMALS = 8

/** Moves the coins, charges the fee, counts the fill, and ends the order when nothing remains. */
export function fillOrder(state: SpotState, order: SpotOrder, fill: SpotFill): void {
  const market = spotMarketOf(state, order.symbol)
  const quote = fill.base.times(fill.price)
  const [paid, obtained] = order.direction === 'buy' ? [quote, fill.base] : [fill.base, quote]
  const { wallet } = state.ports
  wallet.book(spotBalance(order.uid, paidCoin(market, order)), 'trade', paid.times('-1'), 'frozen')
  wallet.book(spotBalance(order.uid, obtainedCoin(market, order)), 'trade', obtained)
  order.frozen = order.frozen.minus(paid)
  order.baseVolume = order.baseVolume.plus(fill.base)
  order.quoteVolume = order.quoteVolume.plus(quote)
  order.fees = addFees(order.fees, chargeFee(state, order, { ...fill, obtained }))
  order.status = 'partially_fill'
  order.updatedAt = fill.at
  if (!remainingOf(order).gt(ZERO)) return endOrder(state, order, 'full_fill', fill.at)
  if (order.orderType === 'limit' && order.direction === 'buy') {
    release(state, order, order.frozen.minus(remainingOf(order).times(order.price)))
  }
  state.ports.rows.put(SPOT_ORDERS, order)
}

export function cancelOrder(state: SpotState, order: SpotOrder, reason: SpotCancelReason, at: number): void {
  order.cancelReason = reason
  endOrder(state, order, 'cancelled', at)
}

/** What a price and the order's precision leave of a market buy is too little for one more unit of base. */
export function endMarketBuy(state: SpotState, order: SpotOrder, at: number): void {
  if (isMarketBuy(order)) endOrder(state, order, 'full_fill', at)
}

function endOrder(state: SpotState, order: SpotOrder, status: 'full_fill' | 'cancelled', at: number): void {
  release(state, order, order.frozen)
  order.status = status
  order.updatedAt = at
  const { book, waiting } = spotMarketOf(state, order.symbol)
  waiting.delete(order)
  removeOrder(sideOf(book, order), order)
  state.ports.rows.put(SPOT_ORDERS, order)
}

function release(state: SpotState, order: SpotOrder, amount: Decimal): void {
  if (!amount.gt(ZERO)) return
  const coin = paidCoin(spotMarketOf(state, order.symbol), order)
  state.ports.wallet.unfreeze(spotBalance(order.uid, coin), amount)
  order.frozen = order.frozen.minus(amount)
}

/**
 * The fee is a share of what was obtained. With deduction it is paid in the platform's own coin, cheaper;
 * what that coin's balance does not cover is paid out of the obtained coin.
 */
function chargeFee(
  state: SpotState,
  order: SpotOrder,
  { obtained, scope, price, at }: SpotFill & { readonly obtained: Decimal },
): SpotFeeSums {
  const market = spotMarketOf(state, order.symbol)
  const { takerFeeRate, makerFeeRate } = market.symbol
  const total = obtained.times(scope === 'taker' ? takerFeeRate : makerFeeRate)
  const inQuote = order.direction === 'buy' ? total.times(price) : total
  const deduction = order.deductsFee ? deductFee(state, order, { inQuote, total, at }) : undefined
  const { deducted, remainder } = deduction ?? { deducted: ZERO, remainder: total }
  bookFee(state, spotBalance(order.uid, obtainedCoin(market, order)), remainder)
  bookFee(state, spotBalance(order.uid, state.settings.platformCoin.name), deducted)
  return { total, deducted, remainder }
}

function bookFee(state: SpotState, balance: CoinRef, amount: Decimal): void {
  if (amount.gt(ZERO)) state.ports.wallet.book(balance, 'fee', amount.times('-1'))
}

function deductFee(
  state: SpotState,
  { uid }: SpotOrder,
  { inQuote, total, at }: { readonly inQuote: Decimal; readonly total: Decimal; readonly at: number },
): Pick<SpotFeeSums, 'deducted' | 'remainder'> {
  const { platformCoin, deductionRatio } = state.settings
  const worth = inQuote.times(deductionRatio)
  const price = decimal(platformCoinPrice(platformCoin, state.ports.seed, at))
  const needed = roundUp(worth.div(price), PLATFORM_DECIMALS)
  const { available } = state.ports.wallet.coin(spotBalance(uid, platformCoin.name))
  if (available.gte(needed)) return { deducted: needed, remainder: ZERO }
  const uncovered = needed.minus(available).div(needed)
  return { deducted: available, remainder: roundUp(total.times(uncovered), PLATFORM_DECIMALS) }
}

function addFees(sums: SpotFeeSums, fees: SpotFeeSums): SpotFeeSums {
  return {
    total: sums.total.plus(fees.total),
    deducted: sums.deducted.plus(fees.deducted),
    remainder: sums.remainder.plus(fees.remainder),
  }
}
