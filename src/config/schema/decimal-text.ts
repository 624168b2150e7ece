/**
 * Decimals as text: a size or an amount of money keeps its digits from the YAML file to the wire,
 * and never passes through a float.
 */
import { z } from 'zod'
import { decimal, ZERO } from '../../lib/decimal.ts'

/** 18 digits on either side: more than any contract has, and a bound on the input. */
const MAGNITUDE = String.raw`(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?`

/** At most 15 digits, so that a step is a safe integer of its smallest unit. Coins at 0.00001 need more than nine places. */
const STEP = String.raw`(?:(?:0|[1-9]\d{0,5})(?:\.\d{1,9})?|0\.\d{10,12})`

/** A decimal above zero, as text. An unquoted YAML number is taken digit for digit. */
export const positiveDecimal = (description: string) => aboveZero(MAGNITUDE, description)

/** A positive decimal for an amount of money. */
export const positiveAmount = (description: string) =>
  aboveZero(MAGNITUDE, description, 'a decimal above zero such as "1000"')

/** A positive decimal for a size in the base coin, which the core counts in lots. */
export const sizeDecimal = (description: string) => positiveDecimal(description).brand<'size'>()

export type Size = z.infer<ReturnType<typeof sizeDecimal>>

/** The step of a price or a size, as text: a decimal above zero with at most 9 places, below 1 with at most 12. */
export const stepDecimal = (description: string) =>
  aboveZero(
    STEP,
    description,
    'a decimal above zero such as "0.001", below a million, with at most 9 places, or 12 if it is below 1',
  )

/** A decimal that may be negative or zero, as text. */
export const signedDecimal = (description: string) =>
  z
    .string()
    .regex(new RegExp(`^-?${MAGNITUDE}$`))
    .meta({ title: 'a decimal such as "0.0002"', description, decimal: true })

const aboveZero = (
  form: string,
  description: string,
  title = 'a decimal above zero such as "0.001"',
) =>
  z
    .string()
    .regex(new RegExp(`^(?=.*[1-9])${form}$`))
    .meta({ title, description, decimal: true })

export const isAbove = (left: string, right: string): boolean => decimal(left).gt(decimal(right))

/** Whether `value` is a whole number of `step`s. `step` is above zero. */
export const isMultipleOf = (value: string, step: string): boolean =>
  decimal(value).mod(decimal(step)).eq(ZERO)

/** Whether an unknown value is the text of a decimal above zero. */
export const isPositiveDecimal = (value: unknown): value is string =>
  typeof value === 'string' && new RegExp(`^(?=.*[1-9])${MAGNITUDE}$`).test(value)
