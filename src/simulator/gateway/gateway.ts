import { accept } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'

/**
 * An answer proves that key, clock and signature are right. The document does not show it, so this
 * one is the simulator's own: UID, query and body as they arrived under the signature, and the
 * exchange's clock to compare with the client's.
 */
export const gatewayHandlers = {
  gatewayTest: ({ now }, { uid }, { query, body }) =>
    accept({ uid, query, body, serverTime: String(now) }),
} satisfies Handlers<{ readonly now: number }>
