import { z } from 'zod'

/**
 * Envelope of every answer. Document: Common conventions, 2. `requestTime` is a number in the
 * document; in real answers it is sometimes a string or null.
 */
export const envelope = z.object({
  code: z.string(),
  msg: z.string().nullish(),
  message: z.string().nullish(),
  requestTime: z.union([z.number(), z.string(), z.null()]).optional(),
  data: z.unknown().optional(),
})

export type Envelope = z.infer<typeof envelope>

export const SUCCESS_CODE = '00000'

/** Removes the byte order mark that some servers write before JSON. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Exchange time at which the request was taken, Unix ms; undefined if the answer has none. */
export function requestTimeOf(answer: Envelope): number | undefined {
  const value = Number(answer.requestTime ?? Number.NaN)
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}
