import type { FeedId, FeedReading } from '../../domain/feed.ts'
import { parseEvent } from '../../engine/replay/event-text.ts'
import type { SegmentFile } from '../../recording/recordings.ts'
import { openSteps } from './recorded-quotes.ts'

export interface RecordedReading {
  /** `readAt` is in exchange time, like that of prices. */
  readonly reading: FeedReading
  /** So many readings of tickers came before it. */
  readonly after: number
}

export type RecordedFeeds = ReadonlyMap<FeedId, readonly RecordedReading[]>

/** Only these events are parsed, because parsing all takes long. */
const READ = /^\{"kind":"(?:feedRead|signalTaken|clockSynchronised)"/
const TICKERS = '{"kind":"snapshotTaken"'

export function readRecordedFeeds(segments: readonly SegmentFile[]): RecordedFeeds {
  const feeds = new Map<FeedId, RecordedReading[]>()
  let [offsetMs, after] = [0, 0]
  const toReadAt = (at: number): number => Math.round(at + offsetMs)
  for (const { file } of segments) {
    for (const { at, event: text } of openSteps(file)) {
      if (text.startsWith(TICKERS)) after += 1
      if (!READ.test(text)) continue
      const event = parseEvent(text)
      if (event.kind === 'clockSynchronised') offsetMs = event.offsetMs
      if (event.kind === 'signalTaken') {
        const { feed, id, value: data } = event
        const known = listOf(feeds, feed)
        // Two signals may come at one instant, and each is played.
        const least = (known.at(-1)?.reading.readAt ?? 0) + 1
        known.push({ reading: { data, id, readAt: Math.max(least, toReadAt(at)) }, after })
      }
      if (event.kind !== 'feedRead') continue
      const { data, readAt } = event.reading
      const known = listOf(feeds, event.feed)
      const reading = { data, readAt: toReadAt(readAt) }
      // After a clock was set back, an instant must not appear twice.
      if (reading.readAt > (known.at(-1)?.reading.readAt ?? 0)) known.push({ reading, after })
    }
  }
  return feeds
}

function listOf(feeds: Map<FeedId, RecordedReading[]>, feed: FeedId): RecordedReading[] {
  const known = feeds.get(feed) ?? []
  if (known.length === 0) feeds.set(feed, known)
  return known
}
