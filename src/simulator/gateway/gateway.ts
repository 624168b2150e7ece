import { accept } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'

/**
 * The signed gateway: whoever gets an answer has key, clock and signature right. The document does not show what its
 * example path answers; this is the simulator's own: the UID of the client that signed, query and body as they arrived
 * under the signature, and the exchange's clock in Unix ms, for a client that wants to know how far its own stands off.
 */
export const gatewayHandlers = {
  gatewayTest: ({ now }, { uid }, { query, body }) =>
    accept({ uid, query, body, serverTime: String(now) }),
} satisfies Handlers<{ readonly now: number }>
