/** A read endpoint's answer, under our own names; frozen. */
export interface FeedReading {
  readonly data: unknown
  readonly readAt: number
  /** Names a signal; absent for what was read. */
  readonly id?: string
  /** Not shown afterwards; Unix ms, our clock. */
  readonly untilAt?: number
  /** As the sender of a signal says, Unix ms. */
  readonly sentAt?: number
}

/** Strategies that read the same data share one feed. */
export type FeedId = string
