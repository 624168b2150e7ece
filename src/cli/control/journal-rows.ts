import { InvalidArgumentError } from 'commander'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { Book } from '../../engine/book/book.ts'
import { rebuildBook } from '../../engine/book/book-rows.ts'
import type { BookedFill, BookedFunding } from '../../journal/booking.ts'
import { JournalReader } from '../../journal/journal-reader.ts'
import { systemClock } from '../../lib/clock.ts'
import { newestJournal } from '../process/newest-journal.ts'
import { loadOperated } from '../operator/operated-config.ts'
import { parseDuration } from '../process/options.ts'
import type { ConfigOptions } from '../../config/config-request.ts'

export interface SpanOptions extends ConfigOptions {
  readonly since?: number
  readonly until?: number
}

/** Unix ms, from a duration before now or an instant. */
export function parseInstant(text: string): number {
  const at = Date.parse(text)
  if (/^\d{4}-/.test(text) && !Number.isNaN(at)) return at
  if (/^\d+(\.\d+)?[a-z]+$/.test(text)) return systemClock.now() - parseDuration(text)
  throw new InvalidArgumentError(
    'write how far back, such as 10m or 2h, or an instant such as 2025-06-02T06:00Z.',
  )
}

export interface OpenedRows extends Pick<SpanOptions, 'since' | 'until'> {
  readonly config: DaemonConfig
  readonly file: string
  readonly fills: Iterable<BookedFill>
  readonly funding: Iterable<BookedFunding>
  /** Ignores the span. */
  readonly allFills: () => Iterable<BookedFill>
  readonly book: () => Book
}

/**
 * Reading a year of fills in the daemon would delay its trading, so they come from the journal,
 * which may be written meanwhile.
 */
export function withRows<Result>(options: SpanOptions, use: (rows: OpenedRows) => Result): Result {
  const config = loadOperated(options)
  const file = newestJournal(config.state.directory)
  const reader = new JournalReader(file)
  const span = {
    ...(options.since === undefined ? {} : { since: options.since }),
    ...(options.until === undefined ? {} : { until: options.until }),
  }
  try {
    return use({
      ...span,
      config,
      file,
      fills: reader.bookings('fill', span) as Iterable<BookedFill>,
      funding: reader.bookings('funding', span) as Iterable<BookedFunding>,
      allFills: () => reader.bookings('fill') as Iterable<BookedFill>,
      book: () => rebuildBook(reader.contents(), config.account.positionMode),
    })
  } finally {
    reader.close()
  }
}
