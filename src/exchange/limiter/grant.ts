import type { CallableName } from '../../protocol/endpoints.ts'

/** The lower number goes first. `background`: reads that nothing waits for. */
export const PRIORITY = { reducesRisk: 0, addsRisk: 1, reads: 2, background: 3 } as const

export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY]

export const PRIORITIES = [0, 1, 2, 3] as const

/** The right to make one call of one endpoint. Only the first call of either method counts. */
export interface Grant {
  readonly endpoint: CallableName
  /**
   * The call was made and is over. It must not be called earlier, since the window counts from now.
   */
  release(call?: GrantedCall): void
  /** No byte of the call has left. */
  unused(): void
}

export interface GrantedCall {
  readonly requestTime?: number | undefined
  /** From just before the first byte left until now, also without an answer. */
  readonly roundTripMs?: number | undefined
  readonly isRateLimited?: boolean | undefined
}

export interface WaitingRequest {
  /** Does nothing once granted. */
  cancel(): void
}

export interface GrantSource {
  /** Returns undefined if too many wait: then `onGranted` is never called. */
  request(
    endpoint: CallableName,
    priority: Priority,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest | undefined
}
