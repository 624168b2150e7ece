/** Our own names; frozen. */
export interface FeedReading {
  readonly data: unknown
  readonly readAt: number
  /** A signal's; absent for what was read. */
  readonly id?: string
  /** Unix ms, our clock. */
  readonly untilAt?: number
  /** As the sender of a signal says, Unix ms. */
  readonly sentAt?: number
}

/** Strategies share it. */
export type FeedId = string
