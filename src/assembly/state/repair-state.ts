import type { DaemonConfig } from '../../config/load-config.ts'
import { Failure } from '../../lib/failure.ts'
import { repairJournal, type RepairReport } from '../../journal/repair-journal.ts'
import { describeHolder, holdDirectory } from './state-directory.ts'
import { journalPlaceOf } from './state-place.ts'

/**
 * Undefined if there is nothing to do. @throws Failure STATE_HELD, REPAIR_ON_SERVER, and those of
 * `repairJournal`
 */
export function repairState(
  config: DaemonConfig,
  directory: string,
  at: number,
): RepairReport | undefined {
  if (config.journal !== undefined) throw onServer(config.journal.url)
  const lock = holdDirectory(directory, describeHolder(config.name, at))
  try {
    return repairJournal({
      ...journalPlaceOf(config, directory),
      stamp: new Date(at).toISOString().replaceAll(/[:.]/g, '-'),
      buildRecord: (reason) => ({
        kind: 'repaired',
        at,
        strategies: config.strategies.map(({ id }) => id),
        symbols: Object.keys(config.instruments),
        reason,
      }),
    })
  } finally {
    lock.release()
  }
}

function onServer(url: string): Failure {
  return new Failure({
    code: 'REPAIR_ON_SERVER',
    sentence: 'this journal is on PostgreSQL, and `intentd repair` repairs only files',
    facts: { url },
    hint: 'restore the database from its backup or its standby server',
  })
}
