import { ZERO } from '../../lib/decimal.ts'
import { openForcedOrders, placeForcedOrder } from './forced-orders.ts'
import { payBack } from './loans.ts'
import { debtOf, moneyOf, balanceKey, type MarginState } from './margin-state.ts'

/**
 * Repays crossed loans that are older than `loanTermMs`: of what is available, and else by orders that turn
 * other coins into the one that is owed. What cannot be repaid so stays, and the risk ratio looks after it.
 */
export function repayOverdueLoans(state: MarginState): void {
  for (const debtor of [...state.debtors.values()]) {
    if (debtor.balance !== 'crossed' || state.liquidations.has(balanceKey(debtor))) continue
    for (const [coin, since] of [...debtor.since]) {
      if (state.clock.now - since < state.settings.loanTermMs) continue
      payBack(state, debtor, { coin, amount: moneyOf(state, debtor, coin).available })
      if (debtOf(moneyOf(state, debtor, coin)).eq(ZERO)) continue
      if (openForcedOrders(state, debtor, 'systemRepay').length > 0) continue
      placeForcedOrder(state, debtor, { coin, purpose: 'systemRepay' })
    }
  }
}
