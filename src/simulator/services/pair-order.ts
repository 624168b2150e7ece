import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { isOpen, pendingSince } from '../matching/order-lifecycle.ts'
import type { BookOrder } from '../matching/book-order.ts'
import { insertOrder, sideOf } from '../matching/order-book.ts'
import { Histories } from '../shared/histories.ts'
import { known } from '../shared/known.ts'
import { serviceIdText } from '../shared/order-sequence.ts'
import { PairMarket, type Pair } from './pair-market.ts'
import type { ServicePorts } from './service-ports.ts'

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
  /** Quote coin of a buy, base coin of a sell. Zero for the system. */
  frozen: Decimal
}

export interface OrderNames {
  readonly symbol: string
  readonly orderId?: string | undefined
  readonly clientOid?: string | undefined
}

export function remainingOf(order: PairOrder): Decimal {
  return order.size.minus(order.isQuoteSized ? order.filledQuote : order.filledBase)
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

interface PairOrdersOptions {
  readonly table: string
  readonly decimals: readonly string[]
  readonly ordersMax: number
}

export interface PairTrading<Order extends PairOrder, Rules extends Pair> {
  readonly ports: ServicePorts
  readonly pairs: ReadonlyMap<string, PairMarket<Order, Rules>>
  readonly orders: Histories<Order>
}

export function openPairs<Order extends PairOrder, Rules extends Pair>(
  ports: ServicePorts,
  list: readonly Rules[],
  { table, decimals, ordersMax }: PairOrdersOptions,
): PairTrading<Order, Rules> {
  const pairs = new Map(
    list.map((rules) => [rules.symbol, new PairMarket<Order, Rules>(ports, rules)]),
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
  return { ports, pairs, orders }
}

/** @throws Failure SIMULATOR_UNKNOWN */
export function pairOf<Order extends PairOrder, Rules extends Pair>(
  { pairs }: PairTrading<Order, Rules>,
  symbol: string,
): PairMarket<Order, Rules> {
  return known(pairs, symbol, 'a pair')
}

/** In the market or waiting for it, oldest first. */
export function openOrdersOf<Order extends PairOrder>(
  { pairs }: Pick<PairTrading<Order, Pair>, 'pairs'>,
  uid: string,
): readonly Order[] {
  return [...pairs.values()]
    .flatMap(({ buys, sells, waiting }) => [...buys.orders, ...sells.orders, ...waiting])
    .filter((order) => order.uid === uid)
    .sort((a, b) => a.sequence - b.sequence)
}
