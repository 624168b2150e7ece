import type { Decimal } from '../../lib/decimal.ts'
import type { BookOrder } from '../matching/book-order.ts'
import type { OrderReference } from '../shared/reply.ts'
import type { CoinPair } from './pair-market.ts'

export interface PairOrder extends BookOrder {
  readonly id: string
  readonly clientOid: string
  readonly symbol: string
  /** Quote coin; zero for a market order of an account. */
  readonly price: Decimal
  readonly size: Decimal
  /** The size is an amount to spend, as in an account's market buy. */
  readonly isQuoteSized: boolean
  filledBase: Decimal
  filledQuote: Decimal
  /** Quote coin of a buy, base coin of a sell; zero for an order of the system. */
  frozen: Decimal
}

export interface OrderNames {
  readonly symbol: string
  readonly orderId?: string | undefined
  readonly clientOid?: string | undefined
}

export function isNamed(order: PairOrder, { symbol, orderId, clientOid }: OrderNames): boolean {
  return (
    order.symbol === symbol &&
    (orderId === undefined || order.id === orderId) &&
    (clientOid === undefined || order.clientOid === clientOid)
  )
}

export function referenceTo({ id, clientOid }: PairOrder): OrderReference {
  return { orderId: id, clientOid }
}

export function remainingOf(order: PairOrder): Decimal {
  return order.size.minus(order.isQuoteSized ? order.filledQuote : order.filledBase)
}

type Side = Pick<PairOrder, 'direction'>

export function paidCoin({ baseCoin, quoteCoin }: CoinPair, { direction }: Side): string {
  return direction === 'buy' ? quoteCoin : baseCoin
}

export function obtainedCoin({ baseCoin, quoteCoin }: CoinPair, { direction }: Side): string {
  return direction === 'buy' ? baseCoin : quoteCoin
}

export function costOf(
  order: Pick<PairOrder, 'direction' | 'isQuoteSized' | 'price' | 'size'>,
): Decimal {
  const { direction, isQuoteSized, price, size } = order
  return direction === 'sell' || isQuoteSized ? size : price.times(size)
}
