import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { negated } from '../../wallet/rounding.ts'
import { swapForDebt, convertDust } from './coin-swap.ts'
import { placeForcedOrder } from '../orders/forced-orders.ts'
import { payBack } from './loans.ts'
import { balanceOf, type BalanceRef, type MarginOrder } from '../orders/margin-order.ts'
import {
  coinIn,
  debtOf,
  marketsOf,
  moneyOf,
  openOrdersOf,
  type MarginState,
  type SymbolMarket,
} from '../margin-state.ts'
import { cancelMarginOrder } from '../orders/margin-venue.ts'
import { liquidationFee } from '../../wallet/fees.ts'
import { assessBalance, isNearLiquidation, mustLiquidate } from './balance-risk.ts'

/*
 * A balance whose risk ratio reaches `liquidationRatio` is taken over at that very quote: its orders are cancelled;
 * debts are paid of what there is in their coin; forced orders turn other coins into it, whatever the depth; what is
 * too small for an order, or has no pair, is swapped; and what then is still owed the insurance fund pays. In the
 * end the fund takes its fee of what is left of the quote coin.
 */

/** What a liquidation does at most: every coin pays, trades and swaps for every other a few times. */
const STEPS_MAX = 64

/** Looks at the balances that a quote of the symbol concerns. */
export function judgeDebtors(state: MarginState, { rules }: SymbolMarket): void {
  const isolated = balanceOf('isolated', rules.symbol)
  for (const debtor of state.debtors.values()) {
    if (debtor.balance !== 'crossed' && debtor.balance !== isolated) continue
    if (!isNearLiquidation(state, debtor)) continue
    const risk = assessBalance(state, debtor)
    if (risk !== undefined && mustLiquidate(state, risk)) liquidate(state, debtor)
  }
}

function liquidate(state: MarginState, ref: BalanceRef): void {
  for (const order of openOrdersOf(state, ref)) cancelMarginOrder(state, order, 'liquidation')
  let traded = ZERO
  for (let step = 0; step < STEPS_MAX; step++) {
    payDebts(state, ref)
    const coins = owedCoins(state, ref)
    if (coins.length === 0) return settle(state, ref, traded)
    const order = firstForced(state, ref, coins)
    if (order !== undefined) traded = traded.plus(order.filledQuote)
    else if (!coins.some((coin) => swapForDebt(state, ref, coin))) coverByInsurance(state, ref, coins)
  }
}

function firstForced(state: MarginState, ref: BalanceRef, coins: readonly string[]): MarginOrder | undefined {
  for (const coin of coins) {
    const order = placeForcedOrder(state, ref, { coin, purpose: 'liquidation' })
    if (order !== undefined) return order
  }
  return undefined
}

function owedCoins(state: MarginState, ref: BalanceRef): string[] {
  return [...state.ports.wallet.coins(ref.uid, ref.balance)]
    .filter(([, money]) => debtOf(money).gt(ZERO))
    .map(([coin]) => coin)
}

function payDebts(state: MarginState, ref: BalanceRef): void {
  for (const coin of owedCoins(state, ref)) {
    payBack(state, ref, { coin, amount: moneyOf(state, ref, coin).available })
  }
}

function coverByInsurance(state: MarginState, ref: BalanceRef, coins: readonly string[]): void {
  for (const coin of coins) {
    const money = moneyOf(state, ref, coin)
    state.ports.wallet.book(coinIn(ref, coin), 'insurance', debtOf(money).minus(money.available))
  }
}

function settle(state: MarginState, ref: BalanceRef, traded: Decimal): void {
  convertDust(state, ref)
  const quoteCoin = marketsOf(state, ref)[0]?.rules.quoteCoin
  if (quoteCoin === undefined) return
  const { available } = moneyOf(state, ref, quoteCoin)
  const fee = liquidationFee(traded, decimal(state.settings.liquidationFeeRate), available)
  state.ports.wallet.book(coinIn(ref, quoteCoin), 'insurance', negated(fee))
}
