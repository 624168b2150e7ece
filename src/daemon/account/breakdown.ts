import type { DaemonConfig } from '../../config/load-config.ts'
import type { StopPolicy } from '../../engine/event.ts'
import { type OpenedJournal, type BookingStore, untilDurable } from '../../journal/journal.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { Book } from '../../engine/book/book.ts'
import { takeBookChanges } from '../../engine/book/book-rows.ts'
import { forgetRetreat } from '../../assembly/state/retreat-note.ts'

/** Refused keys are a mistake of the operator, and no breakdown. */
export function logFatal(logger: Pick<DaemonLogger, 'log'>, error: unknown): void {
  if (isOlder(error)) return logger.log('fatal', 'state.older', { reason: messageOf(error) })
  if (isOfKeys(error)) return logger.log('fatal', 'account.refused', { reason: messageOf(error) })
  if (error instanceof Failure && error.code === 'JOURNAL_LEASE_LOST')
    return logger.log('fatal', 'lease.lost', { reason: messageOf(error) })
  logger.log('fatal', 'daemon.broken', { reason: messageOf(error), ...placeOf(error) })
}

function isOlder(error: unknown): boolean {
  return error instanceof Failure && error.code === 'STATE_OLDER_THAN_EXCHANGE'
}

function isOfKeys(error: unknown): boolean {
  return (
    error instanceof Failure && ['CREDENTIALS_REFUSED', 'STATE_OF_OTHER_KEYS'].includes(error.code)
  )
}

/** Another process may trade the account, so not even a cancel-all may be signed. */
export function isBarred({ lease }: Pick<OpenedJournal, 'lease'>): boolean {
  return lease?.objection() !== undefined
}

export function endOfStart(error: unknown, { lease }: Pick<OpenedJournal, 'lease'>): unknown {
  let end = error
  // A lease that was given back is not lost.
  if (lease?.objection() !== undefined) lease.onLost((lost) => (end = lost))
  return end
}

interface Breakdown {
  readonly config: Pick<DaemonConfig, 'onStop'>
  readonly journal: Pick<OpenedJournal, 'lease'>
  /** A kill counts even if its record did not reach the disk. */
  readonly isKilled: boolean
  readonly error: unknown
}

export function retreatPolicy({ config, journal, isKilled, error }: Breakdown): StopPolicy {
  if (isBarred(journal)) return 'leave'
  // With an older copy of the state, unknown orders rest, perhaps of this run.
  return isKilled || isOlder(error) ? 'cancel' : config.onStop
}

/** A failure explains itself; a defect needs its stack. */
function placeOf(error: unknown): { readonly stack?: string } {
  if (error instanceof Failure || !(error instanceof Error) || error.stack === undefined) return {}
  return { stack: error.stack }
}

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
