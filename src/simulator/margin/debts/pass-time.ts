import { ZERO } from '../../../lib/decimal.ts'
import { placeForcedOrder } from '../orders/forced-orders.ts'
import { chargeInterest, payBack } from './loans.ts'
import { ACCRUAL, debtOf, HOUR_MS, moneyOf, type MarginState } from '../margin-state.ts'

/**
 * Passes every full hour up to `now` (Unix ms), one by one: interest falls due, and loans that have run out are repaid.
 * Before the quotes of that instant are taken in: how time is cut into calls changes nothing.
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

/** The clock starts here: hours before it cost nothing. */
export function startClock(state: MarginState, now: number): void {
  state.clock.now = now
  state.clock.accruedAt = Math.floor(now / HOUR_MS) * HOUR_MS
}

/**
 * Repays crossed loans that are older than `loanTermMs`: of what is available, and else by an order that turns
 * another coin into the one that is owed. What cannot be repaid so stays, and the risk ratio looks after it.
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
