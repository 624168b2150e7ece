import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { Failure, messageOf } from '../../lib/failure.ts'
import { rollBack } from '../../lib/roll-back.ts'
import type { RowStore, StoredRow } from './stored-rows.ts'

/**
 * Commits are not synchronised, so a power cut costs the last moments of play money. The file is
 * locked, because two simulators would overwrite each other's orders.
 */
export class SqliteStore implements RowStore {
  readonly #path: string
  readonly #database: DatabaseSync
  readonly #tables = new Map<
    string,
    { readonly put: StatementSync; readonly drop: StatementSync }
  >()

  /**
   * @throws Failure SIMULATOR_STORE_FOLDER, SIMULATOR_STORE_FOREIGN, SIMULATOR_STORE_CORRUPT,
   * SIMULATOR_STORE_UNUSABLE
   */
  constructor(path: string) {
    this.#path = path
    this.#database = openDatabase(path)
  }

  /** @throws Failure SIMULATOR_STORE_CORRUPT, SIMULATOR_STORE_UNUSABLE */
  load(): readonly StoredRow[] | undefined {
    try {
      return readRows(this.#database)
    } catch (cause) {
      throw unusable(this.#path, cause)
    }
  }

  /** @throws Failure SIMULATOR_STORE_UNWRITABLE */
  save(changes: readonly StoredRow[]): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const { table, id, json } of changes) {
        const { put, drop } = this.#tables.get(table) ?? this.#openTable(table)
        if (json === undefined) drop.run(id)
        else put.run(id, json)
      }
      this.#database.exec('COMMIT')
    } catch (cause) {
      rollBack(this.#database)
      throw unwritable(this.#path, cause)
    }
  }

  close(): void {
    this.#database.close()
  }

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
    assertPlace(path)
    database = new DatabaseSync(path)
    // Must come before any change of the file.
    assertOwn(database, path)
    database.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF',
    )
    database.exec('BEGIN IMMEDIATE; COMMIT')
    return database
  } catch (cause) {
    database?.close()
    if (cause instanceof Failure) throw cause
    if (resultOf(cause) === NOT_A_DATABASE) throw foreign(path, 'no SQLite database')
    throw unusable(path, cause)
  }
}

function assertPlace(path: string): void {
  const folder = dirname(path)
  const place = statSync(folder, { throwIfNoEntry: false })
  if (place?.isDirectory() !== true) {
    throw new Failure({
      code: 'SIMULATOR_STORE_FOLDER',
      sentence: 'there is no directory for the file of the simulator’s state',
      facts: { file: path, ...(place !== undefined && { found: `${folder} is a file` }) },
      hint:
        place === undefined
          ? `make the directory ${folder} first, or name another file`
          : 'name a file in a directory',
    })
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw foreign(
      path,
      'a directory',
      `name a file in it, such as ${join(path, 'exchange.sqlite')}`,
    )
}

function unwritable(path: string, cause: unknown): Failure {
  return new Failure({
    code: 'SIMULATOR_STORE_UNWRITABLE',
    sentence: 'the state of the simulator could not be written, so nothing more is answered',
    facts: { file: path, found: messageOf(cause) },
    hint: 'free disk space or fix the rights, then start again: it goes on from what was stored last',
    cause,
  })
}

function unusable(path: string, cause: unknown): Failure {
  if (resultOf(cause) === CORRUPT)
    return new Failure({
      code: 'SIMULATOR_STORE_CORRUPT',
      sentence: 'the file of the simulator’s state is damaged',
      facts: { file: path, reason: messageOf(cause) },
      hint: 'remove it to start afresh, or name another file',
      cause,
    })
  return new Failure({
    code: 'SIMULATOR_STORE_UNUSABLE',
    sentence: 'the file of the simulator’s state cannot be read',
    facts: { file: path, reason: messageOf(cause) },
    hint: toHint(resultOf(cause)),
    cause,
  })
}

function toHint(result: number | undefined): string {
  if (result === BUSY) return 'stop the other simulator that uses it, or name another file'
  if (result === FULL) return 'free disk space, or name another file'
  return 'look at the rights of the file and its directory, or name another file'
}

function readRows(database: DatabaseSync): readonly StoredRow[] | undefined {
  const rows: StoredRow[] = []
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  for (const { name: table } of tables) {
    for (const row of database.prepare(`SELECT id, json FROM ${String(table)}`).iterate()) {
      rows.push({ table: String(table), id: String(row['id']), json: String(row['json']) })
    }
  }
  return rows.length === 0 ? undefined : rows
}

/** https://sqlite.org/rescode.html */
const [BUSY, CORRUPT, FULL, NOT_A_DATABASE] = [5, 11, 13, 26]

function resultOf(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined
  return typeof code === 'number' ? code & 0xff : undefined
}

const FOREIGN_HINT = 'name another file: one that is not there is made; this one is left as it is'

function assertOwn(database: DatabaseSync, path: string): void {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => String(name))
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)')
  const other = tables.find(
    (table) =>
      columns
        .all(table)
        .map(({ name }) => String(name))
        .join() !== 'id,json',
  )
  if (other !== undefined)
    throw foreign(path, `an SQLite database of another program, with a table ${other}`)
}

function foreign(path: string, found: string, hint = FOREIGN_HINT): Failure {
  return new Failure({
    code: 'SIMULATOR_STORE_FOREIGN',
    sentence: 'the file is no state of the simulator',
    facts: { file: path, found },
    hint,
  })
}
