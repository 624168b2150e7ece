import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { PairOrder } from '../services/pair-order.ts'

export type SpotEntry = 'WEB' | 'API' | 'SYS' | 'ANDROID' | 'IOS'
export type SpotOrderSource = 'normal' | 'market' | 'spot_follower_buy' | 'spot_follower_sell'

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
  readonly clientOid: string | undefined
  readonly trigger: SpotTrigger | undefined
  readonly entry: SpotEntry
  readonly source: SpotOrderSource
  readonly deductsFee: boolean
}

export interface SpotTrigger {
  readonly price: Decimal
  readonly isAbove: boolean
}

/** Positive, and except `deducted` in the obtained coin. */
export interface SpotFeeSums {
  readonly total: Decimal
  readonly deducted: Decimal
  readonly remainder: Decimal
}

export interface SpotOrder extends Omit<SpotTerms, 'clientOid'>, PairOrder {
  readonly isClientOidOwn: boolean
  fees: SpotFeeSums
  /** The fees of earlier orders are only under a coin's name. */
  readonly hasOldFees: boolean
  readonly quoteSize: Decimal
}

export const NO_FEES: SpotFeeSums = { total: ZERO, deducted: ZERO, remainder: ZERO }
