import { accept } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'

/**
 * The signed gateway: an answer proves that key, clock and signature are right. The document does
 * not show the example path's answer, so this one is the simulator's own: UID of the signing
 * client, query and body as they arrived under the signature, and the exchange's clock in Unix ms,
 * to compare with the client's.
 */
export const gatewayHandlers = {
  gatewayTest: ({ now }, { uid }, { query, body }) =>
    accept({ uid, query, body, serverTime: String(now) }),
} satisfies Handlers<{ readonly now: number }>
