import { existsSync } from 'node:fs'
import type { DaemonConfig } from '../../config/load-config.ts'
import {
  migrateFile,
  type MigrationPlan,
  planMigration,
} from '../../journal/migrate/migrate-file.ts'
import type { ServerMigration } from '../../journal/migrate/migrate-server.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Secret } from '../../lib/secret.ts'
import { takerOf } from './open-journal.ts'
import { journalPlaceOf, serverPlaceOf } from './state-place.ts'
import { describeHolder, holdDirectory } from './state-directory.ts'

export interface StateToMigrate {
  readonly config: DaemonConfig
  readonly directory: string
  readonly password: Secret | undefined
  readonly isDry: boolean
  readonly clock: Pick<Clock, 'now'>
}

export type StateMigration =
  | ({ readonly kind: 'file'; readonly file: string } & MigrationPlan)
  | ({ readonly kind: 'server'; readonly schema: string } & ServerMigration)

/**
 * Undefined if there is nothing to do. @throws Failure STATE_HELD, and those of `migrateFile` and
 * `migrateServer`
 */
export async function migrateState(state: StateToMigrate): Promise<StateMigration | undefined> {
  const { config, directory, password, isDry, clock } = state
  // A dry run must not create the directory.
  if (!existsSync(directory) && config.journal === undefined) return undefined
  const lock = holdDirectory(directory, describeHolder(config.name, clock.now()))
  try {
    const { file, identity } = journalPlaceOf(config, directory)
    if (config.journal === undefined) {
      const plan = isDry ? planMigration({ file, identity }) : migrateFile({ file, identity })
      return plan && { kind: 'file', file, ...plan }
    }
    const { migrateServer } = await import('../../journal/migrate/migrate-server.ts')
    const place = serverPlaceOf(config, password)
    const taker = takerOf(config, directory, clock.now())
    const migration = await migrateServer({ place, identity, taker, isDry })
    return migration && { kind: 'server', schema: place.schema, ...migration }
  } finally {
    lock.release()
  }
}
