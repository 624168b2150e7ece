import { type Journal } from '../journal/journal.ts'
import { type JournalPort } from './ports.ts'

/** A journal whose commit is done when the call returns: SQLite, and memory. */
export function promptJournal(journal: Journal): JournalPort {
  return {
    append: (record) => journal.append(record, false),
    commit(done) {
      journal.flush()
      done()
    },
    flush: () => journal.flush(),
    saveCheckpoint: (book) => journal.saveCheckpoint(book),
  }
}
