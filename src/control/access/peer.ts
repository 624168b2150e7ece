import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../lib/secret.ts'
import type { ControlTokens } from './token-file.ts'

export type Peer = 'full' | 'read' | 'agent' | 'nobody'

export function peerOf(authorization: string | undefined, tokens: ControlTokens | undefined): Peer {
  if (hasToken(authorization, tokens?.full)) return 'full'
  if (hasToken(authorization, tokens?.read)) return 'read'
  return hasToken(authorization, tokens?.agent) ? 'agent' : 'nobody'
}

/** Digests have one length, and are compared in constant time. */
function hasToken(authorization: string | undefined, token: Secret | undefined): boolean {
  if (token === undefined || authorization === undefined) return false
  return timingSafeEqual(digest(authorization), digest(`Bearer ${token.reveal()}`))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
