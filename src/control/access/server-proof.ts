import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { ControlTokens } from './token-file.ts'

/** Needs no token: the page requests the proof before it sends its own. */
export const PROOF_PATH = '/v1/proof'

export const proofQuerySchema = z.object({
  nonce: z
    .string()
    .regex(/^[0-9a-f]{32,128}$/)
    .meta({ description: 'random, in hexadecimal digits' }),
})

export const proofSchema = z.strictObject({
  proofs: z.array(z.string()).meta({
    description:
      'HMAC-SHA256 of `intentd proof NONCE`, in hexadecimal digits, with each token as key: one of them is that of yours, or another program answers.',
  }),
})

/** Proves that the server knows the tokens, without revealing them. */
export function proveTokens(
  { full, read }: ControlTokens,
  nonce: string,
): z.infer<typeof proofSchema> {
  const prove = (token: string): string =>
    createHmac('sha256', token).update(`intentd proof ${nonce}`).digest('hex')
  return { proofs: [full, read].map((token) => prove(token.reveal())) }
}
