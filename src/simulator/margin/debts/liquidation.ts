import { decimal, ZERO, type Decimal } from '../../../lib/decimal.ts'
import { cancelPairOrder, openOrdersOf } from '../../services/pair-service.ts'
import { serviceIdText } from '../../shared/order-sequence.ts'
import type { BalanceRef } from '../../wallet/coin-money.ts'
import { liquidationFee } from '../../wallet/fees.ts'
import { negated, roundDown, roundUp, smaller } from '../../wallet/rounding.ts'
import {
  coinIn,
  debtOf,
  moneyOf,
  pairsOf,
  type MarginPair,
  type MarginState,
} from '../margin-state.ts'
import { placeForcedOrder } from '../orders/forced-orders.ts'
import {
  balanceOf,
  modeOf,
  type MarginAccountOrder,
  type SwapSizes,
} from '../orders/margin-order.ts'
import { assessBalance, mustLiquidate, pricesOf } from './balance-risk.ts'
import { payBack } from './loans.ts'

/**
 * At `liquidationRatio` the orders of a balance are cancelled. Money in the owed coin pays first,
 * then forced orders turn other coins into it at any depth. The insurance fund pays the rest, and
 * gets its fee last.
 */

const STEPS_MAX = 64

export function judgeDebtors(state: MarginState, { rules }: MarginPair): void {
  const isolated = balanceOf('isolated', rules.symbol)
  for (const debtor of state.debtors.values()) {
    if (debtor.balance !== 'crossed' && debtor.balance !== isolated) continue
    const risk = assessBalance(state, debtor)
    if (risk !== undefined && mustLiquidate(state, risk)) liquidate(state, debtor)
  }
}

function liquidate(state: MarginState, ref: BalanceRef): void {
  for (const order of openOrdersOf(state, ref.uid)) {
    if (balanceOf(order.mode, order.symbol) === ref.balance)
      cancelPairOrder(state, order, 'liquidation')
  }
  let traded = ZERO
  for (let step = 0; step < STEPS_MAX; step++) {
    payDebts(state, ref)
    const coins = owedCoins(state, ref)
    if (coins.length === 0) return settle(state, ref, traded)
    const order = firstForced(state, ref, coins)
    if (order !== undefined) traded = traded.plus(order.filledQuote)
    else if (!coins.some((coin) => swapForDebt(state, ref, coin)))
      coverByInsurance(state, ref, coins)
  }
}

function firstForced(
  state: MarginState,
  ref: BalanceRef,
  coins: readonly string[],
): MarginAccountOrder | undefined {
  for (const coin of coins) {
    const order = placeForcedOrder(state, ref, { coin, purpose: 'liquidation' })
    if (order !== undefined) return recordForced(state, order)
  }
  return undefined
}

function recordForced(state: MarginState, order: MarginAccountOrder): MarginAccountOrder {
  const {
    uid,
    mode,
    id,
    symbol,
    direction,
    price,
    size,
    filledBase,
    filledQuote,
    createdAt,
    updatedAt,
  } = order
  const traded = {
    id,
    symbol,
    direction,
    price,
    size,
    filledBase,
    filledQuote,
    createdAt,
    updatedAt,
  }
  if (filledBase.gt(ZERO)) state.records.add({ type: 'place_order', uid, mode, ...traded })
  return order
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
  const quoteCoin = pairsOf(state, ref)[0]?.rules.quoteCoin
  if (quoteCoin === undefined) return
  const { available } = moneyOf(state, ref, quoteCoin)
  const fee = liquidationFee(traded, decimal(state.settings.liquidationFeeRate), available)
  state.ports.wallet.book(coinIn(ref, quoteCoin), 'insurance', negated(fee))
}

/**
 * The platform swaps, at displayed prices, what no order can trade: dust, and coins without a
 * common pair.
 */

function swapForDebt(state: MarginState, ref: BalanceRef, coin: string): boolean {
  const pairs = pairsOf(state, ref)
  const target = pricesOf(pairs, coin)
  if (target === undefined) return false
  for (const [fromCoin, { available }] of state.ports.wallet.coins(ref.uid, ref.balance)) {
    const source = pricesOf(pairs, fromCoin)
    if (fromCoin === coin || available.eq(ZERO) || source === undefined) continue
    const owed = debtOf(moneyOf(state, ref, coin))
    const fromSize = smaller(available, roundUp(owed.times(target.ask).div(source.bid)))
    const toSize = roundDown(fromSize.times(source.bid).div(target.ask))
    if (swap(state, ref, { fromCoin, toCoin: coin, fromSize, toSize })) return true
  }
  return false
}

function convertDust(state: MarginState, ref: BalanceRef): void {
  for (const pair of pairsOf(state, ref)) {
    const { rules } = pair
    const shown = pair.shownPrices()
    const { available } = moneyOf(state, ref, rules.baseCoin)
    if (shown === undefined || available.eq(ZERO)) continue
    const isDust = available.lt(rules.baseMin) || available.times(shown.bid).lt(rules.notionalMin)
    if (!isDust) continue
    const toSize = roundDown(available.times(shown.bid))
    swap(state, ref, {
      fromCoin: rules.baseCoin,
      toCoin: rules.quoteCoin,
      fromSize: available,
      toSize,
    })
  }
}

function swap(state: MarginState, ref: BalanceRef, sizes: SwapSizes): boolean {
  const { fromCoin, toCoin, fromSize, toSize } = sizes
  if (toSize.lte(ZERO)) return false
  const { wallet, sequence } = state.ports
  wallet.book(coinIn(ref, fromCoin), 'conversion', negated(fromSize))
  wallet.book(coinIn(ref, toCoin), 'conversion', toSize)
  const { now } = state.clock
  const id = serviceIdText(sequence.next())
  const owner = { uid: ref.uid, mode: modeOf(ref.balance) }
  state.records.add({ type: 'swap', ...owner, id, ...sizes, createdAt: now, updatedAt: now })
  return true
}
