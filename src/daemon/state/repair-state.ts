import { type DaemonConfig } from '../../config/load-config.ts'
import { repairJournal, type RepairReport } from '../../journal/repair-journal.ts'
import { describeHolder, holdDirectory } from './state-directory.ts'
import { journalPlaceOf } from './state-place.ts'

/**
 * Repairs the journal of a state directory that no daemon holds; undefined when it needs none. `at`: Unix ms.
 * @throws Failure STATE_HELD, and as `repairJournal` does
 */
export function repairState(config: DaemonConfig, directory: string, at: number): RepairReport | undefined {
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
