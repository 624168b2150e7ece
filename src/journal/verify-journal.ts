import { type DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { messageOf } from '../lib/failure.ts'
import { type Mark } from './durable-mark.ts'
import { type Flaw, isDamage } from './journal-failures.ts'
import { type JournalNature } from './journal-layout.ts'
import { type FoundRows, readRows } from './book-table.ts'
import { type FoundKeys, readBuckets } from './key-table.ts'
import { type RowsSum, sumToText } from './rows-sum.ts'
import { nextLink } from './record-chain.ts'

export interface StoredText extends Mark {
  readonly body: string
}

/** The book after the record of that sequence. */
export interface StoredCheckpoint extends Mark, FoundRows {
  readonly keys: FoundKeys
}

/** The part of a journal that is proved to be what was written: the longest one from its start. */
export interface VerifiedPrefix {
  readonly checkpoint: StoredCheckpoint | undefined
  /** What the first record stands behind: the checkpoint, or the link before all. */
  readonly start: Mark
  /** All records after the checkpoint. */
  readonly records: readonly StoredText[]
  /** Its end. */
  readonly last: Mark
  /** Why it ends there, when that is not because nothing more was written. */
  readonly flaw: Flaw | undefined
}

/**
 * Reads the checkpoint and follows the links from there. Damage ends the prefix and is returned as its flaw.
 * @throws Error of SQLite where the disk cannot be read just now: that is no damage.
 */
export function readVerified(database: DatabaseSync, { first }: JournalNature): VerifiedPrefix {
  const found = attempt(() => readCheckpoint(database, first))
  const checkpoint = found.value
  const start: Mark = checkpoint ?? { sequence: 0, link: first }
  const records: StoredText[] = []
  const flaw = attempt(() => followLinks(database, start, records))
  return {
    checkpoint,
    start,
    records,
    last: records.at(-1) ?? start,
    flaw: found.flaw ?? flaw.flaw ?? flaw.value,
  }
}

function attempt<Value>(work: () => Value): { readonly value?: Value; readonly flaw?: Flaw } {
  try {
    return { value: work() }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { flaw: { sequence: undefined, found: messageOf(error) } }
  }
}

/** @throws RangeError when it is not as it was written */
function readCheckpoint(database: DatabaseSync, first: string): StoredCheckpoint | undefined {
  const row = database.prepare('SELECT sequence, link, rows, sum, keys, key_sum, seal FROM checkpoints').get()
  const found = readRows(database, first)
  const keys = readBuckets(database)
  if (row === undefined) {
    if (found.rows.length + keys.buckets.size === 0) return undefined
    throw new RangeError('the checkpoint of the rows of the book is missing')
  }
  const [sequence, link] = [Number(row['sequence']), String(row['link'])]
  const isSealed = sealOf({ sequence, link }, found.sum, keys.sum) === row['seal']
  const isBook = row['rows'] === found.sum.rows && row['sum'] === sumToText(found.sum)
  const isKeys = row['keys'] === keys.sum.rows && row['key_sum'] === sumToText(keys.sum)
  if (isSealed && isBook && isKeys) return { sequence, link, ...found, keys }
  throw new RangeError(`the checkpoint at ${sequence} is not as it was written`)
}

/** Binds the rows of the book, and the used keys, to their place among the records. */
export function sealOf({ sequence, link }: Mark, book: RowsSum, keys: RowsSum): string {
  return nextLink(link, sequence, book.rows, sumToText(book), keys.rows, sumToText(keys))
}

/** Puts each record that fits behind the one before it; the first that does not is the flaw. */
function followLinks(database: DatabaseSync, start: Mark, into: StoredText[]): Flaw | undefined {
  const rows = database
    .prepare('SELECT sequence, at, kind, body, link FROM records WHERE sequence > ? ORDER BY sequence')
    .iterate(start.sequence)
  for (const row of rows) {
    const last = into.at(-1) ?? start
    if (!isLinked(last.link, row)) {
      return { sequence: last.sequence + 1, found: 'the record is missing, or not as it was written' }
    }
    into.push(toStoredText(row))
  }
  return undefined
}

type Row = Readonly<Record<string, SQLOutputValue>>

export function toStoredText({ sequence, body, link }: Row): StoredText {
  return { sequence: Number(sequence), body: String(body), link: String(link) }
}

/** Whether a row of the records is as it was written, behind the record with the link `previous`. */
export function isLinked(previous: string, { sequence, at, kind, body, link }: Row): boolean {
  return nextLink(previous, sequence, at, kind, body) === link
}
