import { accept } from '../shared/reply.ts'
import type { Handlers } from '../shared/handlers.ts'

/** An answer proves key, clock and signature. The document shows no body, so this one is ours. */
export const gatewayHandlers = {
  gatewayTest: ({ now }, { uid }, { query, body }) =>
    accept({ uid, query, body, serverTime: String(now) }),
} satisfies Handlers<{ readonly now: number }>
