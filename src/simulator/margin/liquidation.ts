import { decimal, ZERO } from '../../lib/decimal.ts'
import { negated, roundUp, smaller } from './amounts.ts'
import { swapForDebt, convertDust } from './coin-swap.ts'
import { openForcedOrders, placeForcedOrder } from './forced-orders.ts'
import { payBack } from './loans.ts'
import { type BalanceRef } from './margin-order.ts'
import { dropLiquidation, putLiquidation } from './margin-rows.ts'
import {
  coinIn,
  debtOf,
  marketsOf,
  moneyOf,
  openOrdersOf,
  balanceKey,
  type Liquidation,
  type MarginState,
} from './margin-state.ts'
import { endOrder } from './order-lifecycle.ts'
import { assessBalance, mustLiquidate } from './balance-risk.ts'

/*
 * A balance whose risk ratio reaches `liquidationRatio` is taken over:
 *
 *   free -> taken over     its orders are cancelled, and its owner can neither trade nor borrow
 *   taken over -> free     when nothing is owed any more
 *
 * Meanwhile, over and over: debts are paid of what there is in their coin; forced orders turn other coins
 * into it, as fast as the displayed depth allows; what is too small for an order, or has no pair, is
 * swapped; and what then is still owed the insurance fund pays. In the end the fund takes its fee of what is
 * left of the quote coin.
 */

/** What one liquidation can do at one price: every coin pays, trades and swaps for every other a few times. */
const STEPS_MAX = 64

export function judgeDebtors(state: MarginState): void {
  for (const [key, debtor] of [...state.debtors]) {
    if (state.liquidations.has(key)) continue
    const risk = assessBalance(state, debtor)
    if (risk !== undefined && mustLiquidate(state, risk)) takeOver(state, debtor)
  }
}

export function proceedLiquidations(state: MarginState): void {
  for (const liquidation of [...state.liquidations.values()]) proceed(state, liquidation)
}

function takeOver(state: MarginState, { uid, balance }: BalanceRef): void {
  const liquidation: Liquidation = { uid, balance, startedAt: state.clock.now, traded: ZERO }
  for (const order of openOrdersOf(state, liquidation)) endOrder(state, order, 'cancelled')
  state.liquidations.set(balanceKey(liquidation), liquidation)
  putLiquidation(state, liquidation)
}

function proceed(state: MarginState, liquidation: Liquidation): void {
  for (let step = 0; step < STEPS_MAX; step++) {
    payDebts(state, liquidation)
    if (openForcedOrders(state, liquidation, 'liquidation').length > 0) return
    const coins = owedCoins(state, liquidation)
    if (coins.length === 0) return settle(state, liquidation)
    const isMoving =
      coins.some((coin) => placeForcedOrder(state, liquidation, { coin, purpose: 'liquidation' })) ||
      coins.some((coin) => swapForDebt(state, liquidation, coin))
    if (!isMoving) coverByInsurance(state, liquidation, coins)
  }
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

function settle(state: MarginState, liquidation: Liquidation): void {
  convertDust(state, liquidation)
  const quoteCoin = marketsOf(state, liquidation)[0]?.rules.quoteCoin
  if (quoteCoin !== undefined) {
    const { available } = moneyOf(state, liquidation, quoteCoin)
    const fee = roundUp(liquidation.traded.times(decimal(state.settings.liquidationFeeRate)))
    state.ports.wallet.book(coinIn(liquidation, quoteCoin), 'insurance', negated(smaller(fee, available)))
  }
  state.liquidations.delete(balanceKey(liquidation))
  dropLiquidation(state, liquidation)
}
