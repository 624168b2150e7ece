import { type PositionMode } from '../../domain/instrument.ts'
import { type JournalContents } from '../../journal/journal.ts'
import { applyRecord } from './apply-record.ts'
import { type Book, createBook } from './book.ts'
import { bookFromJson } from './book-json.ts'

/** The book as the journal's last writer had it: its checkpoint, and every record after that (DET2). */
export function rebuildBook({ checkpoint, records }: JournalContents, positionMode: PositionMode): Book {
  const book = checkpoint === undefined ? createBook(positionMode) : bookFromJson(checkpoint)
  for (const record of records) applyRecord(book, record)
  return book
}
