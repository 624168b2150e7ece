import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import { messageOf } from '../lib/failure.ts'
import { createMark, DurableMark, markFileOf } from './durable-mark.ts'
import * as failures from './journal-failures.ts'
import { createMeta, LAYOUT, makeTables, openWriting, readLayout } from './journal-layout.ts'
import type { BookedRow, Booking, BookingSpan } from './booking.ts'
import { JournalTables, type TableSettings } from './journal-tables.ts'
import { toContents, readVerifiedPrefix } from './verified-prefix.ts'
import type {
  BookingStore,
  CurveStore,
  Journal,
  JournalContents,
  RowChange,
  WriterStore,
} from './journal.ts'
import type { CurvePoint, CurveQuery } from './curves.ts'
import { type JournalWriter, putWriter } from './journal-writer.ts'
import { putBlock, type RecordBlock, takeBlock } from './packed-records.ts'
import { readCurve } from './tables/curve-table.ts'
import { type JournalFile, type VerifiedJournal, verifyJournal } from './verify-journal.ts'
import { makeDirectory } from '../lib/durable-file.ts'

/** More records are written without waiting for a durable one. */
const WAITING_MAX = 256

/**
 * 8 MB, twice what two checkpoints have between them. A commit beyond it moves the log into the
 * file.
 */
const LOG_PAGES_MAX = 2000

export interface SqliteJournalOptions extends JournalFile, TableSettings {
  readonly salt?: string | undefined
  readonly onUnpacked?: (reason: string) => void
}

/**
 * Opens a journal in SQLite (WAL mode, full synchronisation; layout: `journal-layout.ts`). It
 * returns exactly what was written, up to the last record that was safe on the disk; otherwise it
 * is refused, and its files stay as they were found. The caller holds the lock of the state
 * directory.
 *
 * @throws Failure JOURNAL_FOREIGN, JOURNAL_LAYOUT_UNKNOWN, JOURNAL_LAYOUT_OLD, JOURNAL_CORRUPT,
 * JOURNAL_TAIL_LOST, JOURNAL_MARK_DAMAGED, JOURNAL_REPAIR_UNFINISHED, JOURNAL_MOVED,
 * JOURNAL_COPY_UNFINISHED, JOURNAL_HELD, JOURNAL_UNREADABLE
 */
export function openSqliteJournal(
  options: SqliteJournalOptions,
): Journal & BookingStore & CurveStore & WriterStore<void> & { readonly lastSequence: number } {
  const { file } = options
  try {
    makeDirectory(dirname(file), 0o700)
    const { meta, prefix } = verifyJournal(options) ?? createJournal(options)
    const database = openWriting(file)
    try {
      const layout = readLayout(database)
      if (layout !== LAYOUT)
        throw failures.layoutOlder(file, layout, 'run `intentd journal migrate`')
      const mark = new DurableMark(markFileOf(file))
      return new SqliteJournal({ ...options, database, mark, meta, prefix })
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw failures.translateJournalError(error, file)
  }
}

function createJournal({ file, identity, salt }: SqliteJournalOptions): VerifiedJournal {
  const database = openWriting(file)
  try {
    chmodSync(file, 0o600)
    const meta = makeTables(database, createMeta(identity, salt))
    createMark(markFileOf(file), { sequence: 0, link: meta.firstLink })
    return { meta, layout: LAYOUT, prefix: readVerifiedPrefix(database, meta) }
  } finally {
    database.close()
  }
}

type SqliteJournalParts = Pick<VerifiedJournal, 'meta' | 'prefix'> & {
  readonly database: DatabaseSync
  readonly mark: DurableMark
} & Pick<SqliteJournalOptions, 'file' | 'onUnpacked' | keyof TableSettings>

interface WaitingRecord {
  readonly record: JournalRecord
  readonly bookings: readonly Booking[]
}

class SqliteJournal implements Journal, BookingStore, CurveStore, WriterStore<void> {
  readonly salt: string
  readonly writer: JournalWriter | undefined
  readonly #parts: Pick<SqliteJournalParts, 'file' | 'database' | 'meta' | 'mark'>
  readonly #tables: JournalTables
  #onUnpacked: ((reason: string) => void) | undefined
  #found: JournalContents | undefined
  #checkpointed: number
  /** False until a checkpoint leaves records that may fill another block. */
  #isPackable = true
  #isLogToMove = false
  #waiting: WaitingRecord[] = []
  #points: CurvePoint[] = []
  #finishedCurves: string[] = []
  #writeFailure: unknown

  constructor(given: SqliteJournalParts) {
    const { file, database, meta, mark, prefix } = given
    this.#parts = { file, database, meta, mark }
    this.#onUnpacked = given.onUnpacked
    database.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`)
    this.salt = meta.salt
    this.writer = meta.writer
    this.#found = toContents(prefix)
    this.#checkpointed = prefix.start.sequence
    this.#tables = new JournalTables({ ...given, records: this.#found.records })
  }

  load(): JournalContents {
    const { database, meta } = this.#parts
    const found = this.#found ?? toContents(readVerifiedPrefix(database, meta))
    this.#found = undefined
    return found
  }

  append(record: JournalRecord, bookings: readonly Booking[] = []): void {
    this.#assertSound()
    this.#waiting.push({ record, bookings })
    this.#tables.keys.add(record)
    if (this.#waiting.length >= WAITING_MAX) this.#writeWaiting()
  }

  commit(done: () => void): void {
    this.#writeWaiting()
    done()
  }

  flush(): void {
    const block = this.#takeBlock()
    this.#writeWaiting(block)
    if (block === undefined && this.#isLogToMove) this.#moveLog()
  }

  /**
   * Moves the log in a turn of its own, because the commit of a checkpoint would otherwise take
   * several times as long. If a reader prevents that, a later checkpoint or commit does it.
   */
  #moveLog(): void {
    this.#isLogToMove = false
    try {
      this.#parts.database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The log stays as it was.
    }
  }

  #writeWaiting(block?: RecordBlock): void {
    if (this.#waiting.length + this.#points.length === 0 && block === undefined) return
    this.#write(({ database }) => {
      for (const { record, bookings } of this.#waiting) this.#tables.putRecord(record, bookings)
      this.#tables.curves.put(this.#points, this.#finishedCurves)
      if (block) putBlock(database, block)
    })
    this.#waiting = []
    this.#points = []
    this.#finishedCurves = []
  }

  /**
   * Leaves damaged records unpacked, so that a reader finds them; trading does not depend on them.
   */
  #takeBlock(): RecordBlock | undefined {
    if (!this.#isPackable || this.#writeFailure !== undefined) return undefined
    let block: RecordBlock | undefined
    try {
      block = takeBlock(this.#parts.database, this.#checkpointed)
    } catch (error) {
      if (!failures.isDamage(error)) {
        this.#writeFailure = error
        throw failures.writeFailed(error)
      }
      this.#onUnpacked?.(messageOf(error))
      this.#onUnpacked = undefined
    }
    this.#isPackable = block !== undefined
    return block
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    this.#assertSound()
    try {
      return this.#tables.usedKeys(keys)
    } catch (error) {
      this.#writeFailure = error
      throw failures.keysDamaged(error)
    }
  }

  get recordsSinceCheckpoint(): number {
    return this.lastSequence - this.#checkpointed
  }

  get lastSequence(): number {
    return this.#tables.last.sequence + this.#waiting.length
  }

  prepareCheckpoint(): boolean {
    if (!this.#tables.hasKeysAhead) return false
    this.#writeWaiting()
    this.#write(() => this.#tables.putKeysAhead())
    return true
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#writeWaiting()
    this.#write(({ mark }) => {
      mark.sync()
      this.#tables.putCheckpoint(changes)
    })
    this.#checkpointed = this.#tables.last.sequence
    this.#isPackable = true
    this.#isLogToMove = true
  }

  *bookings(kind: BookedRow['kind'], span?: BookingSpan): Generator<BookedRow> {
    this.#writeWaiting()
    try {
      yield* this.#tables.bookings.read(kind, span)
    } catch (error) {
      throw failures.translateJournalError(error, this.#parts.file)
    }
  }

  notePoints(points: readonly CurvePoint[], finished: readonly string[] = []): void {
    if (this.#writeFailure !== undefined) return
    this.#points.push(...points)
    this.#finishedCurves.push(...finished)
  }

  *curve(query: CurveQuery): Generator<CurvePoint> {
    const { database, meta, file } = this.#parts
    try {
      yield* readCurve(database, meta.firstLink, query)
    } catch (error) {
      throw failures.translateJournalError(error, file)
    }
  }

  noteWriter(writer: JournalWriter): void {
    this.#write(() => putWriter(this.#parts.database, writer))
  }

  dropBookings(record: ArchivedRecord): void {
    this.#writeWaiting()
    this.#write(() => this.#tables.dropBookings(record))
  }

  close(): void {
    const { database, mark } = this.#parts
    try {
      if (this.#writeFailure === undefined) this.#writeWaiting()
    } finally {
      mark.close()
      database.close()
    }
  }

  /** After a failed write the state of the disk is unknown, so no other write is tried. */
  #write(work: (parts: Pick<SqliteJournalParts, 'database' | 'mark'>) => void): void {
    this.#assertSound()
    const { database, mark } = this.#parts
    try {
      database.exec('BEGIN IMMEDIATE')
      work(this.#parts)
      database.exec('COMMIT')
      mark.write(this.#tables.last)
    } catch (error) {
      this.#writeFailure = error
      throw failures.writeFailed(error, this.#parts.file)
    }
  }

  #assertSound(): void {
    if (this.#writeFailure !== undefined) throw failures.writeFailed(this.#writeFailure)
  }
}
