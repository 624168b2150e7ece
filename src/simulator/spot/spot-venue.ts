import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { enterMarket, matchResting } from '../matching/match-orders.ts'
import { pairOf, venueOf, type Receipt } from '../services/pair-service.ts'
import { spotBalance, type CoinRef } from '../wallet/coin-money.ts'
import { deductFee, tradeFee } from '../wallet/fees.ts'
import { platformCoinPrice } from '../wallet/platform-coin.ts'
import type { SpotOrder } from './spot-order.ts'
import { negated } from '../wallet/rounding.ts'
import type { SpotPair, SpotState } from './spot-state.ts'

export function isTriggered({ trigger, triggerTicks }: SpotOrder, { market }: SpotPair): boolean {
  if (trigger === undefined) return true
  const { lastTicks } = market
  return trigger.isAbove ? triggerTicks <= lastTicks : triggerTicks >= lastTicks
}

export function followPair(state: SpotState, pair: SpotPair): void {
  const venue = venueOf(state, pair)
  pair.follow(() => {
    if (!pair.hasOrders) return
    pair.refresh()
    matchResting(venue)
    for (const order of pair.waiting) if (isTriggered(order, pair)) enterMarket(venue, order)
  })
}

export function chargeFee(
  state: SpotState,
  order: SpotOrder,
  { trade, balance, price, amount }: Receipt,
  now: number,
): void {
  const { platformCoin, deductionRatio: ratio } = state.settings
  const total = tradeFee(amount, pairOf(state, order.symbol).rules.feeRates, trade.scope)
  const platformBalance = spotBalance(order.uid, platformCoin.name)
  const { deducted, remainder } = order.deductsFee
    ? deductFee({
        total,
        worth: order.direction === 'buy' ? total.times(price) : total,
        ratio,
        price: platformCoinPrice(platformCoin, state.ports.seed, now),
        available: state.ports.wallet.coin(platformBalance).available,
      })
    : { deducted: ZERO, remainder: total }
  bookFee(state, balance, remainder)
  bookFee(state, platformBalance, deducted)
  order.fees = {
    total: order.fees.total.plus(total),
    deducted: order.fees.deducted.plus(deducted),
    remainder: order.fees.remainder.plus(remainder),
  }
}

function bookFee(state: SpotState, balance: CoinRef, amount: Decimal): void {
  if (amount.gt(ZERO)) state.ports.wallet.book(balance, 'fee', negated(amount))
}
