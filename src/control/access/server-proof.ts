import { createHmac } from 'node:crypto'
import type { ControlTokens } from './token-file.ts'

/** The path needs no token, because the page requests the proof before it sends its own. */
export const PROOF_PATH = '/v1/proof'

export const NONCE = /^[0-9a-f]{32,128}$/

/** Proves that the server knows the tokens, without revealing them. */
export function proveTokens(
  { full, read }: ControlTokens,
  nonce: string,
): { readonly proofs: readonly string[] } {
  const prove = (token: string): string =>
    createHmac('sha256', token).update(`intentd proof ${nonce}`).digest('hex')
  return { proofs: [full, read].map((token) => prove(token.reveal())) }
}
