import type { Timers } from '../../lib/timers.ts'
import type { EndpointName } from '../../protocol/endpoints.ts'
import type { Grant, GrantSource, Priority } from '../limiter/grant.ts'

export interface GrantRequest {
  readonly limiter: Pick<GrantSource, 'request'>
  readonly timers: Timers
  readonly endpoint: EndpointName
  readonly priority: Priority
  readonly timeoutMs: number
}

/** Waits for a grant. Resolves to the reason where there is none: too many requests wait, or none came in time. */
export function awaitGrant(
  wanted: GrantRequest,
): Promise<Grant | 'LIMITER_FULL' | 'LIMITER_TIMEOUT'> {
  const { limiter, timers, endpoint, priority, timeoutMs } = wanted
  return new Promise((resolve) => {
    let isGranted = false
    let cancelDeadline = (): void => undefined
    const waiting = limiter.request(endpoint, priority, (grant) => {
      isGranted = true
      cancelDeadline()
      resolve(grant)
    })
    if (isGranted) return
    if (waiting === undefined) {
      resolve('LIMITER_FULL')
      return
    }
    cancelDeadline = timers.after(timeoutMs, () => {
      waiting.cancel()
      resolve('LIMITER_TIMEOUT')
    })
  })
}
