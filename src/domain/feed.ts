/** Frozen. */
export interface FeedReading {
  readonly data: unknown
  readonly readAt: number
  /** Here and below: only signals have it. */
  readonly id?: string
  readonly untilAt?: number
  /** Unix ms, as the sender says. */
  readonly sentAt?: number
}

export type FeedId = string
