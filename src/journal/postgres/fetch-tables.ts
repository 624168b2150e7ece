import { chmodSync, closeSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { openWriting } from '../journal-layout.ts'
import { putBlock, takeBlock } from '../packed-records.ts'
import { putRows } from './changes.ts'
import type { PostgresConnection } from './connection.ts'
import { readServerTable } from './server-tables.ts'
import { JOURNAL_TABLES } from './tables.ts'

export interface FetchTablesOptions {
  readonly connection: Pick<PostgresConnection, 'query'>
  readonly schema: string
  /** With empty tables. */
  readonly database: DatabaseSync
  /** Records up to this one are packed as they come; absent: none. */
  readonly packUpTo?: number
  readonly onRows?: (table: string, rows: number) => void
}

export async function fetchTables(options: FetchTablesOptions): Promise<void> {
  const { connection, schema, database, packUpTo = 0, onRows } = options
  for (const table of JOURNAL_TABLES) {
    for await (const rows of readServerTable(connection, schema, table)) {
      database.exec('BEGIN IMMEDIATE')
      putRows(database, table, rows)
      if (table.name === 'records') packRecords(database, packUpTo)
      database.exec('COMMIT')
      onRows?.(table.name, rows.length)
    }
  }
}

function packRecords(database: DatabaseSync, upTo: number): void {
  for (let block = takeBlock(database, upTo); block; block = takeBlock(database, upTo))
    putBlock(database, block)
}

/** Only the owner may read it; an earlier version's was readable by all. */
export function openReplica(file: string): DatabaseSync {
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const database = openWriting(file)
  // Rows lost in a power cut are fetched again.
  database.exec('PRAGMA synchronous = NORMAL')
  return database
}
