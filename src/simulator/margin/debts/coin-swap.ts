import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import { negated, roundDown, roundUp, smaller } from '../../wallet/rounding.ts'
import { type BalanceRef } from '../orders/margin-order.ts'
import { coinIn, debtOf, marketsOf, moneyOf, pricesShown, type MarginState } from '../margin-state.ts'
import { pricesOf } from './balance-risk.ts'
import { recordSwap } from './records.ts'

/*
 * What no order can do, the platform swaps out of its own stock, at the displayed prices and without a fee:
 * amounts below the smallest order, and coins without a pair between them.
 */

/** Swaps as much of the other coins as the debt in this coin takes. @returns whether anything was swapped */
export function swapForDebt(state: MarginState, ref: BalanceRef, coin: string): boolean {
  const markets = marketsOf(state, ref)
  const target = pricesOf(markets, coin)
  if (target === undefined) return false
  for (const [fromCoin, { available }] of state.ports.wallet.coins(ref.uid, ref.balance)) {
    const source = pricesOf(markets, fromCoin)
    if (fromCoin === coin || available.eq(ZERO) || source === undefined) continue
    const owed = debtOf(moneyOf(state, ref, coin))
    const fromSize = smaller(available, roundUp(owed.times(target.ask).div(source.bid)))
    const toSize = roundDown(fromSize.times(source.bid).div(target.ask))
    if (swap(state, ref, { fromCoin, toCoin: coin, fromSize, toSize })) return true
  }
  return false
}

/** Swaps what is left of a base coin, and is too little to be sold, into the quote coin. */
export function convertDust(state: MarginState, ref: BalanceRef): void {
  for (const market of marketsOf(state, ref)) {
    const { rules } = market
    const shown = pricesShown(market)
    const { available } = moneyOf(state, ref, rules.baseCoin)
    if (shown === undefined || available.eq(ZERO)) continue
    const isDust = available.lt(rules.baseMin) || available.times(shown.bid).lt(rules.notionalMin)
    if (!isDust) continue
    const toSize = roundDown(available.times(shown.bid))
    swap(state, ref, { fromCoin: rules.baseCoin, toCoin: rules.quoteCoin, fromSize: available, toSize })
  }
}

interface SwapSizes {
  readonly fromCoin: string
  readonly toCoin: string
  readonly fromSize: Decimal
  readonly toSize: Decimal
}

function swap(state: MarginState, ref: BalanceRef, sizes: SwapSizes): boolean {
  const { fromCoin, toCoin, fromSize, toSize } = sizes
  if (toSize.lte(ZERO)) return false
  state.ports.wallet.book(coinIn(ref, fromCoin), 'conversion', negated(fromSize))
  state.ports.wallet.book(coinIn(ref, toCoin), 'conversion', toSize)
  recordSwap(state, ref, sizes)
  return true
}
