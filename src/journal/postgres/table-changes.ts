import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { JOURNAL_TABLES, type JournalTable, tableNamed } from './server-schema.ts'

/** A dropped row has only its key. */
export type TableRow = Readonly<Record<string, string | number | null>>

export type TableChanges = Readonly<
  Record<string, { readonly put?: readonly TableRow[]; readonly drop?: readonly TableRow[] }>
>

/** The one character that a text of PostgreSQL cannot hold. */
const NUL = '\0'
/** A character of the private use area: before `0` it stands for NUL, before `1` for itself. */
const ESCAPE = '\uf8ff'

export function toServerText(changes: TableChanges | readonly TableRow[]): string {
  const text = JSON.stringify(changes)
  if (!text.includes('\\u0000') && !text.includes(ESCAPE)) return text
  return JSON.stringify(changes, (_name, value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll(NUL, `${ESCAPE}0`)
      : value,
  )
}

function fromServer(value: TableRow[string] | undefined): string | number | null {
  if (typeof value !== 'string' || !value.includes(ESCAPE)) return value ?? null
  return value.replaceAll(`${ESCAPE}0`, NUL).replaceAll(`${ESCAPE}1`, ESCAPE)
}

const UNDEFINED = 0
const INTEGER = 1
const FLOAT = 2
const TEXT = 3
const NULL = 5

const DELETED = 9
const UPDATED = 23

/**
 * Reads the changeset of a SQLite session: new and changed rows whole, deleted ones as keys.
 * @see https://sqlite.org/session/c_changeset_apply.html and the head of sqlite3session.c
 */
export function readChanges(database: DatabaseSync, changeset: Uint8Array): TableChanges {
  const changes: Record<string, { put: TableRow[]; drop: TableRow[] }> = {}
  const reader = new ChangesetReader(changeset)
  let table: JournalTable | undefined
  while (!reader.isAtEnd) {
    if (reader.isAtTable) {
      table = tableNamed(reader.readTable())
      continue
    }
    const { operation, key } = reader.readRow(table)
    if (table === undefined) continue
    const of = (changes[table.name] ??= { put: [], drop: [] })
    if (operation === DELETED) of.drop.push(key)
    else of.put.push(readRow(database, table, key))
  }
  return changes
}

function readRow(database: DatabaseSync, table: JournalTable, key: TableRow): TableRow {
  const columns = table.columns.map(({ name }) => `"${name}"`).join(', ')
  const row = database
    .prepare(`SELECT ${columns} FROM ${table.name} WHERE ${whereKey(table)}`)
    .get(...keyOf(table, key))
  if (row === undefined)
    throw new Error(`unreachable: a row of ${table.name} was changed and is gone`)
  return toTableRow(row)
}

/**
 * Needs a transaction.
 * @param changes as the server gives them
 */
export function applyChanges(database: DatabaseSync, changes: TableChanges): void {
  for (const table of JOURNAL_TABLES) {
    const { put = [], drop = [] } = changes[table.name] ?? {}
    const remove = database.prepare(`DELETE FROM ${table.name} WHERE ${whereKey(table)}`)
    for (const row of drop) remove.run(...keyOf(table, row).map(fromServer))
    putRows(database, table, put)
  }
}

export function putRows(
  database: DatabaseSync,
  table: JournalTable,
  rows: Iterable<TableRow>,
): void {
  const names = table.columns.map(({ name }) => name)
  const columns = names.map((name) => `"${name}"`).join(', ')
  const insert = database.prepare(
    `REPLACE INTO ${table.name} (${columns}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  for (const row of rows) insert.run(...names.map((name) => fromServer(row[name])))
}

export function toTableRow(row: Readonly<Record<string, SQLOutputValue>>): TableRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'number' || value === null
        ? value
        : String(value),
    ]),
  )
}

function whereKey({ key }: JournalTable): string {
  return key.map((name) => `"${name}" = ?`).join(' AND ')
}

function keyOf({ key }: JournalTable, row: TableRow): (string | number | null)[] {
  return key.map((name) => row[name] ?? null)
}

class ChangesetReader {
  readonly #bytes: Buffer
  #at = 0
  #keys: readonly boolean[] = []

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  get isAtTable(): boolean {
    return this.#bytes[this.#at] === 'T'.charCodeAt(0)
  }

  readTable(): string {
    this.#at += 1
    const columns = this.#readLength()
    this.#keys = Array.from({ length: columns }, () => this.#bytes[this.#at++] !== 0)
    const end = this.#bytes.indexOf(0, this.#at)
    const name = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return name
  }

  readRow(table: JournalTable | undefined): { readonly operation: number; readonly key: TableRow } {
    const operation = this.#bytes[this.#at] ?? 0
    // The second byte says whether a trigger did it; there is none.
    this.#at += 2
    const values = this.#readValues()
    if (operation === UPDATED) this.#readValues()
    const key = Object.fromEntries(
      values.flatMap((value, index) => {
        const name = table?.columns[index]?.name
        return this.#keys[index] === true && name !== undefined
          ? [[name, value ?? null] as const]
          : []
      }),
    )
    return { operation, key }
  }

  #readValues(): readonly (string | number | null | undefined)[] {
    return this.#keys.map(() => this.#readValue())
  }

  #readValue(): string | number | null | undefined {
    const type: number = this.#bytes[this.#at++] ?? UNDEFINED
    switch (type) {
      case UNDEFINED:
        return undefined
      case NULL:
        return null
      case INTEGER:
        this.#at += 8
        return Number(this.#bytes.readBigInt64BE(this.#at - 8))
      case FLOAT:
        this.#at += 8
        return this.#bytes.readDoubleBE(this.#at - 8)
      case TEXT: {
        const length = this.#readLength()
        this.#at += length
        return this.#bytes.toString('utf8', this.#at - length, this.#at)
      }
      default:
        throw new Error(`unreachable: the journal has no values of type ${String(type)}`)
    }
  }

  /** Each byte has seven bits of the number, the highest first. */
  #readLength(): number {
    let length = 0
    for (;;) {
      const byte = this.#bytes[this.#at++] ?? 0
      length = length * 128 + (byte & 127)
      if (byte < 128) return length
    }
  }
}
