import { Failure, messageOf } from '../../lib/failure.ts'
import { type DaemonLogger } from '../reporting/logger.ts'

/** Refused keys are the operator's to mend, and nothing has broken. */
export function logFatal(logger: Pick<DaemonLogger, 'log'>, error: unknown): void {
  if (isOfKeys(error)) return logger.log('fatal', 'account.refused', { reason: messageOf(error) })
  logger.log('fatal', 'daemon.broken', { reason: messageOf(error), ...placeOf(error) })
}

/** It was not let in, before anything was done. */
function isOfKeys(error: unknown): boolean {
  return error instanceof Failure && ['CREDENTIALS_REFUSED', 'STATE_OF_OTHER_KEYS'].includes(error.code)
}

/** The journal could not be written. */
export function isPoisoned(error: unknown): boolean {
  return error instanceof Failure && error.code === 'JOURNAL_POISONED'
}

/** Where a defect showed; a failure explains itself. */
function placeOf(error: unknown): { readonly stack?: string } {
  if (error instanceof Failure || !(error instanceof Error) || error.stack === undefined) return {}
  return { stack: error.stack }
}
