import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import type { RefusedReply } from '../../shared/reply.ts'
import type { BalanceRef } from '../../wallet/coin-money.ts'
import { roundUp, smaller } from '../../wallet/rounding.ts'
import { refusals } from '../../shared/refusals.ts'
import { balanceKey, coinIn, DEBTORS, moneyOf, pairsOf, type MarginState } from '../margin-state.ts'
import { BORROWABLE_COINS } from '../margin-symbols.ts'
import { modeOf } from '../orders/margin-order.ts'
import { assessBalance, pricesOf } from './balance-risk.ts'

export function lend(state: MarginState, ref: BalanceRef, { coin, amount }: CoinAmount): void {
  if (amount.lte(ZERO)) return
  state.ports.wallet.borrow(coinIn(ref, coin), amount)
  const debtor = state.debtors.get(balanceKey(ref)) ?? { ...ref, since: new Map<string, number>() }
  if (!debtor.since.has(coin)) debtor.since.set(coin, state.clock.now)
  state.debtors.set(balanceKey(ref), debtor)
  state.ports.rows.put(DEBTORS, debtor)
}

/**
 * Pays interest first, from the available money.
 * @returns the amount repaid
 */
export function payBack(
  state: MarginState,
  ref: BalanceRef,
  { coin, amount }: CoinAmount,
): Decimal {
  const money = moneyOf(state, ref, coin)
  const most = smaller(amount, money.available)
  const interest = smaller(most, money.interest)
  const principal = smaller(most.minus(interest), money.borrowed)
  return settle(state, ref, { coin, principal, interest })
}

export function returnLoan(
  state: MarginState,
  ref: BalanceRef,
  { coin, amount }: CoinAmount,
): void {
  const money = moneyOf(state, ref, coin)
  const principal = smaller(smaller(amount, money.available), money.borrowed)
  settle(state, ref, { coin, principal, interest: ZERO })
}

/** An hour costs principal x rate, rounded up to eight places, without compound interest. */
export function chargeInterest(state: MarginState): void {
  for (const debtor of state.debtors.values()) {
    for (const coin of debtor.since.keys()) {
      const rate = BORROWABLE_COINS.get(coin)?.hourlyInterestRate ?? ZERO
      const hourly = roundUp(moneyOf(state, debtor, coin).borrowed.times(rate))
      if (hourly.gt(ZERO)) state.ports.wallet.accrueInterest(coinIn(debtor, coin), hourly)
    }
  }
}

export interface CoinAmount {
  readonly coin: string
  readonly amount: Decimal
}

function settle(
  state: MarginState,
  ref: BalanceRef,
  { coin, principal, interest }: { coin: string; principal: Decimal; interest: Decimal },
): Decimal {
  const paid = principal.plus(interest)
  if (paid.lte(ZERO)) return ZERO
  state.ports.wallet.repay(coinIn(ref, coin), { principal, interest })
  const { borrowed, interest: owed } = moneyOf(state, ref, coin)
  const debtor = state.debtors.get(balanceKey(ref))
  if (debtor !== undefined && borrowed.eq(ZERO) && owed.eq(ZERO)) {
    debtor.since.delete(coin)
    if (debtor.since.size === 0) state.debtors.delete(balanceKey(ref))
    state.ports.rows.put(DEBTORS, debtor)
  }
  return paid
}

/** Error table, 50034: "The borrowing amount must be over 0.00000001". */
const BORROW_MIN = decimal('0.00000001')

/** Debts may reach leverage - 1 times the equity, and the cap of their coin. */
export function borrowRefusal(
  state: MarginState,
  ref: BalanceRef,
  { coin, amount }: CoinAmount,
): RefusedReply | undefined {
  const rules = BORROWABLE_COINS.get(coin)
  const pairs = pairsOf(state, ref)
  if (rules === undefined) return refusals.coinUnknown.margin
  if (!pairs.some((pair) => pair.rules.baseCoin === coin || pair.rules.quoteCoin === coin)) {
    return refusals.coinMismatch
  }
  if (amount.lt(BORROW_MIN)) return refusals.borrowTooSmall
  if (moneyOf(state, ref, coin).borrowed.plus(amount).gt(rules.borrowMax)) {
    return refusals.borrowTooLarge
  }
  const risk = assessBalance(state, ref)
  const prices = pricesOf(pairs, coin)
  if (risk === undefined || prices === undefined) return refusals.noPrice
  const equity = risk.equity.minus(amount.times(prices.ask.minus(prices.bid)))
  const debts = risk.debts.plus(amount.times(prices.ask))
  const most = equity.times(leverageOf(state, ref).minus(ONE))
  return debts.gt(most) ? refusals.borrowTooLarge : undefined
}

const ONE = decimal('1')

/** A crossed balance has the lowest leverage of all symbols. */
function leverageOf(state: MarginState, ref: BalanceRef): Decimal {
  const isIsolated = modeOf(ref.balance) === 'isolated'
  const all = pairsOf(state, ref).map(({ rules }) =>
    isIsolated ? rules.isolatedLeverageMax : rules.crossedLeverageMax,
  )
  return all.reduce((least, leverage) => (leverage.lt(least) ? leverage : least))
}
