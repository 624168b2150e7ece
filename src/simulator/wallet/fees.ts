import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { roundUp, smaller } from './rounding.ts'

/*
 * What trades and conversions cost: a rate of the value in margin coin, or of what was obtained. Futures and spot keep
 * all digits, margin balances and conversions are charged in whole units of the coin's last digit, rounded up.
 */

/** Shares of what is charged. */
export interface FeeRates {
  readonly maker: Decimal
  readonly taker: Decimal
}

/** Exact. */
export function tradeFee(charged: Decimal, rates: FeeRates, scope: 'maker' | 'taker'): Decimal {
  return charged.times(scope === 'maker' ? rates.maker : rates.taker)
}

/** In whole units of the coin's last digit. */
export function wholeFee(charged: Decimal, rate: Decimal): Decimal {
  return roundUp(charged.times(rate))
}

/** The fund's share of what a liquidation has traded: no more than there is. */
export function liquidationFee(traded: Decimal, rate: Decimal, available: Decimal): Decimal {
  return smaller(wholeFee(traded, rate), available)
}

/** What of an obtained amount is left after its fee. */
export function shareAfterFee(rate: Decimal): Decimal {
  return ONE.minus(rate)
}

export interface Deduction {
  /** The fee in the obtained coin, and its worth in quote coin. */
  readonly total: Decimal
  readonly worth: Decimal
  /** How much of the worth is charged. */
  readonly ratio: string
  /** Of the platform's own coin, and what the account has of it. */
  readonly price: string
  readonly available: Decimal
}

/**
 * A fee that is paid in the platform's own coin, cheaper; what that coin's balance does not cover is paid out of the
 * obtained coin.
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
