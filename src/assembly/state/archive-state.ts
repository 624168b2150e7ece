import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BookedRow } from '../../journal/booking.ts'
import type { BookingStore } from '../../journal/journal.ts'
import { Failure } from '../../lib/failure.ts'
import { type JournalToOpen, openJournal } from './open-journal.ts'
import { describeHolder, holdDirectory } from './state-directory.ts'
import { journalPlaceOf } from './state-place.ts'
import { writeArchive } from './archive-file.ts'

export interface ArchiveOptions extends Pick<
  JournalToOpen,
  'config' | 'directory' | 'password' | 'clock' | 'timers' | 'logger' | 'configOption'
> {
  /** Unix ms: what is older goes. */
  readonly before: number
  /** Where to; in the state directory when absent. */
  readonly file?: string | undefined
}

export interface ArchiveReport {
  readonly file: string
  readonly fills: number
  readonly fundings: number
}

/**
 * Moves fills and funding payments out of the journal of a state directory that no daemon holds, into a file;
 * undefined when there are none that old.
 *
 *     written ──► durable ──► taken out of the journal, with a record that says so
 *
 * Whatever ends it half way leaves them in the journal, in the file, or in both: never in neither.
 * @throws Failure ARCHIVE_NO_JOURNAL, STATE_HELD, as `writeArchive` does, and as opening a journal does
 */
export async function archiveState(options: ArchiveOptions): Promise<ArchiveReport | undefined> {
  const { config, directory, before, clock } = options
  const at = clock.now()
  const place = journalPlaceOf(config, directory)
  if (config.journal === undefined && !existsSync(place.file)) throw noJournal(place.file)
  const lock = holdDirectory(directory, describeHolder(config.name, at))
  try {
    const journal = await openJournal({ ...options, keepSince: () => 0 })
    try {
      if (!hasAny(journal, before)) return undefined
      const file = options.file ?? join(directory, `fills-before-${toFileDate(before)}.csv`)
      const { fill: fills, funding: fundings } = writeArchive(file, rowsBefore(journal, before))
      journal.dropBookings({ kind: 'archived', at, before, fills, fundings, file })
      return { file, fills, fundings }
    } finally {
      await journal.close()
    }
  } finally {
    lock.release()
  }
}

function* rowsBefore(journal: BookingStore, until: number): Generator<BookedRow> {
  yield* journal.bookings('fill', { until })
  yield* journal.bookings('funding', { until })
}

function hasAny(journal: BookingStore, before: number): boolean {
  for (const _row of rowsBefore(journal, before)) return true
  return false
}

/** `2025-06-02`, with the time where it is not midnight. */
function toFileDate(at: number): string {
  const text = new Date(at).toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.replaceAll(/[:.]/g, '-')
}

function noJournal(file: string): Failure {
  return new Failure({
    code: 'ARCHIVE_NO_JOURNAL',
    sentence: 'there is no journal to archive from',
    facts: { file },
    hint: 'name the configuration with --config, and give --market and --speed as for the run',
  })
}
