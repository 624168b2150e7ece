import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { Trade } from '../matching/book-order.ts'
import type { Venue } from '../matching/venue.ts'
import type { BalanceName, CoinRef } from '../wallet/coin-money.ts'
import { negated, smaller } from '../wallet/rounding.ts'
import type { Pair, PairMarket } from './pair-market.ts'
import { remainingOf, type PairOrder, type PairTrading } from './pair-order.ts'

export interface Receipt {
  readonly trade: Trade
  readonly balance: CoinRef
  readonly price: Decimal
  readonly amount: Decimal
}

export interface PairRules<Order extends PairOrder> {
  readonly trading: Pick<PairTrading<Order, Pair>, 'ports' | 'orders'>
  readonly clock: { readonly now: number }
  readonly pair: PairMarket<Order>
  balanceOf(order: Order): BalanceName
  /** The system's orders reserve nothing, and stop when the money ends. */
  readonly isForced: (order: Order) => boolean
  receive(order: Order, receipt: Receipt): void
  close(order: Order, unused: Decimal): void
}

export function createPairVenue<Order extends PairOrder>(rules: PairRules<Order>): Venue<Order> {
  const { pair, isForced } = rules
  const { ports, orders } = rules.trading
  const { wallet } = ports
  const balanceIn = (order: Order, coin: string): CoinRef => {
    return { uid: order.uid, balance: rules.balanceOf(order), coin }
  }
  const paidBalance = (order: Order): CoinRef => balanceIn(order, paidCoin(pair.rules, order))
  const wantedLots = (order: Order, ticks: number): number => {
    const price = pair.price(ticks)
    const remaining = remainingOf(order)
    const wanted = order.isQuoteSized ? remaining.div(price) : remaining
    if (!isForced(order)) return pair.lots(wanted)
    const { available } = wallet.coin(paidBalance(order))
    return pair.lots(smaller(wanted, order.direction === 'buy' ? available.div(price) : available))
  }
  const release = (order: Order, amount: Decimal): void => {
    if (!amount.gt(ZERO)) return
    wallet.unfreeze(paidBalance(order), amount)
    order.frozen = order.frozen.minus(amount)
  }
  const settle = (order: Order, trade: Trade): number => {
    const [base, price] = [pair.size(trade.lots), pair.price(trade.ticks)]
    const quote = base.times(price)
    const [paid, amount] = order.direction === 'buy' ? [quote, base] : [base, quote]
    const balance = balanceIn(order, obtainedCoin(pair.rules, order))
    wallet.book(
      paidBalance(order),
      'trade',
      negated(paid),
      isForced(order) ? 'available' : 'frozen',
    )
    if (!isForced(order)) order.frozen = order.frozen.minus(paid)
    wallet.book(balance, 'trade', amount)
    order.filledBase = order.filledBase.plus(base)
    order.filledQuote = order.filledQuote.plus(quote)
    rules.receive(order, { trade, balance, price, amount })
    const isRest = order.orderType === 'limit' && remainingOf(order).gt(ZERO)
    // A fill below the order's own price releases the difference.
    if (isRest) release(order, order.frozen.minus(costOf({ ...order, size: remainingOf(order) })))
    return trade.lots
  }
  return {
    ...ports.matching,
    book: pair,
    get now() {
      return rules.clock.now
    },
    wantedLots,
    isForced,
    settle,
    isFilled: (order) => !remainingOf(order).gt(ZERO),
    isSpent: (order) => {
      if (isForced(order)) return order.filledBase.gt(ZERO)
      return order.isQuoteSized && wantedLots(order, pair.nextAsk()) === 0
    },
    isPointless: () => false,
    stopWaiting: (order) => pair.waiting.delete(order),
    close: (order) => {
      const unused = order.frozen
      release(order, unused)
      rules.close(order, unused)
    },
    putOrder: (order) => orders.put(order),
    putMarket: () => pair.put(),
  }
}

export function paidCoin(
  { baseCoin, quoteCoin }: Pair,
  { direction }: Pick<PairOrder, 'direction'>,
): string {
  return direction === 'buy' ? quoteCoin : baseCoin
}

export function obtainedCoin(
  { baseCoin, quoteCoin }: Pair,
  { direction }: Pick<PairOrder, 'direction'>,
): string {
  return direction === 'buy' ? baseCoin : quoteCoin
}

export function costOf(
  order: Pick<PairOrder, 'direction' | 'isQuoteSized' | 'price' | 'size'>,
): Decimal {
  const { direction, isQuoteSized, price, size } = order
  return direction === 'sell' || isQuoteSized ? size : price.times(size)
}
