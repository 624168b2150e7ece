import { ZERO } from '../../../lib/decimal.ts'
import { placeForcedOrder } from '../orders/forced-orders.ts'
import { chargeInterest, payBack } from './loans.ts'
import { ACCRUAL, debtOf, HOUR_MS, moneyOf, type MarginState } from '../margin-state.ts'

/**
 * Interest and expired loans come before the quotes of the same instant, so that the division of
 * time into calls changes nothing.
 */
export function passTime(state: MarginState, now: number): void {
  const { clock } = state
  if (now >= clock.accruedAt + HOUR_MS) {
    while (clock.accruedAt + HOUR_MS <= now) {
      clock.accruedAt += HOUR_MS
      clock.now = clock.accruedAt
      chargeInterest(state)
      repayOverdueLoans(state)
    }
    state.ports.rows.put(ACCRUAL, { accruedAt: clock.accruedAt })
  }
  clock.now = Math.max(clock.now, now)
}

export function startClock(state: MarginState, now: number): void {
  state.clock.now = now
  state.clock.accruedAt = Math.floor(now / HOUR_MS) * HOUR_MS
}

/**
 * Crossed loans older than `loanTermMs` are repaid from the available money, otherwise by a buying
 * order. A rest stays.
 */
function repayOverdueLoans(state: MarginState): void {
  for (const debtor of Array.from(state.debtors.values())) {
    if (debtor.balance !== 'crossed') continue
    for (const [coin, since] of Array.from(debtor.since)) {
      if (state.clock.now - since < state.settings.loanTermMs) continue
      payBack(state, debtor, { coin, amount: moneyOf(state, debtor, coin).available })
      if (debtOf(moneyOf(state, debtor, coin)).eq(ZERO)) continue
      placeForcedOrder(state, debtor, { coin, purpose: 'systemRepay' })
    }
  }
}
