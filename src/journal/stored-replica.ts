import type { BookedRow, BookingSpan } from './booking.ts'
import { translateJournalError } from './journal-failures.ts'
import { openReading, readNature } from './journal-layout.ts'
import type { JournalContents } from './journal.ts'
import { JournalReader } from './journal-reader.ts'
import { toContents } from './journal-tables.ts'
import { readVerified } from './verify-journal.ts'

/** As of its last update, without the server. */
export interface StoredReplica {
  readonly salt: string
  readonly contents: JournalContents
  /** 0: there is no record. */
  readonly lastSequence: number
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  close(): void
}

/** @throws Failure JOURNAL_UNREADABLE, JOURNAL_CORRUPT, JOURNAL_LAYOUT_UNKNOWN */
export function openStoredReplica(file: string): StoredReplica {
  try {
    const database = openReading(file)
    try {
      const nature = readNature(database, file)
      const contents = toContents(readVerified(database, nature))
      const reader = new JournalReader(file)
      return {
        salt: nature.salt,
        contents,
        lastSequence: reader.lastSequence(),
        bookings: (kind, span) => reader.bookings(kind, span),
        close: () => reader.close(),
      }
    } finally {
      database.close()
    }
  } catch (error) {
    throw translateJournalError(error, file)
  }
}
