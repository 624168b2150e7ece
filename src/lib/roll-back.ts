import type { DatabaseSync } from 'node:sqlite'

/**
 * SQLite rolls back by itself where the disk is full or fails; a second rollback would hide why.
 */
export function rollBack(database: Pick<DatabaseSync, 'exec'>): void {
  try {
    database.exec('ROLLBACK')
  } catch {} // There was no transaction, or there is none any more.
}
