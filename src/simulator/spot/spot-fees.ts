import { ZERO, type Decimal } from '../../lib/decimal.ts'
import { type Receipt } from '../services/pair-venue.ts'
import { type CoinRef } from '../wallet/coin-money.ts'
import { deductFee, tradeFee } from '../wallet/fees.ts'
import { platformCoinPrice } from '../wallet/platform-coin.ts'
import { type SpotOrder } from './spot-order.ts'
import { spotBalance, spotMarketOf, type SpotState } from './spot-state.ts'

/** Charges the fee of a trade: a share of what was obtained. @param now Unix ms. */
export function chargeFee(
  state: SpotState,
  order: SpotOrder,
  { trade, balance, price, amount }: Receipt,
  now: number,
): void {
  const { platformCoin, deductionRatio: ratio } = state.settings
  const total = tradeFee(amount, spotMarketOf(state, order.symbol).symbol.feeRates, trade.scope)
  const platformBalance = spotBalance(order.uid, platformCoin.name)
  const { deducted, remainder } = order.deductsFee
    ? deductFee({
        ...{ total, worth: order.direction === 'buy' ? total.times(price) : total, ratio },
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
  if (amount.gt(ZERO)) state.ports.wallet.book(balance, 'fee', amount.times('-1'))
}
