import { decimal, type Decimal } from '../../lib/decimal.ts'

/** big.js's modes: 0 toward zero, 3 away from it. */
const DOWN = 0
const UP = 3

/** At most so many decimals, toward zero. */
export function roundDown(value: Decimal, decimals: number): Decimal {
  return value.round(decimals, DOWN)
}

/** At most so many decimals, away from zero. */
export function roundUp(value: Decimal, decimals: number): Decimal {
  return value.round(decimals, UP)
}

/** Decimals written in a plain decimal text: 2 for `0.10`. */
export function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0
}

/** A float that stands for a value of so many decimals, exactly as it prints. */
export function decimalOfFloat(value: number, decimals: number): Decimal {
  return decimal(value.toFixed(decimals))
}
