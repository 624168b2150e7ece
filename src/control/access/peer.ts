import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../lib/secret.ts'
import type { ControlTokens } from './token-file.ts'

export type Peer = 'full' | 'read' | 'agent' | 'nobody'

export function peerOf(authorization: string | undefined, tokens: ControlTokens | undefined): Peer {
  if (authorization === undefined || tokens === undefined) return 'nobody'
  const shown = digest(authorization)
  if (hasToken(shown, tokens.full)) return 'full'
  if (hasToken(shown, tokens.read)) return 'read'
  return hasToken(shown, tokens.agent) ? 'agent' : 'nobody'
}

/** Keeps the digests of our tokens, so that a guess costs one digest. */
const digests = new WeakMap<Secret, Buffer>()

/** Digests have one length, and are compared in constant time. */
function hasToken(shown: Buffer, token: Secret | undefined): boolean {
  if (token === undefined) return false
  const known = digests.get(token) ?? digest(`Bearer ${token.reveal()}`)
  digests.set(token, known)
  return timingSafeEqual(shown, known)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
