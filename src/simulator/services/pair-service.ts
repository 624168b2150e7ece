import { ZERO, type Decimal } from '../../lib/decimal.ts'
import type { CancelReason, Trade } from '../matching/book-order.ts'
import { insertOrder, sideOf } from '../matching/order-book.ts'
import { cancelOrder, isOpen, pendingSince } from '../matching/order-lifecycle.ts'
import type { OrderMatching } from '../matching/order-matching.ts'
import { Histories } from '../shared/histories.ts'
import { type HistoryQuery, type HistoryRules, readHistory } from '../shared/history-page.ts'
import { known } from '../shared/known.ts'
import { serviceIdText } from '../shared/order-sequence.ts'
import type { BalanceName, CoinRef } from '../wallet/coin-money.ts'
import { negated, smaller } from '../wallet/rounding.ts'
import { PairMarket, type CoinPair } from './pair-market.ts'
import { costOf, obtainedCoin, paidCoin, remainingOf, type PairOrder } from './pair-order.ts'
import type { ServicePorts } from './service-ports.ts'

/** Orders on pairs of coins; spot and margin differ in their {@link PairRules}. */
export interface PairTrading<Order extends PairOrder, Rules extends CoinPair> {
  readonly ports: ServicePorts
  readonly rules: PairRules<Order>
  readonly pairs: ReadonlyMap<string, PairMarket<Order, Rules>>
  readonly orders: Histories<Order>
}

export interface PairRules<Order extends PairOrder> {
  readonly clock: { readonly now: number }
  balanceOf(order: Order): BalanceName
  /** The system's orders reserve nothing, and stop when the money ends. */
  readonly isForced: (order: Order) => boolean
  receive(order: Order, receipt: Receipt, now: number): void
  close(order: Order, unused: Decimal): void
}

export interface Receipt {
  readonly trade: Trade
  readonly balance: CoinRef
  readonly price: Decimal
  readonly amount: Decimal
}

interface PairOrdersOptions {
  readonly table: string
  readonly decimals: readonly string[]
  readonly ordersMax: number
}

export function openPairs<Order extends PairOrder, Rules extends CoinPair>(
  ports: ServicePorts,
  list: readonly Rules[],
  { table, decimals, ordersMax, ...rules }: PairOrdersOptions & PairRules<Order>,
): PairTrading<Order, Rules> {
  const pairs = new Map(
    list.map((symbol) => [symbol.symbol, new PairMarket<Order, Rules>(ports, symbol)]),
  )
  const orders = new Histories<Order>(ports.rows, {
    codec: {
      table,
      id: ({ id }) => id,
      decimals: ['price', 'size', 'filledBase', 'filledQuote', 'frozen', ...decimals],
    },
    max: ordersMax,
    ownerOf: ({ uid }) => uid,
    mayGo: (order) => !isOpen(order),
  })
  for (const order of orders.all()) {
    const pair = isOpen(order) ? pairs.get(order.symbol) : undefined
    if (pair === undefined) continue
    if (order.status === 'pending') pair.waiting.add(order)
    else insertOrder(sideOf(pair, order), order)
  }
  return { ports, rules, pairs, orders }
}

export function pairOf<Order extends PairOrder, Rules extends CoinPair>(
  { pairs }: Pick<PairTrading<Order, Rules>, 'pairs'>,
  symbol: string,
): PairMarket<Order, Rules> {
  return known(pairs, symbol, 'a pair')
}

export function openOrdersOf<Order extends PairOrder>(
  { pairs }: Pick<PairTrading<Order, CoinPair>, 'pairs'>,
  uid: string,
): readonly Order[] {
  return [...pairs.values()]
    .flatMap(({ buys, sells, waiting }) => [...buys.orders, ...sells.orders, ...waiting])
    .filter((order) => order.uid === uid)
    .sort((a, b) => a.sequence - b.sequence)
}

export function pageOfOrders<Order extends PairOrder>(
  { rules: { clock } }: Pick<PairTrading<Order, CoinPair>, 'rules'>,
  orders: readonly Order[],
  query: HistoryQuery,
  options: HistoryRules & { readonly accepts: (order: Order) => boolean },
) {
  return readHistory(orders, query, {
    ...options,
    now: clock.now,
    idOf: ({ id }) => id,
    timeOf: ({ createdAt }) => createdAt,
  })
}

export function isClientOidTaken<Order extends PairOrder>(
  { orders }: Pick<PairTrading<Order, CoinPair>, 'orders'>,
  uid: string,
  clientOid: string | undefined,
): boolean {
  return clientOid !== undefined && orders.of(uid).some((order) => order.clientOid === clientOid)
}

export function beginOrder<Order extends PairOrder>(
  { sequence: ids }: ServicePorts,
  pair: Pick<PairMarket<Order>, 'ticks'>,
  { orderType, price, at }: Pick<PairOrder, 'orderType' | 'price'> & { readonly at: number },
) {
  const sequence = ids.next()
  return {
    ...pendingSince(at),
    sequence,
    id: serviceIdText(sequence),
    filledBase: ZERO,
    filledQuote: ZERO,
    triggerTicks: 0,
    priceTicks: orderType === 'limit' ? pair.ticks(price) : 0,
  }
}

export function addOrder<Order extends PairOrder>(
  { ports, rules, orders }: Omit<PairTrading<Order, CoinPair>, 'pairs'>,
  pair: PairMarket<Order>,
  order: Order,
): Order {
  const coin = paidCoin(pair.rules, order)
  ports.wallet.freeze({ uid: order.uid, balance: rules.balanceOf(order), coin }, order.frozen)
  pair.waiting.add(order)
  orders.add(order)
  return order
}

export function cancelPairOrder<Order extends PairOrder, Rules extends CoinPair>(
  trading: PairTrading<Order, Rules>,
  order: Order,
  reason: CancelReason,
): void {
  cancelOrder(matchingOf(trading, pairOf(trading, order.symbol)), order, reason)
}

/** @param clock the exchange's, except while a past is written */
export function matchingOf<Order extends PairOrder>(
  { ports, orders, rules }: Omit<PairTrading<Order, CoinPair>, 'pairs'>,
  pair: PairMarket<Order>,
  clock = rules.clock,
): OrderMatching<Order> {
  const { isForced } = rules
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
    rules.receive(order, { trade, balance, price, amount }, clock.now)
    const isRest = order.orderType === 'limit' && remainingOf(order).gt(ZERO)
    // A fill below the order's own price releases the difference.
    if (isRest) release(order, order.frozen.minus(costOf({ ...order, size: remainingOf(order) })))
    return trade.lots
  }
  return {
    ...ports.matching,
    book: pair,
    get now() {
      return clock.now
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
