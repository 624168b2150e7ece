import { type Decimal } from '../../lib/decimal.ts'
import { type BookOrder } from '../matching/book-order.ts'

/** An order of spot or margin: it pays one coin of a pair with the other. */
export interface PairOrder extends BookOrder {
  readonly symbol: string
  /** Quote coin; zero for a market order of an account. */
  readonly price: Decimal
  /** Base coin, or quote coin. */
  readonly size: Decimal
  /** An account's market buy: so much is spent. */
  readonly isQuoteSized: boolean
  filledBase: Decimal
  filledQuote: Decimal
  /** Still set aside: quote coin of a buy, base coin of a sell. Nothing of the system's own. */
  frozen: Decimal
}

/** Unfilled, in the coin of its size. */
export function remainingOf(order: PairOrder): Decimal {
  return order.size.minus(order.isQuoteSized ? order.filledQuote : order.filledBase)
}
