import { ZERO, type Decimal } from '../../../lib/decimal.ts'
import type { BalanceRef } from '../../wallet/coin-money.ts'
import { larger, roundDown, roundUp, smaller } from '../../wallet/rounding.ts'
import { modeOf, type MarginOrder, type Purpose } from './margin-order.ts'
import { debtOf, moneyOf, pairsOf, type MarginPair, type MarginState } from '../margin-state.ts'
import { enterMarginOrder } from './margin-venue.ts'
import { shareAfterFee } from '../../wallet/fees.ts'

type ForcedPurpose = Exclude<Purpose, 'trade'>

/**
 * Sends a market order of the system's that turns what the balance has into the coin it owes: base coin sold
 * for a debt in quote coin, base coin bought for a debt in it. It repays as it fills.
 *
 * @returns the order, which has ended; undefined when no pair of the balance can do that with what is available
 */
export function placeForcedOrder(
  state: MarginState,
  ref: BalanceRef,
  { coin, purpose }: { readonly coin: string; readonly purpose: ForcedPurpose },
): MarginOrder | undefined {
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

interface Sizing {
  readonly pair: MarginPair
  readonly direction: 'buy' | 'sell'
  readonly owed: Decimal
  readonly price: Decimal
  readonly purpose: ForcedPurpose
}

/**
 * How much it takes to pay the debt after the fee, as far as the balance goes; the liquidation of an isolated
 * long sells everything. Undefined when that is less than the symbol's smallest order.
 */
function forcedSize(
  state: MarginState,
  ref: BalanceRef,
  { pair: { rules }, direction, owed, price, purpose }: Sizing,
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
