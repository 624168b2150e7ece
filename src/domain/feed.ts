/** A read endpoint's answer, under our own names; frozen. */
export interface FeedReading {
  readonly data: unknown
  readonly readAt: number
}

/** Strategies that read the same data share one feed. */
export type FeedId = string
