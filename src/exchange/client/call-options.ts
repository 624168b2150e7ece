import type { Answer } from '../../domain/answer.ts'
import type { EndpointName, RequestOf, ResponseOf } from '../../protocol/endpoints.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ExchangeClock } from '../clock/exchange-clock.ts'
import type { Grant, Priority } from '../limiter/grant.ts'

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
