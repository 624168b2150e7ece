import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { roundUp, smaller } from './rounding.ts'

/*
 * Fees of trades and conversions: a rate of the value in margin coin, or of the received amount.
 * Futures and spot keep all digits; margin balances and conversions are charged in whole units of
 * the coin's last digit, rounded up.
 */

/** Fees as shares of the charged amount. */
export interface FeeRates {
  readonly maker: Decimal
  readonly taker: Decimal
}

/** The exact fee. */
export function tradeFee(charged: Decimal, rates: FeeRates, scope: 'maker' | 'taker'): Decimal {
  return charged.times(scope === 'maker' ? rates.maker : rates.taker)
}

/** The fee in whole units of the coin's last digit. */
export function wholeFee(charged: Decimal, rate: Decimal): Decimal {
  return roundUp(charged.times(rate))
}

/** The insurance fund's share of a liquidation's trades, limited to the available money. */
export function liquidationFee(traded: Decimal, rate: Decimal, available: Decimal): Decimal {
  return smaller(wholeFee(traded, rate), available)
}

/** Remaining share of a received amount after its fee. */
export function shareAfterFee(rate: Decimal): Decimal {
  return ONE.minus(rate)
}

export interface Deduction {
  /** The fee in the obtained coin, and its value in quote coin. */
  readonly total: Decimal
  readonly worth: Decimal
  /** Share of the value that is charged. */
  readonly ratio: string
  /** Price of the platform's own coin, and the account's available amount. */
  readonly price: string
  readonly available: Decimal
}

/**
 * A discounted fee in the platform's own coin; the part that its balance does not cover is paid
 * from the obtained coin.
 */
export function deductFee({ total, worth, ratio, price, available }: Deduction): {
  readonly deducted: Decimal
  readonly remainder: Decimal
} {
  const needed = roundUp(worth.times(ratio).div(decimal(price)))
  if (available.gte(needed)) return { deducted: needed, remainder: ZERO }
  const uncovered = needed.minus(available).div(needed)
  return { deducted: available, remainder: roundUp(total.times(uncovered)) }
}

const ONE = decimal('1')
