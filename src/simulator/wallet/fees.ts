import { decimal, ZERO, type Decimal } from '../../lib/decimal.ts'
import { roundUp, smaller } from './rounding.ts'

/**
 * Futures and spot keep all digits of a fee; margin and conversions round up to the coin's last
 * digit.
 */

export interface FeeRates {
  readonly maker: Decimal
  readonly taker: Decimal
}

export function tradeFee(charged: Decimal, rates: FeeRates, scope: 'maker' | 'taker'): Decimal {
  return charged.times(scope === 'maker' ? rates.maker : rates.taker)
}

export function wholeFee(charged: Decimal, rate: Decimal): Decimal {
  return roundUp(charged.times(rate))
}

export function liquidationFee(traded: Decimal, rate: Decimal, available: Decimal): Decimal {
  return smaller(wholeFee(traded, rate), available)
}

export function shareAfterFee(rate: Decimal): Decimal {
  return ONE.minus(rate)
}

export interface Deduction {
  readonly total: Decimal
  readonly worth: Decimal
  readonly ratio: string
  readonly price: string
  readonly available: Decimal
}

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
