import { type Book } from '../../src/engine/book/book.ts'
import { rebuildBook } from '../../src/engine/book/book-rows.ts'
import { type Journal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite-journal.ts'

/** As `daemon/open-account.ts` has them. */
const RECORDS_KEPT_MS = 7 * 86_400_000
const KEYS_KEPT_MS = 366 * 86_400_000

const IDENTITY = 'soak'
export const SALT = 'soak'
export const POSITION_MODE = 'one_way_mode'

/** The journal of a soak, as the daemon opens its own. `now`: Unix ms. */
export function openSoakJournal(file: string, now: () => number): Journal {
  return openSqliteJournal({
    file,
    identity: IDENTITY,
    salt: SALT,
    keepSince: () => now() - RECORDS_KEPT_MS,
    keepKeysSince: () => now() - KEYS_KEPT_MS,
  })
}

/** The book as a start rebuilds it. */
export function restoreBook(journal: Journal): Book {
  return rebuildBook(journal.load(), POSITION_MODE)
}
