import { z } from 'zod'

/** A whole number within limits, both included. */
export const wholeNumber = (
  { min, max }: { readonly min: number; readonly max: number },
  description: string,
) => z.int().min(min).max(max).meta({ description })
