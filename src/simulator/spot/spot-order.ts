import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { PairOrder } from '../services/pair-order.ts'

export type SpotEntry = 'WEB' | 'API' | 'SYS' | 'ANDROID' | 'IOS'
export type SpotOrderSource = 'normal' | 'market' | 'spot_follower_buy' | 'spot_follower_sell'

/** The validated terms of an order. */
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
  /** Undefined: the exchange creates one. */
  readonly clientOid: string | undefined
  /** If present, the order is pending until the last price reaches it. */
  readonly trigger: SpotTrigger | undefined
  readonly entry: SpotEntry
  readonly source: SpotOrderSource
  readonly deductsFee: boolean
}

export interface SpotTrigger {
  readonly price: Decimal
  /** Whether it waits for a last price at or above it; else at or below. */
  readonly isAbove: boolean
}

/** Fees charged so far, positive. Units: the coin obtained from the trade, except `deducted`. */
export interface SpotFeeSums {
  readonly total: Decimal
  /** In the platform coin. */
  readonly deducted: Decimal
  /** Part that the platform coin did not cover. */
  readonly remainder: Decimal
}

export interface SpotOrder extends Omit<SpotTerms, 'clientOid'>, PairOrder {
  readonly isClientOidOwn: boolean
  fees: SpotFeeSums
  /** Whether it belongs to earlier data, whose fees are only under a coin's name. */
  readonly hasOldFees: boolean
  /** Size of a market order in the history, in quote coin. */
  readonly quoteSize: Decimal
}

export const NO_FEES: SpotFeeSums = { total: ZERO, deducted: ZERO, remainder: ZERO }
