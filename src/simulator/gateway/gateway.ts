import { accept } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'

/**
 * An answer proves that key, clock and signature are right. The document does not show it, so this
 * one is our own: UID, query and body as they arrived under the signature, and the exchange's
 * clock.
 */
export const gatewayHandlers = {
  gatewayTest: ({ now }, { uid }, { query, body }) =>
    accept({ uid, query, body, serverTime: String(now) }),
} satisfies Handlers<{ readonly now: number }>
