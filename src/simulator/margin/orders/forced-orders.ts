import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import type { BalanceRef } from '../../wallet/coin-money.ts'
import { larger, roundDown, roundUp, smaller } from '../../wallet/rounding.ts'
import { modeOf, type MarginAccountOrder, type Purpose } from './margin-order.ts'
import { debtOf, moneyOf, pairsOf, type MarginPair, type MarginState } from '../margin-state.ts'
import { enterMarginOrder } from './margin-venue.ts'
import { shareAfterFee } from '../../wallet/fees.ts'

type ForcedPurpose = Exclude<Purpose, 'trade'>

/**
 * Sells base coin for a debt in quote coin, and buys it for one in base coin.
 * @returns undefined if no pair can do that with the available money
 */
export function placeForcedOrder(
  state: MarginState,
  ref: BalanceRef,
  { coin, purpose }: { readonly coin: string; readonly purpose: ForcedPurpose },
): MarginAccountOrder | undefined {
  const owed = debtOf(moneyOf(state, ref, coin))
  for (const pair of pairsOf(state, ref)) {
    const { quoteCoin, baseCoin } = pair.rules
    if (coin !== quoteCoin && coin !== baseCoin) continue
    const direction = coin === baseCoin ? 'buy' : 'sell'
    const shown = pair.shownPrices()
    const price = direction === 'buy' ? shown?.ask : shown?.bid
    if (price === undefined) continue
    const base = forcedSize(state, ref, { pair, direction, owed, price, purpose })
    if (base === undefined) continue
    return enterMarginOrder(state, {
      uid: ref.uid,
      mode: modeOf(ref.balance),
      symbol: pair.rules.symbol,
      clientOid: undefined,
      direction,
      orderType: 'market',
      force: 'gtc',
      loanType: 'autoRepay',
      source: 'SYS',
      purpose,
      price,
      size: base,
      isQuoteSized: false,
      frozen: ZERO,
      loan: ZERO,
    })
  }
  return undefined
}

interface ForcedOrderSizing {
  readonly pair: MarginPair
  readonly direction: 'buy' | 'sell'
  readonly owed: Decimal
  readonly price: Decimal
  readonly purpose: ForcedPurpose
}

/**
 * Pays the debt after the fee; a liquidated isolated long sells everything. Undefined below the
 * minimum.
 */
function forcedSize(
  state: MarginState,
  ref: BalanceRef,
  { pair: { rules }, direction, owed, price, purpose }: ForcedOrderSizing,
): Decimal | undefined {
  const afterFee = shareAfterFee(rules.feeRate)
  const isSell = direction === 'sell'
  const { available } = moneyOf(state, ref, isSell ? rules.baseCoin : rules.quoteCoin)
  const most = roundDown(isSell ? available : available.div(price), rules.sizeDecimals)
  const needed = roundUp(
    isSell ? owed.div(price.times(afterFee)) : owed.div(afterFee),
    rules.sizeDecimals,
  )
  const least = larger(rules.baseMin, roundUp(rules.notionalMin.div(price), rules.sizeDecimals))
  if (most.lt(least)) return undefined
  if (purpose === 'liquidation' && isSell && modeOf(ref.balance) === 'isolated') return most
  if (needed.lt(least)) return purpose === 'liquidation' ? undefined : least
  return smaller(needed, most)
}
