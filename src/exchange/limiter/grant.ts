import type { EndpointName } from '../../protocol/endpoints.ts'

/** Who goes first: the lower number. */
export const PRIORITY = { reducesRisk: 0, addsRisk: 1, reads: 2 } as const

export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY]

export const PRIORITIES = [0, 1, 2] as const

/** The right to make one call of one endpoint. It is ended once, by either method; later ends are ignored. */
export interface Grant {
  readonly endpoint: EndpointName
  /** The call was made and is over: answered, or given up. Not to be called earlier, since the window counts from now. */
  release(call?: GrantedCall): void
  /** The call was not made: no byte of it has left. */
  unused(): void
}

export interface GrantedCall {
  /** Unix ms, exchange clock: `requestTime` of the answer, where there is one. */
  readonly requestTime?: number | undefined
  /** From just before the first byte left until now, in ms, also where no answer came. */
  readonly roundTripMs?: number | undefined
  /** The exchange said 429: the endpoint slows down. */
  readonly isRateLimited?: boolean | undefined
}

/** A request for a grant that waits for its turn. */
export interface WaitingRequest {
  /** Withdraws the request; does nothing once it was granted. */
  cancel(): void
}

/** What hands out grants: the limiter, or a stand-in of a test. */
export interface GrantSource {
  /** Returns undefined where too many wait already: then `onGranted` is never called. */
  request(
    endpoint: EndpointName,
    priority: Priority,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest | undefined
}
