import { toStrategyId } from './ids.ts'
import type { Force } from './intent.ts'

export const MANUAL = toStrategyId('manual')

/** Decimals are text, in the base and the quote coin. */
export interface HandOrder {
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly size: string
  /** Absent: at the market. */
  readonly price?: string | undefined
  /** Default `gtc` with a price; a market order has none. */
  readonly force?: Force | undefined
  readonly reduceOnly?: boolean | undefined
  readonly takeProfit?: string | undefined
  readonly stopLoss?: string | undefined
  /** A second order with this key is not placed. */
  readonly key: string
  /** The journal knows the key, although the book forgot it. */
  readonly isKeyUsed?: true
}
