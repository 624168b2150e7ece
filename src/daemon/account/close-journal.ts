import type { Book } from '../../engine/book/book.ts'
import { takeBookChanges } from '../../engine/book/book-rows.ts'
import type { BookingStore, OpenedJournal } from '../../journal/journal.ts'
import { untilDurable } from '../../journal/until-durable.ts'
import { messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import { forgetRetreat } from '../../assembly/state/retreat-note.ts'

export interface JournalToClose {
  readonly journal: Omit<OpenedJournal, keyof BookingStore>
  readonly book: Book
  readonly directory: string
  readonly logger: Pick<DaemonLogger, 'log'>
  /**
   * False after a breakdown: the journal stays as it is, and recovery reads what reached the disk.
   */
  readonly isWhole: boolean
  readonly onBroken: (error: unknown) => void
}

export async function closeJournal(ending: JournalToClose): Promise<void> {
  const { journal, book, directory, logger, isWhole, onBroken } = ending
  let isClosed = false
  try {
    if (isWhole) {
      journal.saveCheckpoint(takeBookChanges(book))
      await untilDurable(journal)
      forgetRetreat(directory)
      isClosed = true
    }
  } catch (error) {
    onBroken(error)
  }
  try {
    await journal.close(isClosed)
  } catch (error) {
    logger.log('error', 'journal.notClosed', { reason: messageOf(error) })
  }
}
