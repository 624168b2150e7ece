import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Failure, messageOf } from '../../lib/failure.ts'
import { STORED_TABLES, type RowStore, type StoredRow, type StoredTable } from './row-store.ts'

/** A store with something to close. */
export interface SqliteStore extends RowStore {
  close(): void
}

/**
 * Keeps the simulator's state in one SQLite file: a table a kind of row, one transaction a save. The
 * journal is written ahead and not synchronised: a killed process loses nothing, a power cut may lose the
 * last moments, which play money can bear. The file is locked while it is open: two simulators that share
 * one would overwrite each other's orders.
 *
 * @throws Failure SIMULATOR_STORE_UNUSABLE
 */
export function openSqliteStore(path: string): SqliteStore {
  const database = openDatabase(path)
  const statements = new Map<StoredTable, TableStatements>()
  for (const table of STORED_TABLES) {
    statements.set(table, {
      put: database.prepare(`INSERT OR REPLACE INTO ${table} (id, json) VALUES (?, ?)`),
      drop: database.prepare(`DELETE FROM ${table} WHERE id = ?`),
    })
  }
  return {
    load: () => loadRows(database),
    save: (changes) => saveRows(database, statements, changes),
    close: () => database.close(),
  }
}

interface TableStatements {
  readonly put: StatementSync
  readonly drop: StatementSync
}

function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    for (const table of STORED_TABLES) {
      database.exec(`CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT`)
    }
    // Takes the lock now, so that a second simulator fails at its start.
    database.exec('BEGIN IMMEDIATE; COMMIT')
    return database
  } catch (cause) {
    database?.close()
    throw new Failure({
      code: 'SIMULATOR_STORE_UNUSABLE',
      sentence: 'the file of the simulator’s state cannot be opened',
      facts: { file: path, reason: messageOf(cause) },
      hint: existsSync(dirname(path))
        ? 'stop the other simulator that uses it, or name another file'
        : `make the directory ${dirname(path)} first, or name another file`,
      cause,
    })
  }
}

function loadRows(database: DatabaseSync): readonly StoredRow[] | undefined {
  const rows: StoredRow[] = []
  for (const table of STORED_TABLES) {
    for (const row of database.prepare(`SELECT id, json FROM ${table}`).iterate()) {
      rows.push({ table, id: String(row['id']), json: String(row['json']) })
    }
  }
  return rows.length === 0 ? undefined : rows
}

function saveRows(
  database: DatabaseSync,
  statements: ReadonlyMap<StoredTable, TableStatements>,
  changes: readonly StoredRow[],
): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const { table, id, json } of changes) {
      const statement = statements.get(table)
      if (json === undefined) statement?.drop.run(id)
      else statement?.put.run(id, json)
    }
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}
