import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { RowStore, StoredRow } from './row-store.ts'

/**
 * Keeps the simulator's state in one SQLite file: a table a kind of row, one transaction a save. The
 * journal is written ahead and not synchronised: a killed process loses nothing, a power cut may lose the
 * last moments, which play money can bear. The file is locked while it is open: two simulators that share
 * one would overwrite each other's orders.
 */
export class SqliteStore implements RowStore {
  readonly #database: DatabaseSync
  readonly #tables = new Map<string, { readonly put: StatementSync; readonly drop: StatementSync }>()

  /** @throws Failure SIMULATOR_STORE_UNUSABLE */
  constructor(path: string) {
    this.#database = openDatabase(path)
  }

  load(): readonly StoredRow[] | undefined {
    const rows: StoredRow[] = []
    const tables = this.#database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
    for (const { name: table } of tables) {
      for (const row of this.#database.prepare(`SELECT id, json FROM ${String(table)}`).iterate()) {
        rows.push({ table: String(table), id: String(row['id']), json: String(row['json']) })
      }
    }
    return rows.length === 0 ? undefined : rows
  }

  save(changes: readonly StoredRow[]): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const { table, id, json } of changes) {
        const { put, drop } = this.#tables.get(table) ?? this.#openTable(table)
        if (json === undefined) drop.run(id)
        else put.run(id, json)
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#database.close()
  }

  /** A table is made when its first row comes. Without row ids, rows whose ids are alike stand together. */
  #openTable(table: string) {
    this.#database.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    )
    const statements = {
      put: this.#database.prepare(`INSERT OR REPLACE INTO ${table} (id, json) VALUES (?, ?)`),
      drop: this.#database.prepare(`DELETE FROM ${table} WHERE id = ?`),
    }
    this.#tables.set(table, statements)
    return statements
  }
}

function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
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
