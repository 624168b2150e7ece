import { type Parameters } from './parameters.ts'
import { parameterRefusals, type Refusal } from './refusal.ts'

/** Document: "receiveWindow (ms; must not exceed 60 s)". Where a request names none, the longest holds. */
const RECEIVE_WINDOW_MS_MAX = 60_000

/** Honours a request's own requestTime and receiveWindow, where its endpoint has them. */
export function checkReceiveWindow(
  { requestTime, receiveWindow }: Parameters,
  { now, status }: { readonly now: number; readonly status: number },
): Refusal | undefined {
  if (typeof requestTime !== 'string') return undefined
  const windowMs = typeof receiveWindow === 'string' ? Number(receiveWindow) : RECEIVE_WINDOW_MS_MAX
  return Math.abs(now - Number(requestTime)) > windowMs ? parameterRefusals.outsideWindow(status) : undefined
}
