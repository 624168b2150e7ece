import { z } from 'zod'

/**
 * What every answer is wrapped in. Document: Common conventions, 2.
 * `requestTime` is a number in the document and now and then a string, or null, in real answers.
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

/** A JSON text without the byte order mark that some servers write before it. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Unix ms of the exchange's clock when it took the request, or undefined where the answer has none. */
export function requestTimeOf(answer: Envelope): number | undefined {
  const value = Number(answer.requestTime ?? Number.NaN)
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}
