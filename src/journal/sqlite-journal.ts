import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DatabaseSync, type StatementSync } from 'node:sqlite'
import { type ArchivedRecord, type JournalRecord, type StrategyKey, type UsedKey } from '../domain/record.ts'
import { createMark, DurableMark, type Mark, type MarkReading, readMark } from './durable-mark.ts'
import * as failures from './journal-failures.ts'
import {
  isBlank,
  type JournalNature,
  makeTables,
  openReading,
  openWriting,
  readNature,
} from './journal-layout.ts'
import { BookTable } from './book-table.ts'
import { type BookedRow, type Booking, type BookingSpan } from './booking.ts'
import { areBookingsWhole, BookingTable, totalToText } from './booking-table.ts'
import { type BookingStore, type Journal, type JournalContents, type RowChange } from './journal.ts'
import { KeyTable, NO_KEYS, salvageKeys } from './key-table.ts'
import { sumToText } from './rows-sum.ts'
import { nextLink } from './record-chain.ts'
import { areOldRecordsWhole, readVerified, sealOf, type VerifiedPrefix } from './verify-journal.ts'

/** Undurable records wait for the next durable one, but never more than these. */
const WAITING_MAX = 256

/** Old records that one checkpoint drops at most: twice what comes between two, some milliseconds of work. */
const DROPPED_MAX = 20_000

export interface SqliteJournalOptions {
  readonly file: string
  /** Names the account and place that the journal belongs to: a journal of another one is refused. */
  readonly identity: string
  /** Records older than this are dropped at a checkpoint, Unix ms: what came before is in the checkpoint. */
  readonly keepSince: () => number
  /** Used keys older than this may be dropped at a checkpoint, Unix ms; never when absent. */
  readonly keepKeysSince?: () => number
  /** The salt of a journal that is made anew; drawn when absent. */
  readonly salt?: string | undefined
  /** The keys that were used before a journal that is made anew. */
  readonly usedKeys?: readonly UsedKey[]
  /** What was booked before it: written at its first checkpoint. */
  readonly bookings?: Iterable<Booking>
}

/** The mark of a journal file, see {@link DurableMark}. */
export function markFileOf(file: string): string {
  return `${file}.mark`
}

/**
 * The journal on disk: SQLite in WAL mode with full synchronisation, one row a record, each linked to the one
 * before. What it gives back is exactly what was written, up to and with the last record that was safe on the
 * disk; where that cannot be shown it is refused, and the files stay as they were found. Others may read it
 * meanwhile (`journal-reader.ts`); that nobody else writes is the state directory's lock.
 *
 * @throws Failure JOURNAL_FOREIGN, JOURNAL_LAYOUT_UNKNOWN, JOURNAL_CORRUPT, JOURNAL_TAIL_LOST,
 * JOURNAL_MARK_DAMAGED, JOURNAL_REPAIR_UNFINISHED, JOURNAL_HELD, JOURNAL_UNREADABLE
 */
export function openSqliteJournal(options: SqliteJournalOptions): Journal & BookingStore {
  const { file } = options
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const { nature, prefix } = verifyJournal(options) ?? createJournal(options)
    const database = openWriting(file)
    try {
      const mark = new DurableMark(markFileOf(file))
      return new SqliteJournal({ ...options, database, mark, nature, prefix })
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw failures.translateJournalError(error, file)
  }
}

/** What a journal is, and holds. */
export interface Verified {
  readonly nature: JournalNature
  readonly prefix: VerifiedPrefix
}

/**
 * What stands in the file, proved to be what was written; undefined when there is no journal yet. Used keys, fills
 * and funding payments are proved when they are read, and here only with `allRows`; so are the records before the
 * checkpoint.
 */
export function verifyJournal(
  { file, identity }: Pick<SqliteJournalOptions, 'file' | 'identity'>,
  { allRows = false } = {},
): Verified | undefined {
  const mark = readMark(markFileOf(file))
  if (mark.kind === 'repairing') throw failures.repairUnfinished(file, mark.aside)
  if (isEmpty(file)) return confirmAbsent(file, mark)
  const database = openReading(file)
  try {
    if (isBlank(database)) return confirmAbsent(file, mark)
    const nature = readNature(database, file)
    if (nature.identity !== identity) throw failures.foreign(file, nature.identity, identity)
    const prefix = readVerified(database, nature)
    if (prefix.flaw) throw failures.corrupt(file, prefix.flaw)
    confirmEnd(file, prefix, mark)
    if (prefix.daysFlaw) throw failures.corrupt(file, prefix.daysFlaw)
    if (allRows) {
      confirmRows(file, database, nature)
      confirmOldRecords(file, database, prefix)
    }
    return { nature, prefix }
  } finally {
    database.close()
  }
}

function confirmRows(file: string, database: DatabaseSync, { first }: JournalNature): void {
  const wrong = salvageKeys(database, first).isWhole ? undefined : 'the used keys'
  const found = wrong ?? (areBookingsWhole(database, first) ? undefined : 'the fills and funding payments')
  if (found === undefined) return
  throw failures.corrupt(file, { sequence: undefined, found: `${found} are not as they were written` })
}

function confirmOldRecords(file: string, database: DatabaseSync, { start }: VerifiedPrefix): void {
  if (areOldRecordsWhole(database, start)) return
  const found = 'records before the checkpoint are missing, or not as they were written'
  throw failures.corrupt(file, { sequence: undefined, found })
}

function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** Where a mark stands there was a journal. */
function confirmAbsent(file: string, mark: MarkReading): undefined {
  if (mark.kind === 'read') throw failures.tailLost(file, 0, mark.mark.sequence)
  if (mark.kind === 'damaged') throw failures.markDamaged(file, 'the journal is gone')
}

function confirmEnd(file: string, prefix: VerifiedPrefix, mark: MarkReading): void {
  const { start, records, last } = prefix
  if (mark.kind === 'absent' && last.sequence === 0) {
    return createMark(markFileOf(file), last) // The process ended between making the one and the other.
  }
  if (mark.kind !== 'read') throw failures.markDamaged(file, `${markFileOf(file)} is ${mark.kind}`)
  const { sequence, link } = mark.mark
  if (last.sequence < sequence) throw failures.tailLost(file, last.sequence, sequence)
  const named = sequence === start.sequence ? start : records[sequence - start.sequence - 1]
  if (named?.link !== link) throw failures.markDamaged(file, `it names another record ${sequence}`)
}

function createJournal({ file, identity, salt }: SqliteJournalOptions): Verified {
  const database = openWriting(file)
  try {
    chmodSync(file, 0o600)
    const nature = makeTables(database, identity, salt)
    createMark(markFileOf(file), { sequence: 0, link: nature.first })
    return { nature, prefix: readVerified(database, nature) }
  } finally {
    database.close()
  }
}

type Given = 'file' | 'keepSince' | 'keepKeysSince' | 'usedKeys' | 'bookings'
type JournalParts = Pick<SqliteJournalOptions, Given> & {
  readonly database: DatabaseSync
  readonly nature: JournalNature
  readonly mark: DurableMark
}

interface WaitingRecord {
  readonly record: JournalRecord
  readonly bookings: readonly Booking[]
}

class SqliteJournal implements Journal, BookingStore {
  readonly salt: string
  readonly #parts: JournalParts
  readonly #insert: StatementSync
  /** What stood in the file when it was opened, until it is loaded. */
  #found: JournalContents | undefined
  readonly #book: BookTable
  readonly #keys: KeyTable
  readonly #bookings: BookingTable
  /** Of a journal that is made anew, until they are written. */
  #carried: Iterable<Booking>
  #checkpointed: number
  #waiting: WaitingRecord[] = []
  #last: Mark
  #poisonedBy: unknown

  constructor({ prefix, ...parts }: JournalParts & Verified) {
    this.#parts = parts
    this.salt = parts.nature.salt
    this.#found = toContents(prefix)
    this.#last = prefix.last
    this.#checkpointed = prefix.start.sequence
    this.#book = new BookTable(parts.database, parts.nature.first, prefix.checkpoint)
    this.#keys = new KeyTable(parts.database, parts.nature.first, prefix.checkpoint?.keys ?? NO_KEYS)
    this.#bookings = new BookingTable(parts.database, parts.nature.first, prefix.days)
    this.#carried = parts.bookings ?? []
    this.#keys.put(parts.usedKeys ?? [])
    for (const record of this.#found.records) this.#keys.add(record)
    this.#insert = parts.database.prepare(
      'INSERT INTO records (sequence, at, kind, body, booked, link) VALUES (?, ?, ?, ?, ?, ?)',
    )
  }

  load(): JournalContents {
    const { database, nature } = this.#parts
    const found = this.#found ?? toContents(readVerified(database, nature))
    this.#found = undefined
    return found
  }

  append(record: JournalRecord, bookings: readonly Booking[] = []): void {
    this.#assertSound()
    this.#waiting.push({ record, bookings })
    this.#keys.add(record)
    if (this.#waiting.length >= WAITING_MAX) this.flush()
  }

  commit(done: () => void): void {
    this.flush()
    done()
  }

  flush(): void {
    if (this.#waiting.length === 0) return
    this.#write(() => {
      for (const { record, bookings } of this.#waiting) {
        this.#bookings.apply(bookings)
        this.#insertRecord(record, bookings.length > 0)
      }
    })
    this.#waiting = []
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    this.#assertSound()
    try {
      return keys.flatMap((key) => this.#keys.find(key) ?? [])
    } catch (error) {
      this.#poisonedBy = error
      throw failures.keysDamaged(error)
    }
  }

  get recordsSinceCheckpoint(): number {
    return this.#last.sequence + this.#waiting.length - this.#checkpointed
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.flush()
    this.#write(({ database, mark, keepSince, keepKeysSince }) => {
      mark.sync()
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
    })
    this.#checkpointed = this.#last.sequence
  }

  *bookings(kind: BookedRow['kind'], span?: BookingSpan): Generator<BookedRow> {
    this.flush()
    try {
      yield* this.#bookings.read(kind, span)
    } catch (error) {
      throw failures.translateJournalError(error, this.#parts.file)
    }
  }

  dropBookings(record: ArchivedRecord): void {
    this.flush()
    this.#write(() => {
      this.#bookings.drop(record.before)
      this.#insertRecord(record, true)
    })
  }

  close(): void {
    const { database, mark } = this.#parts
    try {
      if (this.#poisonedBy === undefined) this.flush()
    } finally {
      mark.close()
      database.close()
    }
  }

  /** One that has booked something says what all booked rows come to. */
  #insertRecord(record: JournalRecord, hasBooked: boolean): void {
    const sequence = this.#last.sequence + 1
    const parts = [sequence, Math.round(record.at), record.kind, JSON.stringify(record)] as const
    const booked = hasBooked ? totalToText(this.#bookings.sum) : undefined
    const link = nextLink(this.#last.link, ...parts, booked ?? '')
    this.#insert.run(...parts, booked ?? null, link)
    this.#last = { sequence, link }
  }

  /** One transaction. After a failed write nothing is known of the disk: it is never tried again. */
  #write(work: (parts: JournalParts) => void): void {
    this.#assertSound()
    const { database, mark } = this.#parts
    try {
      database.exec('BEGIN IMMEDIATE')
      work(this.#parts)
      database.exec('COMMIT')
      mark.write(this.#last)
    } catch (error) {
      this.#poisonedBy = error
      throw failures.poisoned(error)
    }
  }

  #assertSound(): void {
    if (this.#poisonedBy !== undefined) throw failures.poisoned(this.#poisonedBy)
  }
}

function toContents({ checkpoint, records }: VerifiedPrefix): JournalContents {
  return {
    // That of a journal which was made anew without a book has keys at most.
    checkpoint: checkpoint && checkpoint.rows.length > 0 ? checkpoint.rows.map(({ row }) => row) : undefined,
    records: records.map(({ body }) => JSON.parse(body) as JournalRecord),
  }
}

/** From the oldest on, so that the cost is that of what goes; their pages are used again. */
function dropOldRecords(database: DatabaseSync, before: number): void {
  database
    .prepare(
      `DELETE FROM records WHERE sequence < min(
        coalesce((SELECT sequence FROM records WHERE at >= ? ORDER BY sequence LIMIT 1), ${Number.MAX_SAFE_INTEGER}),
        (SELECT min(sequence) FROM records) + ${DROPPED_MAX})`,
    )
    .run(before)
}
