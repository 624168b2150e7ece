import type { DatabaseSync } from 'node:sqlite'

/** SQLite rolls back by itself where the disk is full; a second rollback would hide why. */
export function rollBack(database: Pick<DatabaseSync, 'exec'>): void {
  try {
    database.exec('ROLLBACK')
  } catch {}
}
