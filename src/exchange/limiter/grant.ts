import type { EndpointName } from '../../protocol/endpoints.ts'

export const PRIORITY = { reducesRisk: 0, addsRisk: 1, reads: 2 } as const

export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY]

export const PRIORITIES = [0, 1, 2] as const

/** Only the first call of either method counts. */
export interface Grant {
  readonly endpoint: EndpointName
  /** Not earlier than the end of the call, since the window counts from now. */
  release(call?: GrantedCall): void
  unused(): void
}

export interface GrantedCall {
  readonly requestTime?: number | undefined
  readonly roundTripMs?: number | undefined
  readonly isRateLimited?: boolean | undefined
}

export interface WaitingRequest {
  cancel(): void
}

export interface GrantSource {
  /** Returns undefined if too many wait: then `onGranted` is never called. */
  request(
    endpoint: EndpointName,
    priority: Priority,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest | undefined
}
