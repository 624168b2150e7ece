import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { larger, negated, roundUp } from '../../wallet/rounding.ts'
import { payBack } from '../debts/loans.ts'
import { balanceRefOf, repays, type MarginOrder } from './margin-order.ts'
import { MARGIN_ORDERS } from '../margin-rows.ts'
import { coinIn, marketOf, type MarginState } from '../margin-state.ts'
import { endOrder, spentCoin } from './order-lifecycle.ts'

/** A trade with the market. */
export interface Execution {
  /** Whole lots of the base coin: no more than the order wants and can pay. */
  readonly base: Decimal
  /** Quote coin. */
  readonly price: Decimal
}

/**
 * Books a trade of the order, the fee out of what was received, and what an order that repays owes of it. The order
 * ends when all of its size is filled.
 */
export function settleFill(state: MarginState, order: MarginOrder, { base, price }: Execution): void {
  const quote = base.times(price)
  const [spent, received] = order.direction === 'buy' ? [quote, base] : [base, quote]
  bookTrade(state, order, { spent, received })
  order.filledBase = order.filledBase.plus(base)
  order.filledQuote = order.filledQuote.plus(quote)
  order.updatedAt = state.clock.now
  order.status = 'partial_fill'
  freeSurplus(state, order)
  if (order.base !== undefined && order.filledBase.gte(order.base)) endOrder(state, order, 'filled')
  else state.ports.rows.put(MARGIN_ORDERS, order)
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
