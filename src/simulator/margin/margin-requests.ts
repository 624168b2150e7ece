import { type LoanType, type MarginMode } from './orders/margin-order.ts'

/**
 * Placing, borrowing and repaying are outside the document; they are asked for in the words of the exchange's
 * undocumented endpoints. A limit order and a market sell name `baseSize`, a market buy `quoteSize`. Amounts are
 * decimal strings.
 */
export interface PlaceMarginOrderRequest {
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly orderType: 'limit' | 'market'
  /** Default `gtc`; a market order has none. */
  readonly force?: 'gtc' | 'post_only' | 'fok' | 'ioc' | undefined
  readonly price?: string | undefined
  readonly baseSize?: string | undefined
  readonly quoteSize?: string | undefined
  readonly loanType?: LoanType | undefined
  readonly clientOid?: string | undefined
}

/** A coin of one balance of an account. */
export interface LoanRequest {
  readonly mode: MarginMode
  /** Isolated only. */
  readonly symbol?: string | undefined
  readonly coin: string
  readonly amount: string
}
