import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { larger, negated, roundDown, roundUp, smaller } from './amounts.ts'
import { payBack } from './loans.ts'
import { balanceRefOf, repays, type MarginOrder } from './margin-order.ts'
import { putOrder } from './margin-rows.ts'
import { coinIn, marketOf, moneyOf, type MarginState } from './margin-state.ts'
import { endOrder, spentCoin } from './order-lifecycle.ts'

/** A trade with the market. */
export interface Trade {
  /** At most so much of the base coin. */
  readonly base: Decimal
  /** Quote coin. */
  readonly price: Decimal
}

/**
 * Fills as much of the order as it wants and can pay, in whole lots, and books it: the trade, the fee out
 * of what was received, and what an order that repays owes of it. The order ends when nothing is left to
 * fill, or, bought by its quote size, less than a lot.
 *
 * @returns the base coin that was traded
 */
export function settleFill(state: MarginState, order: MarginOrder, { base: offered, price }: Trade): Decimal {
  const { rules } = marketOf(state, order.symbol)
  const base = roundDown(smaller(offered, wantedBase(state, order, price)), rules.quantityPlaces)
  if (base.lte(ZERO)) return ZERO
  const quote = base.times(price)
  const [spent, received] = order.direction === 'buy' ? [quote, base] : [base, quote]
  bookTrade(state, order, { spent, received })
  order.filledBase = order.filledBase.plus(base)
  order.filledQuote = order.filledQuote.plus(quote)
  order.updatedAt = state.clock.now
  order.status = 'partial_fill'
  freeSurplus(state, order)
  if (isDone(state, order, price)) endOrder(state, order, 'filled')
  else putOrder(state, order)
  return base
}

/** Whether the balance can still pay for a lot of the order: a forced order has nothing set aside. */
export function canTradeOn(state: MarginState, order: MarginOrder): boolean {
  const { rules, shown } = marketOf(state, order.symbol)
  if (shown === undefined) return true
  const price = order.direction === 'buy' ? shown.ask : shown.bid
  return wantedBase(state, order, price).gte(rules.lot)
}

/** What is still to be filled, in base coin; a market buy's by what its quote size buys at the price. */
function wantedBase(state: MarginState, order: MarginOrder, price: Decimal): Decimal {
  const wanted =
    order.base === undefined
      ? (order.quote ?? ZERO).minus(order.filledQuote).div(price)
      : order.base.minus(order.filledBase)
  if (order.purpose === 'trade') return wanted
  const { available } = moneyOf(state, balanceRefOf(order), spentCoin(state, order))
  return smaller(wanted, order.direction === 'buy' ? available.div(price) : available)
}

function bookTrade(
  state: MarginState,
  order: MarginOrder,
  { spent, received }: { spent: Decimal; received: Decimal },
): void {
  const { wallet } = state.ports
  const { rules } = marketOf(state, order.symbol)
  const ref = balanceRefOf(order)
  const coin = order.direction === 'buy' ? rules.baseCoin : rules.quoteCoin
  const isFrozen = order.purpose === 'trade'
  const fee = roundUp(received.times(rules.feeRate))
  wallet.book(
    coinIn(ref, spentCoin(state, order)),
    'trade',
    negated(spent),
    isFrozen ? 'frozen' : 'available',
  )
  if (isFrozen) order.frozen = order.frozen.minus(spent)
  wallet.book(coinIn(ref, coin), 'trade', received)
  wallet.book(coinIn(ref, coin), 'fee', negated(fee))
  if (repays(order.loanType)) payBack(state, ref, { coin, amount: received.minus(fee) })
}

/** A limit buy that filled below its own price needs less than it set aside. */
function freeSurplus(state: MarginState, order: MarginOrder): void {
  if (order.direction !== 'buy' || order.base === undefined || order.price === undefined) return
  const needed = order.base.minus(order.filledBase).times(order.price)
  const surplus = larger(ZERO, order.frozen.minus(needed))
  // The last one goes when the order ends, and its loan with it.
  if (surplus.eq(ZERO) || needed.eq(ZERO)) return
  state.ports.wallet.unfreeze(coinIn(balanceRefOf(order), spentCoin(state, order)), surplus)
  order.frozen = order.frozen.minus(surplus)
}

function isDone(state: MarginState, order: MarginOrder, price: Decimal): boolean {
  if (order.base !== undefined) return order.filledBase.gte(order.base)
  const { lot } = marketOf(state, order.symbol).rules
  return (order.quote ?? ZERO).minus(order.filledQuote).lt(lot.times(price))
}
