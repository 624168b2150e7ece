import type { DatabaseSync } from 'node:sqlite'
import type { JournalRecord } from '../domain/record.ts'
import { messageOf } from '../lib/failure.ts'
import type { JournalContents } from './journal.ts'
import { type Mark, nextLink } from './durable-mark.ts'
import { type Flaw, isDamage } from './journal-failures.ts'
import { hasBlocks, type JournalMeta } from './journal-layout.ts'
import { type RecordRow, toBlock, unpackBlock } from './packed-records.ts'
import { type StoredBook, readStoredBook } from './tables/book-table.ts'
import { type BookedDays, readDays, totalToText } from './tables/booking-table.ts'
import { type BucketSums, readBuckets } from './tables/key-table.ts'
import { NO_ROWS, type RowsSum, sumToText } from './tables/rows-sum.ts'

const NO_DAYS: BookedDays = { days: new Map(), sum: NO_ROWS }
const NOTHING_BOOKED = totalToText(NO_ROWS)

export interface StoredRecord extends Mark {
  readonly body: string
  /** The sum of all booked rows after it, if it books any. */
  readonly booked: string | undefined
}

export interface StoredCheckpoint extends Mark, StoredBook {
  readonly keys: BucketSums
  readonly booked: string
}

export interface VerifiedPrefix {
  readonly checkpoint: StoredCheckpoint | undefined
  readonly start: Mark
  readonly records: readonly StoredRecord[]
  readonly days: BookedDays
  readonly last: Mark
  readonly flaw: Flaw | undefined
  readonly daysFlaw: Flaw | undefined
}

/**
 * Reads the checkpoint and follows the links; damage ends the prefix.
 * @throws Error of SQLite if the disk cannot be read at this time, which is no damage
 */
export function readVerifiedPrefix(
  database: DatabaseSync,
  { firstLink }: JournalMeta,
): VerifiedPrefix {
  const found = attempt(() => readCheckpoint(database, firstLink))
  const checkpoint = found.value
  const start: Mark = checkpoint ?? { sequence: 0, link: firstLink }
  const records: StoredRecord[] = []
  const flaw = attempt(() => followLinks(database, start, records))
  const days = attempt(() => readDays(database))
  const { booked = checkpoint?.booked ?? NOTHING_BOOKED } =
    records.findLast((record) => record.booked) ?? {}
  return {
    checkpoint,
    start,
    records,
    days: days.value ?? NO_DAYS,
    last: records.at(-1) ?? start,
    flaw: found.flaw ?? flaw.flaw ?? flaw.value,
    daysFlaw: days.flaw ?? findDaysFlaw(days.value, booked),
  }
}

export function toContents({ checkpoint, records }: VerifiedPrefix): JournalContents {
  return {
    // A new journal without a book has a checkpoint without rows.
    checkpoint:
      checkpoint && checkpoint.rows.length > 0 ? checkpoint.rows.map(({ row }) => row) : undefined,
    records: records.map(({ body }) => JSON.parse(body) as JournalRecord),
  }
}

function findDaysFlaw({ sum } = NO_DAYS, booked: string): Flaw | undefined {
  if (totalToText(sum) === booked) return undefined
  return {
    sequence: undefined,
    found: 'the fills and funding payments are not as many as were written',
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

function readCheckpoint(database: DatabaseSync, firstLink: string): StoredCheckpoint | undefined {
  const row = database
    .prepare('SELECT sequence, link, rows, sum, keys, key_sum, booked, seal FROM checkpoints')
    .get()
  const found = readStoredBook(database, firstLink)
  const keys = readBuckets(database)
  if (row === undefined) {
    if (found.rows.length + keys.buckets.size === 0) return undefined
    throw new RangeError('the checkpoint of the rows of the book is missing')
  }
  const [sequence, link] = [Number(row['sequence']), String(row['link'])]
  const booked = String(row['booked'])
  const isSealed =
    sealOf({ sequence, link }, { book: found.sum, keys: keys.sum, booked }) === row['seal']
  const isBook = row['rows'] === found.sum.rows && row['sum'] === sumToText(found.sum)
  const isKeys = row['keys'] === keys.sum.rows && row['key_sum'] === sumToText(keys.sum)
  if (isSealed && isBook && isKeys) return { sequence, link, ...found, keys, booked }
  throw new RangeError(`the checkpoint at ${sequence} is not as it was written`)
}

export interface SealedSums {
  readonly book: RowsSum
  readonly keys: RowsSum
  readonly booked: string
}

/** Binds book, used keys and booked rows to their place. */
export function sealOf({ sequence, link }: Mark, { book, keys, booked }: SealedSums): string {
  return nextLink(link, sequence, book.rows, sumToText(book), keys.rows, sumToText(keys), booked)
}

/** Checks the records before the checkpoint, which a start does not read, but `explain` does. */
export function areOldRecordsWhole(database: DatabaseSync, { sequence, link }: Mark): boolean {
  let previous: RecordRow | undefined
  try {
    for (const row of readStoredRecords(database, sequence)) {
      const isNext =
        previous === undefined || Number(row['sequence']) === Number(previous['sequence']) + 1
      if (!isNext || (previous && !isLinked(String(previous['link']), row))) return false
      previous = row
    }
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
  return (
    previous === undefined ||
    (Number(previous['sequence']) === sequence && previous['link'] === link)
  )
}

/**
 * Packed ones come first. Links are not checked.
 * @throws RangeError for a damaged block
 */
export function* readStoredRecords(
  database: DatabaseSync,
  upTo: number = Number.MAX_SAFE_INTEGER,
): Generator<RecordRow> {
  if (hasBlocks(database)) {
    const blocks = database.prepare('SELECT * FROM record_blocks ORDER BY first').iterate()
    for (const block of blocks) yield* unpackBlock(toBlock(block))
  }
  yield* database
    .prepare(
      'SELECT sequence, at, kind, body, booked, link FROM records WHERE sequence <= ? ORDER BY sequence',
    )
    .iterate(upTo)
}

function followLinks(database: DatabaseSync, start: Mark, into: StoredRecord[]): Flaw | undefined {
  const rows = database
    .prepare(
      'SELECT sequence, at, kind, body, booked, link FROM records WHERE sequence > ? ORDER BY sequence',
    )
    .iterate(start.sequence)
  for (const row of rows) {
    const last = into.at(-1) ?? start
    if (!isLinked(last.link, row)) {
      return {
        sequence: last.sequence + 1,
        found: 'the record is missing, or not as it was written',
      }
    }
    into.push(toStoredRecord(row))
  }
  return undefined
}

export function toStoredRecord({ sequence, body, booked, link }: RecordRow): StoredRecord {
  const total = typeof booked === 'string' ? booked : undefined
  return { sequence: Number(sequence), body: String(body), booked: total, link: String(link) }
}

export function isLinked(
  previous: string,
  { sequence, at, kind, body, booked, link }: RecordRow,
): boolean {
  return nextLink(previous, sequence, at, kind, body, booked ?? '') === link
}
