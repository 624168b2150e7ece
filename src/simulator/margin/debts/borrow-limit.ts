import { decimal, type Decimal } from '../../../lib/decimal.ts'
import { type Refusal } from '../../shared/reply.ts'
import { modeOf, type BalanceRef } from '../orders/margin-order.ts'
import { marginRefusals } from '../margin-refusals.ts'
import { marketsOf, moneyOf, type MarginState } from '../margin-state.ts'
import { BORROWABLE_COINS } from '../margin-symbols.ts'
import { assessBalance, pricesOf } from './balance-risk.ts'
import { type CoinAmount } from './loans.ts'

/** Error table, 50034: "The borrowing amount must be over 0.00000001". */
const BORROW_MIN = decimal('0.00000001')

/**
 * Why the balance cannot borrow that; undefined when it can. Its debts, this one included, may be at most
 * leverage - 1 times its equity, and each coin's at most the coin's cap.
 */
export function borrowRefusal(
  state: MarginState,
  ref: BalanceRef,
  { coin, amount }: CoinAmount,
): Refusal | undefined {
  const rules = BORROWABLE_COINS.get(coin)
  const markets = marketsOf(state, ref)
  if (rules === undefined) return marginRefusals.coinUnknown()
  if (!markets.some((market) => market.rules.baseCoin === coin || market.rules.quoteCoin === coin)) {
    return marginRefusals.coinMismatch()
  }
  if (amount.lt(BORROW_MIN)) return marginRefusals.borrowTooSmall()
  if (moneyOf(state, ref, coin).borrowed.plus(amount).gt(rules.borrowMax)) {
    return marginRefusals.borrowTooLarge()
  }
  const risk = assessBalance(state, ref)
  const prices = pricesOf(markets, coin)
  if (risk === undefined || prices === undefined) return marginRefusals.noPrice()
  // The loan itself is worth its bid in the balance and owed at its ask.
  const equity = risk.equity.minus(amount.times(prices.ask.minus(prices.bid)))
  const debts = risk.debts.plus(amount.times(prices.ask))
  const most = equity.times(leverageOf(state, ref).minus(ONE))
  return debts.gt(most) ? marginRefusals.borrowTooLarge() : undefined
}

const ONE = decimal('1')

/** Of an isolated balance its symbol's; of a crossed one the lowest of all. */
function leverageOf(state: MarginState, ref: BalanceRef): Decimal {
  const isIsolated = modeOf(ref.balance) === 'isolated'
  const all = marketsOf(state, ref).map(({ rules }) =>
    isIsolated ? rules.isolatedLeverageMax : rules.crossedLeverageMax,
  )
  return all.reduce((least, leverage) => (leverage.lt(least) ? leverage : least))
}
