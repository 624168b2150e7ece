import Big from 'big.js'

const DIVISION_DECIMALS = 30

/**
 * big.js in strict mode throws on every JavaScript number, so no float slips in. Only division
 * rounds (30 decimals, half up). `toString` never uses an exponent.
 */
const StrictBig = Big()
StrictBig.strict = true
StrictBig.DP = DIVISION_DECIMALS
StrictBig.NE = -40
StrictBig.PE = 40

export type Decimal = Big

export const ZERO: Decimal = new StrictBig('0')

/** @throws when the text is not a plain decimal such as `-12.50` */
export function decimal(text: string): Decimal {
  return new StrictBig(text)
}

export function isDecimal(value: unknown): value is Decimal {
  return value instanceof StrictBig
}

/** @throws when it is not a safe integer */
export function decimalOfInteger(value: number): Decimal {
  if (!Number.isSafeInteger(value)) throw new RangeError(`expected a safe integer, got ${value}`)
  return new StrictBig(String(value))
}

/** The given rounding is several times faster than a full quotient. */
export function quotient(
  numerator: Decimal,
  denominator: Decimal,
  {
    decimals,
    rounding = 'halfUp',
  }: { readonly decimals: number; readonly rounding?: 'halfUp' | 'up' },
): Decimal {
  // big.js takes both only from the constructor.
  StrictBig.DP = decimals
  if (rounding === 'up') StrictBig.RM = 3
  try {
    return numerator.div(denominator)
  } finally {
    StrictBig.DP = DIVISION_DECIMALS
    StrictBig.RM = 1
  }
}

export function sumDecimals(values: Iterable<Decimal>): Decimal {
  let sum = ZERO
  for (const value of values) sum = sum.plus(value)
  return sum
}
