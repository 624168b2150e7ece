/**
 * The result of one read of a feed. Its data is the answer of a read endpoint, under our own names;
 * frozen.
 */
export interface FeedReading {
  readonly data: unknown
  /** Unix ms, our clock, when its last byte arrived. */
  readonly readAt: number
}

/** Names the data that is read: strategies that read the same data share one feed. */
export type FeedId = string
