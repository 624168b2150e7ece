import type { DaemonConfig } from '../../config/load-config.ts'
import type { StopPolicy } from '../../engine/event.ts'
import type { OpenedJournal } from '../../journal/journal.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

/** Refused keys are the operator's to mend, and nothing has broken. */
export function logFatal(logger: Pick<DaemonLogger, 'log'>, error: unknown): void {
  if (isOlder(error)) return logger.log('fatal', 'state.older', { reason: messageOf(error) })
  if (isOfKeys(error)) return logger.log('fatal', 'account.refused', { reason: messageOf(error) })
  if (error instanceof Failure && error.code === 'JOURNAL_LEASE_LOST')
    return logger.log('fatal', 'lease.lost', { reason: messageOf(error) })
  logger.log('fatal', 'daemon.broken', { reason: messageOf(error), ...placeOf(error) })
}

/** The state is an older copy. */
function isOlder(error: unknown): boolean {
  return error instanceof Failure && error.code === 'STATE_OLDER_THAN_EXCHANGE'
}

/** It was not let in, before anything was done. */
function isOfKeys(error: unknown): boolean {
  return (
    error instanceof Failure && ['CREDENTIALS_REFUSED', 'STATE_OF_OTHER_KEYS'].includes(error.code)
  )
}

/** Nothing may be signed any more, not even a cancel-all: another process may trade the account. */
export function isBarred({ lease }: Pick<OpenedJournal, 'lease'>): boolean {
  return lease?.objection() !== undefined
}

/**
 * What a start ends with that failed. Where the lease ran out meanwhile, as while the process was suspended, it is that:
 * a supervisor starts it again, whatever else was found.
 */
export function endOfStart(error: unknown, { lease }: Pick<OpenedJournal, 'lease'>): unknown {
  let end = error
  // What was given back is not lost.
  if (lease?.objection() !== undefined) lease.onLost((lost) => (end = lost))
  return end
}

interface Breakdown {
  readonly config: Pick<DaemonConfig, 'onStop'>
  readonly journal: Pick<OpenedJournal, 'lease'>
  /** One whose record did not reach the disk is one. */
  readonly isKilled: boolean
  /** What has ended the run. */
  readonly error: unknown
}

/** What becomes of the orders that rest when a run breaks. */
export function retreatPolicy({ config, journal, isKilled, error }: Breakdown): StopPolicy {
  if (isBarred(journal)) return 'leave'
  // Orders of a run that nobody remembers rest, and perhaps some of this one.
  return isKilled || isOlder(error) ? 'cancel' : config.onStop
}

/** Where a defect showed; a failure explains itself. */
function placeOf(error: unknown): { readonly stack?: string } {
  if (error instanceof Failure || !(error instanceof Error) || error.stack === undefined) return {}
  return { stack: error.stack }
}
