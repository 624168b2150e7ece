import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { type BookOrder } from '../matching/book-order.ts'

/**
 * By the history's words:
 *
 *     init (waits for its trigger) -> new -> partially_fill -> full_fill
 *     any of the first three -> cancelled
 */
export type SpotStatus = 'init' | 'new' | 'partially_fill' | 'full_fill' | 'cancelled'
export type SpotCancelReason = 'normal_cancel' | 'stp_cancel'
export type SpotEntry = 'WEB' | 'API' | 'SYS' | 'ANDROID' | 'IOS'
export type SpotOrderSource = 'normal' | 'market' | 'spot_follower_buy' | 'spot_follower_sell'

/** What is asked for, after validation. */
export interface SpotTerms extends Pick<BookOrder, 'uid' | 'direction' | 'orderType' | 'force' | 'stpMode'> {
  readonly symbol: string
  /** Undefined: the exchange makes one. */
  readonly clientOid: string | undefined
  /** Zero for a market order. */
  readonly price: Decimal
  /** Base coin; quote coin for a market buy. */
  readonly size: Decimal
  readonly trigger: SpotTrigger | undefined
  readonly entry: SpotEntry
  readonly source: SpotOrderSource
  readonly deductsFee: boolean
}

export interface SpotTrigger {
  readonly price: Decimal
  /** Waits for a last price at or above it, else at or below. */
  readonly isAbove: boolean
}

/** What was charged so far, positive. Units: the coin obtained from the trade, but for `deducted`. */
export interface SpotFeeSums {
  readonly total: Decimal
  /** Platform coin. */
  readonly deducted: Decimal
  /** What the platform coin did not cover. */
  readonly remainder: Decimal
}

export interface SpotOrder extends Omit<SpotTerms, 'clientOid'>, BookOrder {
  readonly orderId: string
  readonly clientOid: string
  readonly isClientOidOwn: boolean
  /** 0 without a trigger. */
  readonly triggerTicks: number
  status: SpotStatus
  cancelReason: SpotCancelReason | undefined
  baseVolume: Decimal
  quoteVolume: Decimal
  fees: SpotFeeSums
  /** Still set aside: quote coin of a buy, base coin of a sell. */
  frozen: Decimal
  /** Of earlier data: its fees stand under a coin's name only. */
  readonly hasOldFees: boolean
  /** Quote coin: what the history gives as the size of a market order. */
  readonly quoteSize: Decimal
  readonly createdAt: number
  updatedAt: number
}

export const NO_FEES: SpotFeeSums = { total: ZERO, deducted: ZERO, remainder: ZERO }

export function isOpen({ status }: Pick<SpotOrder, 'status'>): boolean {
  return status !== 'full_fill' && status !== 'cancelled'
}

export function isMarketBuy({ orderType, direction }: Pick<SpotOrder, 'orderType' | 'direction'>): boolean {
  return orderType === 'market' && direction === 'buy'
}

/** Unfilled: base coin, quote coin for a market buy. */
export function remainingOf(order: SpotOrder): Decimal {
  return order.size.minus(isMarketBuy(order) ? order.quoteVolume : order.baseVolume)
}
