import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { roundUp, smaller } from '../../wallet/rounding.ts'
import { type BalanceRef } from '../orders/margin-order.ts'
import { BORROWABLE_COINS } from '../margin-symbols.ts'
import { DEBTORS, coinIn, moneyOf, balanceKey, type MarginState } from '../margin-state.ts'

/** Lends to the balance; what may be lent is borrow-limit.ts's to say. */
export function lend(state: MarginState, ref: BalanceRef, { coin, amount }: CoinAmount): void {
  if (amount.lte(ZERO)) return
  state.ports.wallet.borrow(coinIn(ref, coin), amount)
  const debtor = state.debtors.get(balanceKey(ref)) ?? { ...ref, since: new Map<string, number>() }
  if (!debtor.since.has(coin)) debtor.since.set(coin, state.clock.now)
  state.debtors.set(balanceKey(ref), debtor)
  state.ports.rows.put(DEBTORS, debtor)
}

/** Pays up to `amount` of what is owed out of available: interest first. @returns what was paid */
export function payBack(state: MarginState, ref: BalanceRef, { coin, amount }: CoinAmount): Decimal {
  const money = moneyOf(state, ref, coin)
  const most = smaller(amount, money.available)
  const interest = smaller(most, money.interest)
  const principal = smaller(most.minus(interest), money.borrowed)
  return settle(state, ref, { coin, principal, interest })
}

/** Gives an unused loan back: principal alone, up to what is available and owed. */
export function returnLoan(state: MarginState, ref: BalanceRef, { coin, amount }: CoinAmount): void {
  const money = moneyOf(state, ref, coin)
  const principal = smaller(smaller(amount, money.available), money.borrowed)
  settle(state, ref, { coin, principal, interest: ZERO })
}

/** Charges an hour's interest on what is borrowed: principal x rate, rounded up to eight places, never on interest. */
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
