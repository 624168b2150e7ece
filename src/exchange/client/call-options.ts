import { type Answer } from '../../domain/answer.ts'
import { type EndpointName, type RequestOf, type ResponseOf } from '../../protocol/endpoints.ts'
import { type Clock } from '../../lib/clock.ts'
import { type ClockOffset } from '../clock/clock-offset.ts'
import { type Grant, type Priority } from '../limiter/grant.ts'

export interface CallOptions {
  /** The right to call, where the caller has it already. Whoever sends ends it, whatever becomes of the call. */
  readonly grant?: Grant | undefined
  /** Without a grant: how urgently to ask the limiter for one. Default: as for a read. */
  readonly priority?: Priority | undefined
  /**
   * Looked at in the same turn as the first byte is written, after every wait. A reason not to write it makes
   * the call refused, class `notSent`, code `ABORTED`.
   */
  readonly beforeWrite?: (() => string | undefined) | undefined
}

/** Whoever makes calls: the client, or a test's stand-in. */
export interface EndpointCaller {
  call<Name extends EndpointName>(endpoint: Name, request: RequestOf<Name>): Promise<Answer<ResponseOf<Name>>>
}

/** What a reading is made with. */
export interface ReadingCall {
  readonly caller: EndpointCaller
  readonly clock: Clock
  readonly offset: ClockOffset
}
