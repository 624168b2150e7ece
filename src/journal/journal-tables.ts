import { type DatabaseSync, type StatementSync } from 'node:sqlite'
import { type ArchivedRecord, type JournalRecord, type StrategyKey, type UsedKey } from '../domain/record.ts'
import { BookTable } from './tables/book-table.ts'
import { type BookedRow, type Booking, type BookingSpan } from './booking.ts'
import { BookingTable, totalToText } from './tables/booking-table.ts'
import { type Mark } from './durable-mark.ts'
import { type JournalNature } from './journal-layout.ts'
import { putBlock, type RecordBlock, takeBlock } from './packed-records.ts'
import { type JournalContents, type RowChange } from './journal.ts'
import { KeyTable, NO_KEYS } from './tables/key-table.ts'
import { nextLink } from './record-chain.ts'
import { sumToText } from './tables/rows-sum.ts'
import { sealOf, type VerifiedPrefix } from './verify-journal.ts'

/** Old records that one checkpoint drops at most: twice what comes between two, some milliseconds of work. */
const DROPPED_MAX = 20_000

/** How long what a checkpoint covers is kept, and what a journal that is made anew begins with. */
export interface TablesGiven {
  /** Records older than this are dropped at a checkpoint, Unix ms: what came before is in the checkpoint. */
  readonly keepSince: () => number
  /** Used keys older than this may be dropped at a checkpoint, Unix ms; never when absent. */
  readonly keepKeysSince?: () => number
  /** The keys that were used before a journal that is made anew. */
  readonly usedKeys?: readonly UsedKey[]
  /** What was booked before it: written at its first checkpoint. */
  readonly bookings?: Iterable<Booking>
}

export interface TablesParts extends TablesGiven {
  readonly database: DatabaseSync
  readonly nature: JournalNature
  /** What stands in them, proved. */
  readonly prefix: VerifiedPrefix
  /** Those of it, read. */
  readonly records: readonly JournalRecord[]
}

/**
 * What a journal writes to its tables: each of these within a transaction, which is its caller's. Whoever sees one
 * fail must write no more: what is known in memory is then ahead of the tables.
 */
export class JournalTables {
  readonly #parts: Pick<TablesParts, 'database' | 'keepSince' | 'keepKeysSince'>
  readonly #insert: StatementSync
  readonly #book: BookTable
  readonly #keys: KeyTable
  readonly #bookings: BookingTable
  /** Of a journal that is made anew, until they are written. */
  #carried: Iterable<Booking>
  #last: Mark

  constructor({ nature, prefix, records, usedKeys = [], bookings = [], ...parts }: TablesParts) {
    const { database } = parts
    this.#parts = parts
    this.#last = prefix.last
    this.#book = new BookTable(database, nature.first, prefix.checkpoint)
    this.#keys = new KeyTable(database, nature.first, prefix.checkpoint?.keys ?? NO_KEYS)
    this.#bookings = new BookingTable(database, nature.first, prefix.days)
    this.#carried = bookings
    this.#keys.put(usedKeys)
    for (const record of records) this.#keys.add(record)
    this.#insert = database.prepare(
      'INSERT INTO records (sequence, at, kind, body, booked, link) VALUES (?, ?, ?, ?, ?, ?)',
    )
  }

  /** The last record that was put in. */
  get last(): Mark {
    return this.#last
  }

  /** A record that is to be put in: its keys are used from now on. */
  noteKeys(record: JournalRecord): void {
    this.#keys.add(record)
  }

  /** @throws RangeError when what is stored is not what was written */
  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.#keys.find(key) ?? [])
  }

  /** One that has booked something says what all booked rows come to. */
  putRecord(record: JournalRecord, bookings: readonly Booking[]): void {
    this.#bookings.apply(bookings)
    this.#insertRecord(record, bookings.length > 0)
  }

  putCheckpoint(changes: Iterable<RowChange>): void {
    const { database, keepSince, keepKeysSince } = this.#parts
    this.#book.apply(changes)
    this.#keys.save(keepKeysSince?.() ?? 0)
    this.#bookings.apply(this.#carried)
    this.#carried = []
    const { sequence, link } = this.#last
    const [{ sum: book }, { sum: keys }] = [this.#book, this.#keys]
    const booked = totalToText(this.#bookings.sum)
    const seal = sealOf(this.#last, { book, keys, booked })
    database.prepare('DELETE FROM checkpoints').run()
    database
      .prepare(
        `INSERT INTO checkpoints (sequence, link, rows, sum, keys, key_sum, booked, seal)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(sequence, link, book.rows, sumToText(book), keys.rows, sumToText(keys), booked, seal)
    dropOldRecords(database, keepSince())
  }

  /** What could be packed of the records up to that one, to be put in with {@link putBlock}. */
  takeBlock(upTo: number): RecordBlock | undefined {
    return takeBlock(this.#parts.database, upTo)
  }

  /** It takes the place of its records. */
  putBlock(block: RecordBlock): void {
    putBlock(this.#parts.database, block)
  }

  /** Takes away what was archived, with the record that says so. */
  dropBookings(record: ArchivedRecord): void {
    this.#bookings.drop(record.before)
    this.#insertRecord(record, true)
  }

  /** @throws RangeError where it is not what was written */
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Generator<BookedRow> {
    return this.#bookings.read(kind, span)
  }

  #insertRecord(record: JournalRecord, hasBooked: boolean): void {
    const sequence = this.#last.sequence + 1
    const parts = [sequence, Math.round(record.at), record.kind, JSON.stringify(record)] as const
    const booked = hasBooked ? totalToText(this.#bookings.sum) : undefined
    const link = nextLink(this.#last.link, ...parts, booked ?? '')
    this.#insert.run(...parts, booked ?? null, link)
    this.#last = { sequence, link }
  }
}

export function toContents({ checkpoint, records }: VerifiedPrefix): JournalContents {
  return {
    // That of a journal which was made anew without a book has keys at most.
    checkpoint: checkpoint && checkpoint.rows.length > 0 ? checkpoint.rows.map(({ row }) => row) : undefined,
    records: records.map(({ body }) => JSON.parse(body) as JournalRecord),
  }
}

/** From the oldest on, so that the cost is that of what goes; their pages are used again. What is packed is older. */
function dropOldRecords(database: DatabaseSync, before: number): void {
  database
    .prepare(
      `DELETE FROM record_blocks WHERE last < min(
        coalesce((SELECT first FROM record_blocks WHERE at_max >= ? ORDER BY first LIMIT 1), ${Number.MAX_SAFE_INTEGER}),
        (SELECT min(first) FROM record_blocks) + ${DROPPED_MAX})`,
    )
    .run(before)
  database
    .prepare(
      `DELETE FROM records WHERE NOT EXISTS (SELECT 1 FROM record_blocks) AND sequence < min(
        coalesce((SELECT sequence FROM records WHERE at >= ? ORDER BY sequence LIMIT 1), ${Number.MAX_SAFE_INTEGER}),
        (SELECT min(sequence) FROM records) + ${DROPPED_MAX})`,
    )
    .run(before)
}
