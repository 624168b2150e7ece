import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { STORED_TABLES, type CoreStore, type StoredRow, type StoredTable } from './store.ts'

/** A store with something to close. */
export interface SqliteStore extends CoreStore {
  close(): void
}

/**
 * Keeps the simulator's state in one SQLite file: a table a kind of row, one transaction a save. The
 * journal is written ahead and not synchronised: a killed process loses nothing, a power cut may lose the
 * last moments, which play money can bear.
 */
export function openSqliteStore(path: string): SqliteStore {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA busy_timeout = 2000')
  const statements = new Map<StoredTable, TableStatements>()
  for (const table of STORED_TABLES) {
    database.exec(`CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT`)
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
