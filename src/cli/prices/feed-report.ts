import { join } from 'node:path'
import type { RecordedFeeds } from '../../assembly/recordings/recorded-feeds.ts'
import { formatFeedFile, nameFeedFile } from '../../backtest/feed-file.ts'
import { writeNewFile } from '../../prices/write-new-file.ts'
import { showTime } from '../../report/text/figures.ts'

export interface WrittenFeed {
  readonly feed: string
  readonly readings: number
  readonly from: number
  readonly to: number
  readonly file: string
}

export function writeFeedFiles(
  feeds: RecordedFeeds,
  { directory, isReplacing }: { readonly directory: string; readonly isReplacing: boolean },
): readonly WrittenFeed[] {
  return [...feeds].map(([feed, recorded]) => {
    const readings = recorded.map(({ reading }) => reading)
    const file = join(directory, nameFeedFile(feed))
    writeNewFile(file, Buffer.from(formatFeedFile(feed, readings)), { isReplacing })
    const [from = 0, to = 0] = [readings[0]?.readAt, readings.at(-1)?.readAt]
    return { feed, readings: readings.length, from, to, file }
  })
}

export function describeFeed({ feed, readings, from, to, file }: WrittenFeed): string {
  return `feed ${feed}: ${readings.toLocaleString('en')} readings, ${showTime(from)} to ${showTime(to)}\n  ${file}`
}
