import type { DatabaseSync } from 'node:sqlite'

/**
 * Ends the transaction of a write that failed, if there still is one: SQLite rolls back by itself where the disk is full
 * or fails, and a second rollback would throw and hide why.
 */
export function rollBack(database: Pick<DatabaseSync, 'exec'>): void {
  try {
    database.exec('ROLLBACK')
  } catch {} // It did not come to the transaction, or there is none any more.
}
