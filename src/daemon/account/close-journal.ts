import { type Book } from '../../engine/book/book.ts'
import { takeBookChanges } from '../../engine/book/book-json.ts'
import { type Journal } from '../../journal/journal.ts'
import { messageOf } from '../../lib/failure.ts'
import { type DaemonLogger } from '../reporting/logger.ts'
import { forgetRetreat } from '../state/retreat-note.ts'

export interface JournalToClose {
  readonly journal: Journal
  readonly book: Book
  /** The state directory. */
  readonly directory: string
  readonly logger: Pick<DaemonLogger, 'log'>
  /** False after a breakdown: then it is left as it is, and recovery reads what reached the disk. */
  readonly isWhole: boolean
  /** It could not be written after all. */
  readonly onBroken: (error: unknown) => void
}

/** Ends a run in the journal: the next start reads a checkpoint, and believes the book. */
export function closeJournal({ journal, book, directory, logger, isWhole, onBroken }: JournalToClose): void {
  try {
    if (isWhole) {
      journal.saveCheckpoint(takeBookChanges(book))
      forgetRetreat(directory)
    }
  } catch (error) {
    onBroken(error)
  }
  try {
    journal.close()
  } catch (error) {
    logger.log('error', 'journal.notClosed', { reason: messageOf(error) })
  }
}
