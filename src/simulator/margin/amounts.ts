import { decimal, type Decimal } from '../../lib/decimal.ts'

/** Coins are kept to eight decimals. Error table, 50063: "Token precision must less than or equal to eight". */
export const COIN_PLACES = 8

const ROUND_DOWN = 0
const ROUND_HALF_UP = 1
const ROUND_UP = 3

/** What the platform gives or counts for an account: never more than there is. */
export function roundDown(value: Decimal, places = COIN_PLACES): Decimal {
  return value.round(places, ROUND_DOWN)
}

/** What the platform takes: fees, interest, the size of a loan that must be enough. */
export function roundUp(value: Decimal, places = COIN_PLACES): Decimal {
  return value.round(places, ROUND_UP)
}

/** For averages, which nobody is paid by. */
export function roundNearest(value: Decimal, places = COIN_PLACES): Decimal {
  return value.round(places, ROUND_HALF_UP)
}

export function smaller(a: Decimal, b: Decimal): Decimal {
  return a.lt(b) ? a : b
}

export function larger(a: Decimal, b: Decimal): Decimal {
  return a.gt(b) ? a : b
}

export function negated(value: Decimal): Decimal {
  return value.times(MINUS_ONE)
}

/** True when the decimal has no more places than that. */
export function hasPlaces(value: Decimal, places: number): boolean {
  return value.round(places, ROUND_DOWN).eq(value)
}

const MINUS_ONE = decimal('-1')
