import type { CallableName } from '../../protocol/endpoints.ts'

/** Lower numbers go first. Nothing waits for the reads of `background`. */
export const PRIORITY = { reducesRisk: 0, addsRisk: 1, reads: 2, background: 3 } as const

export type CallPriority = (typeof PRIORITY)[keyof typeof PRIORITY]

export const PRIORITIES = [0, 1, 2, 3] as const

/** Only the first call of either method counts. */
export interface Grant {
  readonly endpoint: CallableName
  /** Called at the end of the call, since the window counts from now. */
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
  /**
   * Calls `onGranted` before it returns if a grant is ready and no request of at least this
   * priority waits; others wait by priority, then age. Undefined: too many wait, and `onGranted` is
   * never called.
   */
  request(
    endpoint: CallableName,
    priority: CallPriority,
    onGranted: (grant: Grant) => void,
  ): WaitingRequest | undefined
}
