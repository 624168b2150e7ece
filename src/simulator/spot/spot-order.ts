import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { PairOrder } from '../services/pair-order.ts'

export type SpotEntry = 'WEB' | 'API' | 'SYS' | 'ANDROID' | 'IOS'
export type SpotOrderSource = 'normal' | 'market' | 'spot_follower_buy' | 'spot_follower_sell'

/** What is asked for, after validation. */
export interface SpotTerms extends Pick<
  PairOrder,
  | 'uid'
  | 'symbol'
  | 'direction'
  | 'orderType'
  | 'force'
  | 'stpMode'
  | 'price'
  | 'size'
  | 'isQuoteSized'
> {
  /** Undefined: the exchange makes one. */
  readonly clientOid: string | undefined
  /** Where it has one, the order is pending until the last price reaches it. */
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

export interface SpotOrder extends Omit<SpotTerms, 'clientOid'>, PairOrder {
  readonly isClientOidOwn: boolean
  fees: SpotFeeSums
  /** Of earlier data: its fees stand under a coin's name only. */
  readonly hasOldFees: boolean
  /** Quote coin: what the history gives as the size of a market order. */
  readonly quoteSize: Decimal
}

export const NO_FEES: SpotFeeSums = { total: ZERO, deducted: ZERO, remainder: ZERO }
