import type { FeedId } from './feed.ts'

/** Texts are data that others have written. */
export type SignalValue = Readonly<Record<string, string | number | boolean>>

/** Strategies read it as a feed. */
export interface Signal {
  readonly feed: FeedId
  /** The sender's id, or a digest of the contents. */
  readonly id: string
  readonly value: SignalValue
  /** Unix ms, as the sender says. Absent: the order of arrival counts. */
  readonly sentAt?: number
}

export interface SignalTerms {
  readonly maxAgeMs: number
  readonly idsKeptMs: number
}

/** Senders' clocks and ours differ by this at most. */
export const SENDER_AHEAD_MS_MAX = 60_000

const SIGNAL_FEED = 'signal:'

/** No feed of a read endpoint begins so. */
export function feedOfSignal(name: string): FeedId {
  return `${SIGNAL_FEED}${name}`
}

export function nameOfSignal(feed: FeedId): string | undefined {
  return feed.startsWith(SIGNAL_FEED) ? feed.slice(SIGNAL_FEED.length) : undefined
}
