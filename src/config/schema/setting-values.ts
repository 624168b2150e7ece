/** Decimals as text keep their digits from the YAML file to the wire. */
import { validateDetailed } from 'node-cron'
import { z } from 'zod'
import { decimal, ZERO } from '../../lib/decimal.ts'

/** 18 digits on either side exceed any contract. */
const MAGNITUDE = String.raw`(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?`

/**
 * Keeps a step a safe integer of its smallest unit. Coins at 0.00001 need more than nine decimals.
 */
const STEP = String.raw`(?:(?:0|[1-9]\d{0,5})(?:\.\d{1,9})?|0\.\d{10,12})`

export const positiveDecimal = (description: string) => aboveZero(MAGNITUDE, description)

export const positiveAmount = (description: string) =>
  aboveZero(MAGNITUDE, description, 'a decimal above zero such as "1000"')

export const sizeDecimal = (description: string) => positiveDecimal(description).brand<'size'>()

export type Size = z.infer<ReturnType<typeof sizeDecimal>>

export const stepDecimal = (description: string) =>
  aboveZero(
    STEP,
    description,
    'a decimal above zero such as "0.001", below a million, with at most 9 places, or 12 if it is below 1',
  )

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

export const isSameDecimal = (left: string, right: string): boolean =>
  decimal(left).eq(decimal(right))

export const isMultipleOf = (value: string, step: string): boolean =>
  decimal(value).mod(decimal(step)).eq(ZERO)

export const isPositiveDecimal = (value: unknown): value is string =>
  typeof value === 'string' && new RegExp(`^(?=.*[1-9])${MAGNITUDE}$`).test(value)

interface Limits {
  readonly min: number
  readonly max: number
}

export const wholeNumber = ({ min, max }: Limits, description: string) =>
  z.int().min(min).max(max).meta({ description })

export const presetNumber = (
  { min, max, preset }: Limits & { readonly preset: number },
  description: string,
) => z.int().min(min).max(max).default(preset).meta({ description })

/** A pattern has five fields, or six that begin with seconds. */
export function explainPattern(pattern: string): string | undefined {
  const { valid, errors } = validateDetailed(pattern)
  if (valid) return undefined
  return `expected a cron pattern (${errors.map(({ message }) => message).join('; ')})`
}

/** Without this, node-cron fails when the first job is due. */
export function isTimeZone(timeZone: string): boolean {
  // Asking the runtime for this default would cost a start 15 ms.
  if (timeZone === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}
