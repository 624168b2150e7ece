import { hash } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { BookRow, RowChange } from '../journal.ts'
import { addDigest, NO_ROWS, type RowsSum, takeDigest, toNumber } from './rows-sum.ts'

export interface StoredBookRow {
  readonly position: number
  readonly row: BookRow
}

export interface StoredBook {
  readonly rows: readonly StoredBookRow[]
  readonly sum: RowsSum
}

/** @throws RangeError for a damaged row */
export function readStoredBook(database: DatabaseSync, firstLink: string): StoredBook {
  const rows: StoredBookRow[] = []
  let sum = 0n
  const stored = database.prepare(
    'SELECT position, name, key, value, digest FROM book ORDER BY position',
  )
  for (const { position, name, key, value, digest } of stored.iterate()) {
    const placed: StoredBookRow = {
      position: Number(position),
      row: { name: String(name), key: String(key), value: String(value) },
    }
    const made = digestOf(firstLink, placed)
    if (made !== digest) {
      throw new RangeError(`row ${placed.position} of the checkpoint is not as it was written`)
    }
    rows.push(placed)
    sum += toNumber(made)
  }
  return { rows, sum: { rows: rows.length, sum: BigInt.asUintN(128, sum) } }
}

/**
 * Rows are stored in the order of their addition, because the newest ones change most often and
 * then share pages.
 */
export class BookTable {
  readonly #firstLink: string
  readonly #positions = new Map<string, Map<string, number>>()
  readonly #statements: Readonly<Record<'digest' | 'insert' | 'update' | 'delete', StatementSync>>
  #lastPosition = 0
  #sum: RowsSum

  constructor(database: DatabaseSync, firstLink: string, found: StoredBook | undefined) {
    this.#firstLink = firstLink
    this.#sum = found?.sum ?? NO_ROWS
    for (const { row, position } of found?.rows ?? []) this.#place(row, position)
    this.#statements = {
      digest: database.prepare('SELECT digest FROM book WHERE position = ?'),
      insert: database.prepare(
        'INSERT INTO book (position, name, key, value, digest) VALUES (?, ?, ?, ?, ?)',
      ),
      update: database.prepare('UPDATE book SET value = ?, digest = ? WHERE position = ?'),
      delete: database.prepare('DELETE FROM book WHERE position = ? RETURNING digest'),
    }
  }

  get sum(): RowsSum {
    return this.#sum
  }

  /**
   * Needs a transaction.
   * @throws RangeError if an expected row is missing
   */
  apply(changes: Iterable<RowChange>): void {
    for (const { name, key, value } of changes) {
      const position = this.#positions.get(name)?.get(key)
      if (value === undefined) this.#remove(name, key, position)
      else if (position === undefined) this.#insert({ name, key, value })
      else this.#update({ position, row: { name, key, value } })
    }
  }

  #insert(row: BookRow): void {
    const position = this.#lastPosition + 1
    const digest = digestOf(this.#firstLink, { position, row })
    this.#statements.insert.run(position, row.name, row.key, row.value, digest)
    this.#sum = addDigest(this.#sum, digest)
    this.#place(row, position)
  }

  #update(placed: StoredBookRow): void {
    const { position, row } = placed
    const digest = digestOf(this.#firstLink, placed)
    const without = takeDigest(this.#sum, this.#readDigest(position))
    this.#statements.update.run(row.value, digest, position)
    this.#sum = addDigest(without, digest)
  }

  #remove(name: string, key: string, position: number | undefined): void {
    if (position === undefined) return
    this.#sum = takeDigest(this.#sum, digestIn(this.#statements.delete.get(position), position))
    this.#positions.get(name)?.delete(key)
  }

  #readDigest(position: number): string {
    return digestIn(this.#statements.digest.get(position), position)
  }

  #place({ name, key }: BookRow, position: number): void {
    const positions = this.#positions.get(name) ?? new Map<string, number>()
    this.#positions.set(name, positions)
    positions.set(key, position)
    this.#lastPosition = position
  }
}

/**
 * Gives rows other keys in a migration. Positions stay, and with them the order of the map.
 * @returns the sum of all rows of the book
 * @throws RangeError if one is not as it was written
 */
export function renameRows(
  database: DatabaseSync,
  firstLink: string,
  name: string,
  toKey: (key: string) => string,
): RowsSum {
  const update = database.prepare('UPDATE book SET key = ?, digest = ? WHERE position = ?')
  const found = readStoredBook(database, firstLink)
  let { sum } = found
  for (const placed of found.rows) {
    const { position, row } = placed
    if (row.name !== name) continue
    const key = toKey(row.key)
    const digest = digestOf(firstLink, { position, row: { ...row, key } })
    sum = addDigest(takeDigest(sum, digestOf(firstLink, placed)), digest)
    update.run(key, digest, position)
  }
  return sum
}

function digestIn(row: ReturnType<StatementSync['get']>, position: number): string {
  const digest = row?.['digest']
  if (digest === undefined) throw new RangeError(`row ${position} of the checkpoint is gone`)
  return String(digest)
}

/**
 * A start reads all rows, so they have this digest, which takes half the time of a link. No name
 * contains the blank that separates the parts.
 */
function digestOf(
  firstLink: string,
  { position, row: { name, key, value } }: StoredBookRow,
): string {
  return hash(
    'sha256',
    `${firstLink} ${position} ${name} ${key.length} ${key}${value}`,
    'hex',
  ).slice(0, 32)
}
