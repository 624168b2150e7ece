import { z } from 'zod'

interface Limits {
  readonly min: number
  readonly max: number
}

/** Both limits are included. */
export const wholeNumber = ({ min, max }: Limits, description: string) =>
  z.int().min(min).max(max).meta({ description })

export const presetNumber = (
  { min, max, preset }: Limits & { readonly preset: number },
  description: string,
) => z.int().min(min).max(max).default(preset).meta({ description })
