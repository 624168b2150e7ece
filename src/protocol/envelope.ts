import { z } from 'zod'

/** Document: Common conventions, 2. Real `requestTime` is sometimes a string or null. */
export const envelope = z.object({
  code: z.string(),
  msg: z.string().nullish(),
  message: z.string().nullish(),
  requestTime: z.union([z.number(), z.string(), z.null()]).optional(),
  data: z.unknown().optional(),
})

export type Envelope = z.infer<typeof envelope>

export const SUCCESS_CODE = '00000'

/** Some servers write a byte order mark before JSON. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

export function requestTimeOf(answer: Envelope): number | undefined {
  const value = Number(answer.requestTime ?? Number.NaN)
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}
