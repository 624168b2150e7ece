/** What one read of a feed said. Its data is the answer of a read endpoint, under our own names; frozen. */
export interface FeedReading {
  readonly data: unknown
  /** Unix ms, our clock, when its last byte had arrived. */
  readonly readAt: number
}

/** Names what is read, not who asked: strategies that ask for the same thing share one feed. */
export type FeedId = string
