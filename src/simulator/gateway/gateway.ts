import { accept } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'

/** The document shows no body, so this one is ours. */
export const gatewayHandlers = {
  gatewayTest: ({ now }, { uid }, { query, body }) =>
    accept({ uid, query, body, serverTime: String(now) }),
} satisfies Handlers<{ readonly now: number }>
