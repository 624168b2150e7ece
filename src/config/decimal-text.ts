/**
 * Decimals as text: a size or an amount of money keeps the digits its author wrote, from the YAML file to
 * the wire, and never passes through a float.
 */
import { z } from 'zod'

/** 18 digits either side: more than any contract has, and a cap on what anyone can make us read. */
const MAGNITUDE = String.raw`(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?`

/** A decimal above zero, as text. An unquoted YAML number is taken digit for digit. */
export const positiveDecimal = (description: string) =>
  z
    .string()
    .regex(new RegExp(`^(?=.*[1-9])${MAGNITUDE}$`))
    .meta({ title: 'a decimal above zero such as "0.001"', description, decimal: true })

/** A decimal that may be negative or zero, as text. */
export const signedDecimal = (description: string) =>
  z
    .string()
    .regex(new RegExp(`^-?${MAGNITUDE}$`))
    .meta({ title: 'a decimal such as "0.0002"', description, decimal: true })

/** The three orders of two decimals: negative when `left` is smaller, zero when equal. */
export function compareDecimals(left: string, right: string): number {
  const [a, b] = alignDecimals(left, right)
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether `value` is a whole number of `step`s. `step` is above zero. */
export function isMultipleOf(value: string, step: string): boolean {
  const [a, b] = alignDecimals(value, step)
  return a % b === 0n
}

/** Both values as whole numbers of the same power of ten. */
function alignDecimals(left: string, right: string): [bigint, bigint] {
  const places = Math.max(decimalPlaces(left), decimalPlaces(right))
  return [scaleDecimal(left, places), scaleDecimal(right, places)]
}

const decimalPlaces = (value: string): number => value.split('.')[1]?.length ?? 0

function scaleDecimal(value: string, places: number): bigint {
  const [whole = '0', fraction = ''] = value.split('.')
  return BigInt(whole + fraction.padEnd(places, '0'))
}
