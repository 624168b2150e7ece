import type { Answer } from '../../domain/answer.ts'
import type { CallableName, EndpointName, RequestOf, ResponseOf } from '../../protocol/endpoints.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ExchangeClock } from '../clock/exchange-clock.ts'
import type { Grant, GrantSource, Priority } from '../limiter/grant.ts'
import type { Timers } from '../../lib/timers.ts'

export interface CallOptions {
  /** The client ends the grant, however the call ends. */
  readonly grant?: Grant | undefined
  /** Without a grant. Default: that of a read. */
  readonly priority?: Priority | undefined
  readonly clockAheadMs?: number | undefined
  /**
   * Called after all waits, in the turn in which the first byte is written. A returned reason
   * prevents that: class `notSent`, code `ABORTED`.
   */
  readonly beforeWrite?: (() => string | undefined) | undefined
}

export interface EndpointCaller {
  call<Name extends EndpointName>(
    endpoint: Name,
    request: RequestOf<Name>,
  ): Promise<Answer<ResponseOf<Name>>>
}

export interface ReadingCall {
  readonly caller: EndpointCaller
  readonly clock: Clock
  readonly offset: ExchangeClock
}

export interface GrantRequest {
  readonly limiter: Pick<GrantSource, 'request'>
  readonly timers: Timers
  readonly endpoint: CallableName
  readonly priority: Priority
  readonly timeoutMs: number
}

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

export type GuardedEndpoint = Extract<EndpointName, 'spotWithdrawal' | 'createVirtualSubaccounts'>

const GUARDED: readonly CallableName[] = [
  'spotWithdrawal',
  'createVirtualSubaccounts',
] satisfies GuardedEndpoint[]

/**
 * Locked unless a client names the endpoint when it is created. The daemon never does, so no
 * strategy, defect or journal can withdraw.
 */
export function isGuarded(endpoint: CallableName): endpoint is GuardedEndpoint {
  return GUARDED.includes(endpoint)
}
