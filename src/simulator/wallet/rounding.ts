import { decimal, type Decimal } from '../../lib/decimal.ts'

/** Error table, 50063: "Token precision must less than or equal to eight". */
const COIN_PLACES = 8

/** The modes of big.js: 0 toward zero, 1 half up, 3 away from zero. */
const DOWN = 0
const HALF_UP = 1
const UP = 3

/** Used where an account receives, which never gets more than there is. */
export function roundDown(value: Decimal, decimals = COIN_PLACES): Decimal {
  return value.round(decimals, DOWN)
}

/** Used where the platform takes at least what is due, and for loans, which must suffice. */
export function roundUp(value: Decimal, decimals = COIN_PLACES): Decimal {
  return value.round(decimals, UP)
}

export function roundNearest(value: Decimal, decimals = COIN_PLACES): Decimal {
  return value.round(decimals, HALF_UP)
}

export function smaller(a: Decimal, b: Decimal): Decimal {
  return a.lt(b) ? a : b
}

export function larger(a: Decimal, b: Decimal): Decimal {
  return a.gt(b) ? a : b
}

export function negated(value: Decimal): Decimal {
  return value.times('-1')
}

export function hasPlaces(value: Decimal, places: number): boolean {
  return value.round(places, DOWN).eq(value)
}

export function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0
}

export function decimalOfFloat(value: number, decimals: number): Decimal {
  return decimal(value.toFixed(decimals))
}

export function textsOf<Amounts extends Readonly<Partial<Record<string, Decimal>>>>(
  amounts: Amounts,
) {
  const texts = Object.entries(amounts).map(([name, amount]) => [name, String(amount)])
  return Object.fromEntries(texts) as { readonly [Name in keyof Amounts]: string }
}
