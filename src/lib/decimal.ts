import Big from 'big.js'

/**
 * Exact decimals for money: fees, profit, balances, notionals.
 *
 * big.js in strict mode: it throws on every JavaScript number, so a float can never slip into a sum.
 * Additions and products are exact; only division rounds (30 places, half up). `toString` never uses
 * an exponent, so a value can go on the wire or into the journal as it prints.
 */
const StrictBig = Big()
StrictBig.strict = true
StrictBig.DP = 30
StrictBig.NE = -40
StrictBig.PE = 40

export type Decimal = Big

export const ZERO: Decimal = new StrictBig('0')

/** Reads a decimal string such as `-12.50`. @throws when the text is not a plain decimal number. */
export function decimal(text: string): Decimal {
  return new StrictBig(text)
}

/** An integer count (ticks, lots) as a decimal. @throws when it is not a safe integer. */
export function decimalOfInteger(value: number): Decimal {
  if (!Number.isSafeInteger(value)) throw new RangeError(`expected a safe integer, got ${value}`)
  return new StrictBig(String(value))
}

export function sumDecimals(values: Iterable<Decimal>): Decimal {
  let sum = ZERO
  for (const value of values) sum = sum.plus(value)
  return sum
}
