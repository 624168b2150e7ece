import type { FeedId } from './feed.ts'

/** Fields by name, as its schema has them. Its texts are data that others have written. */
export type SignalValue = Readonly<Record<string, string | number | boolean>>

/** It was sent under a name of `signals:`, and is a feed of the strategies that read it. */
export interface Signal {
  readonly feed: FeedId
  /** The sender's, or a digest of the contents. */
  readonly id: string
  readonly value: SignalValue
}

export interface SignalTerms {
  /** So long a strategy is shown a signal. */
  readonly maxAgeMs: number
  /** So long an id stays taken. */
  readonly idsKeptMs: number
}

/** The clocks of senders and ours differ by this at most. */
export const SENDER_AHEAD_MS_MAX = 60_000

const SIGNAL_FEED = 'signal:'

/** No request of a read endpoint begins so. */
export function feedOfSignal(name: string): FeedId {
  return `${SIGNAL_FEED}${name}`
}

/** Undefined for a feed that is read. */
export function nameOfSignal(feed: FeedId): string | undefined {
  return feed.startsWith(SIGNAL_FEED) ? feed.slice(SIGNAL_FEED.length) : undefined
}
