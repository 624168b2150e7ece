import { toStrategyId } from './ids.ts'
import type { Force } from './intent.ts'

/** Owns trades by hand, for which a person decides. */
export const MANUAL = toStrategyId('manual')

/** An order by hand, as a person writes it: decimals as text, in the base and the quote coin. */
export interface HandOrder {
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly size: string
  /** Absent: at the market. */
  readonly price?: string | undefined
  /** Default `gtc` with a price; a market order has none. */
  readonly force?: Force | undefined
  /** Closes what `manual` holds on the other side, and opens nothing. */
  readonly reduceOnly?: boolean | undefined
  readonly takeProfit?: string | undefined
  readonly stopLoss?: string | undefined
  /** Names the order for ever: a second one with this key is not placed. */
  readonly key: string
  /** The book forgot the key, and the journal knows it. */
  readonly isKeyUsed?: true
}
