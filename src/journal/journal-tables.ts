import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import { BookTable } from './tables/book-table.ts'
import { CurveTable, type StoredPoint } from './tables/curve-table.ts'
import type { Booking } from './booking.ts'
import { BookingTable, totalToText } from './tables/booking-table.ts'
import { type Mark, nextLink } from './durable-mark.ts'
import type { JournalMeta } from './journal-layout.ts'
import type { RowChange } from './journal.ts'
import { KeyTable, NO_KEYS } from './tables/key-table.ts'
import { sumToText } from './tables/rows-sum.ts'
import { sealOf, type StoredCheckpoint, type VerifiedPrefix } from './verified-prefix.ts'

/** Twice as many as two checkpoints have between them; dropping them takes some milliseconds. */
const DROPPED_MAX = 20_000

/** Each key changes two pages: 64 take 3 to 5 ms of CPU with the commit. */
const KEYS_MAX = 64

export interface TableSettings {
  /** Unix ms. A checkpoint drops older records, whose result it holds. */
  readonly keepSince: () => number
  /** Unix ms; absent: for ever. */
  readonly keepKeysSince?: () => number
  /** These and what follows begin a new journal. */
  readonly usedKeys?: readonly UsedKey[]
  readonly bookings?: Iterable<Booking>
  readonly curves?: Iterable<StoredPoint>
}

export interface JournalTablesOptions extends TableSettings {
  readonly database: DatabaseSync
  readonly meta: JournalMeta
  readonly prefix: VerifiedPrefix
  readonly records: readonly JournalRecord[]
}

type SealedPlace = Mark & Pick<StoredCheckpoint, 'booked'>

/**
 * Writes the tables of a file or a replica. Each method needs a transaction. After a failure memory
 * is ahead of the tables, so nothing more may be written.
 */
export class JournalTables {
  readonly #parts: Pick<JournalTablesOptions, 'database' | 'keepSince' | 'keepKeysSince'>
  readonly #insert: StatementSync
  readonly #book: BookTable
  readonly keys: KeyTable
  readonly bookings: BookingTable
  readonly curves: CurveTable
  readonly #old: OldRecords
  #carried: Required<Pick<TableSettings, 'bookings' | 'curves'>>
  #last: Mark
  #sealed: SealedPlace | undefined

  constructor({ meta, prefix, records, ...parts }: JournalTablesOptions) {
    const { database, usedKeys = [], bookings = [], curves = [] } = parts
    this.#parts = parts
    this.#last = prefix.last
    this.#sealed = prefix.checkpoint && toPlace(prefix.checkpoint)
    this.#book = new BookTable(database, meta.firstLink, prefix.checkpoint)
    this.keys = new KeyTable(database, meta.firstLink, prefix.checkpoint?.keys ?? NO_KEYS)
    this.bookings = new BookingTable(database, meta.firstLink, prefix.days)
    this.#old = new OldRecords(database)
    this.curves = new CurveTable(database, meta.firstLink)
    this.#carried = { bookings, curves }
    this.keys.put(usedKeys)
    for (const record of records) this.keys.add(record)
    this.#insert = database.prepare(
      'INSERT INTO records (sequence, at, kind, body, booked, link) VALUES (?, ?, ?, ?, ?, ?)',
    )
  }

  get last(): Mark {
    return this.#last
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.keys.find(key) ?? [])
  }

  /** A record that books something holds the sum of all booked rows. */
  putRecord(record: JournalRecord, bookings: readonly Booking[]): void {
    this.bookings.apply(bookings)
    this.#insertRecord(record, bookings.length > 0)
  }

  putCheckpoint(changes: Iterable<RowChange>): void {
    const { keepSince, keepKeysSince } = this.#parts
    this.#book.apply(changes)
    this.keys.save(keepKeysSince?.() ?? 0)
    this.bookings.apply(this.#carried.bookings)
    this.curves.addStored(this.#carried.curves)
    this.#carried = { bookings: [], curves: [] }
    this.#putSeal({ ...this.#last, booked: totalToText(this.bookings.sum) })
    this.#old.drop(keepSince())
  }

  get hasKeysAhead(): boolean {
    return this.#sealed !== undefined && this.keys.waiting > KEYS_MAX
  }

  /**
   * The checkpoint keeps its place, because a start also finds these keys in the records after it.
   */
  putKeysAhead(): void {
    if (this.#sealed === undefined) return
    this.keys.save(this.#parts.keepKeysSince?.() ?? 0, KEYS_MAX)
    this.#putSeal(this.#sealed)
  }

  #putSeal(sealed: SealedPlace): void {
    const { database } = this.#parts
    const { sequence, link, booked } = sealed
    const [{ sum: book }, { sum: keys }] = [this.#book, this.keys]
    const seal = sealOf(sealed, { book, keys, booked })
    database.prepare('DELETE FROM checkpoints').run()
    database
      .prepare(
        `INSERT INTO checkpoints (sequence, link, rows, sum, keys, key_sum, booked, seal)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(sequence, link, book.rows, sumToText(book), keys.rows, sumToText(keys), booked, seal)
    this.#sealed = sealed
  }

  dropBookings(record: ArchivedRecord): void {
    this.bookings.drop(record.before)
    this.#insertRecord(record, true)
  }

  #insertRecord(record: JournalRecord, hasBooked: boolean): void {
    const sequence = this.#last.sequence + 1
    const parts = [sequence, Math.round(record.at), record.kind, JSON.stringify(record)] as const
    const booked = hasBooked ? totalToText(this.bookings.sum) : undefined
    const link = nextLink(this.#last.link, ...parts, booked ?? '')
    this.#insert.run(...parts, booked ?? null, link)
    this.#last = { sequence, link }
  }
}

function toPlace({ sequence, link, booked }: StoredCheckpoint): SealedPlace {
  return { sequence, link, booked }
}

/**
 * Drops the oldest records, packed ones first, at a cost that depends only on how many are dropped.
 */
class OldRecords {
  readonly #dropBlocks: StatementSync
  readonly #dropRecords: StatementSync

  constructor(database: DatabaseSync) {
    this.#dropBlocks = database.prepare(
      // A condition on the column `last` would read a page of every block.
      `DELETE FROM record_blocks WHERE first < min(
        coalesce((SELECT first FROM record_blocks WHERE at_max >= ? ORDER BY first LIMIT 1), ${Number.MAX_SAFE_INTEGER}),
        (SELECT min(first) FROM record_blocks) + ${DROPPED_MAX})`,
    )
    this.#dropRecords = database.prepare(
      `DELETE FROM records WHERE NOT EXISTS (SELECT 1 FROM record_blocks) AND sequence < min(
        coalesce((SELECT sequence FROM records WHERE at >= ? ORDER BY sequence LIMIT 1), ${Number.MAX_SAFE_INTEGER}),
        (SELECT min(sequence) FROM records) + ${DROPPED_MAX})`,
    )
  }

  /** @param before Unix ms */
  drop(before: number): void {
    this.#dropBlocks.run(before)
    this.#dropRecords.run(before)
  }
}
