import type { Answer } from '../../domain/answer.ts'
import type { EndpointName, RequestOf, ResponseOf } from '../../protocol/endpoints.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ExchangeClock } from '../clock/exchange-clock.ts'
import type { Grant, GrantSource, Priority } from '../limiter/grant.ts'
import type { Timers } from '../../lib/timers.ts'

export interface CallOptions {
  /** The grant, where the caller has one already. The client ends it, whatever becomes of the call. */
  readonly grant?: Grant | undefined
  /** Without a grant: how urgently to ask the limiter for one. Default: as for a read. */
  readonly priority?: Priority | undefined
  /** How far ahead of ours the clock is that signs it, ms. Default: the exchange's, as it is known. */
  readonly clockAheadMs?: number | undefined
  /**
   * Called after every wait, in the same turn in which the first byte is written. If it returns a reason, nothing is
   * written, and the call is refused, class `notSent`, code `ABORTED`.
   */
  readonly beforeWrite?: (() => string | undefined) | undefined
}

/** What makes calls: the client, or a stand-in of a test. */
export interface EndpointCaller {
  call<Name extends EndpointName>(
    endpoint: Name,
    request: RequestOf<Name>,
  ): Promise<Answer<ResponseOf<Name>>>
}

/** What a reader needs to make its calls. */
export interface ReadingCall {
  readonly caller: EndpointCaller
  readonly clock: Clock
  readonly offset: ExchangeClock
}

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

/** Endpoints that move money out of the account or make accounts. */
export type GuardedEndpoint = Extract<EndpointName, 'spotWithdrawal' | 'createVirtualSubaccounts'>

const GUARDED: readonly EndpointName[] = [
  'spotWithdrawal',
  'createVirtualSubaccounts',
] satisfies GuardedEndpoint[]

/**
 * A guarded endpoint is locked in every client that was not created for it by name. The daemon's clients are created for
 * none, so no strategy, defect or journal can make it withdraw.
 */
export function isGuarded(endpoint: EndpointName): endpoint is GuardedEndpoint {
  return GUARDED.includes(endpoint)
}
