import { type DatabaseSync } from 'node:sqlite'
import { type JournalRecord } from '../domain/record.ts'
import { type BookedRow, type BookingSpan } from './booking.ts'
import { readBookings } from './tables/booking-table.ts'
import { corrupt, translateJournalError } from './journal-failures.ts'
import { openReading, readNature } from './journal-layout.ts'
import { isLinked, toStoredText } from './verify-journal.ts'

/** Rows that are read at once: between pages nothing of the journal is held, so its writer never waits. */
const PAGE_ROWS = 500

/** Which records. What is absent does not restrict. */
export interface RecordQuery {
  /** Unix ms, our clock: from the one, to before the other. */
  readonly since?: number
  readonly until?: number
  readonly kinds?: readonly JournalRecord['kind'][]
  /** A text that stands in the record as it was written: a symbol, a clientOid, an orderId, a key. */
  readonly containing?: string
  /** The newest first. */
  readonly newestFirst?: boolean
  /** Only those that come behind this sequence, in the order that is asked for. */
  readonly behind?: number
}

export interface NumberedRecord {
  readonly sequence: number
  readonly record: JournalRecord
}

/**
 * Reads a journal beside the daemon that writes it, or after its end. It takes no lock that the writer waits
 * for and changes nothing; each record is held against its link before it is given out.
 */
export class JournalReader {
  readonly #file: string
  readonly #database: DatabaseSync
  /** The link before the first record. */
  readonly #first: string

  /** @throws Failure JOURNAL_UNREADABLE, JOURNAL_CORRUPT, JOURNAL_LAYOUT_UNKNOWN */
  constructor(file: string) {
    this.#file = file
    this.#database = this.#translated(() => openReading(file))
    try {
      this.#first = this.#translated(() => readNature(this.#database, file)).first
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /**
   * The records that the journal still has (those of a week, and all after the checkpoint), one page after
   * the other: what is appended while the oldest are read comes too.
   * @throws Failure JOURNAL_CORRUPT at a record that is not as it was written
   */
  *records(query: RecordQuery = {}): Generator<NumberedRecord> {
    const { sql, values } = buildPageQuery(query)
    let beyond = query.behind ?? (query.newestFirst === true ? Number.MAX_SAFE_INTEGER : 0)
    for (;;) {
      const rows = this.#translated(() => this.#database.prepare(sql).all(beyond, ...values))
      for (const row of rows) {
        const { sequence, body } = toStoredText(row)
        // The oldest record that was kept has nothing before it to be held against.
        const previous = sequence === 1 ? this.#first : row['previous']
        if (previous !== null && !isLinked(String(previous), row)) {
          throw corrupt(this.#file, { sequence, found: 'the record is not as it was written' })
        }
        beyond = sequence
        yield { sequence, record: JSON.parse(body) as JournalRecord }
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  /**
   * What records have booked and nobody has archived, the oldest first.
   * @throws Failure JOURNAL_CORRUPT
   */
  *bookings(kind: BookedRow['kind'], span: BookingSpan = {}): Generator<BookedRow> {
    try {
      yield* readBookings(this.#database, this.#first, { kind, ...span })
    } catch (error) {
      throw translateJournalError(error, this.#file)
    }
  }

  close(): void {
    this.#database.close()
  }

  #translated<Value>(read: () => Value): Value {
    try {
      return read()
    } catch (error) {
      throw translateJournalError(error, this.#file)
    }
  }
}

function buildPageQuery(query: RecordQuery): { readonly sql: string; readonly values: (string | number)[] } {
  const { since, until, kinds, containing, newestFirst = false } = query
  const conditions = [`sequence ${newestFirst ? '<' : '>'} ?`]
  const values: (string | number)[] = []
  const restrict = (condition: string, ...operands: readonly (string | number)[]): void => {
    conditions.push(condition)
    values.push(...operands)
  }
  if (since !== undefined) restrict('at >= ?', since)
  if (until !== undefined) restrict('at < ?', until)
  if (kinds !== undefined) restrict(`kind IN (${kinds.map(() => '?').join(', ')})`, ...kinds)
  if (containing !== undefined) restrict('instr(body, ?) > 0', containing)
  const sql = `
    SELECT sequence, at, kind, body, booked, link,
      (SELECT link FROM records AS earlier WHERE earlier.sequence = records.sequence - 1) AS previous
    FROM records WHERE ${conditions.join(' AND ')}
    ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT ${PAGE_ROWS}`
  return { sql, values }
}
