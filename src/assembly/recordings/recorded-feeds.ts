import type { FeedId, FeedReading } from '../../domain/feed.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import { openSteps } from './recorded-quotes.ts'

export interface RecordedReading {
  /** `readAt` is in exchange time, like that of prices. */
  readonly reading: FeedReading
  /** Ticker readings before it. */
  readonly after: number
}

export type RecordedFeeds = ReadonlyMap<FeedId, readonly RecordedReading[]>

/** Most events are none of these, and parsing them takes long. */
const READ = /^\{"kind":"(?:feedRead|clockSynchronised)"/
const TICKERS = '{"kind":"snapshotTaken"'

export function readRecordedFeeds(segments: readonly SegmentFile[]): RecordedFeeds {
  const feeds = new Map<FeedId, RecordedReading[]>()
  let [offsetMs, after] = [0, 0]
  for (const { file } of segments) {
    for (const { event: text } of openSteps(file)) {
      if (text.startsWith(TICKERS)) after += 1
      if (!READ.test(text)) continue
      const event = parseEvent(text)
      if (event.kind === 'clockSynchronised') offsetMs = event.offsetMs
      if (event.kind !== 'feedRead') continue
      const { data, readAt } = event.reading
      const known = feeds.get(event.feed) ?? []
      if (known.length === 0) feeds.set(event.feed, known)
      const reading = { data, readAt: Math.round(readAt + offsetMs) }
      // After a clock was set back, an instant must not appear twice.
      if (reading.readAt > (known.at(-1)?.reading.readAt ?? 0)) known.push({ reading, after })
    }
  }
  return feeds
}
