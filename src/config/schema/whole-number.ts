import { z } from 'zod'

interface Limits {
  readonly min: number
  readonly max: number
}

/** A whole number within limits, both included. */
export const wholeNumber = ({ min, max }: Limits, description: string) =>
  z.int().min(min).max(max).meta({ description })

/** The same, with a default. */
export const presetNumber = (
  { min, max, preset }: Limits & { readonly preset: number },
  description: string,
) => z.int().min(min).max(max).default(preset).meta({ description })
