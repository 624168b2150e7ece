import type { PlayedFeed } from '../../backtest/played-feeds.ts'
import type { RecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'

/** When the prices were read that the backtest reads again. */
export interface PricesRead {
  /** Unix ms, exchange clock, rising: all readings of the recorded run. */
  readonly readsAt: readonly number[]
  /** One way, ms. */
  readonly latencyMs: number
}

/**
 * The feeds of a recorded run, heard between the same two readings of prices as then: the ways there and back took
 * another time in the recorded run, and a decision that saw a reading is to see it again.
 */
export function playRecordedFeeds(feeds: RecordedFeeds, prices: PricesRead): readonly PlayedFeed[] {
  return [...feeds].map(([feed, recorded]) => ({
    feed,
    heardAt: recorded.map(({ reading: { readAt }, after }) => placeBetween(readAt, after, prices)),
    reading: (index) => {
      const found = recorded[index]
      if (found === undefined) throw new RangeError(`feed ${feed} has no reading ${index}`)
      return found.reading
    },
  }))
}

/** @param after How many readings of prices were there before it. */
function placeBetween(readAt: number, after: number, { readsAt, latencyMs }: PricesRead): number {
  const before = (readsAt[after - 1] ?? Number.NEGATIVE_INFINITY) + latencyMs + 1
  const next = (readsAt[after] ?? Number.POSITIVE_INFINITY) + latencyMs - 1
  return Math.min(Math.max(readAt, before), next)
}
