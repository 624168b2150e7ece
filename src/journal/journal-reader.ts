import { type DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { type JournalRecord } from '../domain/record.ts'
import { corrupt, translateJournalError } from './journal-failures.ts'
import { type JournalNature, openReading, readNature } from './journal-layout.ts'
import { type JournalContents } from './journal.ts'
import { isLinked, type LinkedRecord, readCheckpoint, toLinkedRecord } from './verify-journal.ts'

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
  /** Names the account and place that the journal belongs to. */
  readonly identity: string
  readonly #file: string
  readonly #database: DatabaseSync
  readonly #nature: JournalNature

  /** @throws Failure JOURNAL_UNREADABLE, JOURNAL_CORRUPT, JOURNAL_LAYOUT_UNKNOWN */
  constructor(file: string) {
    this.#file = file
    this.#database = this.#translated(() => openReading(file))
    try {
      this.#nature = this.#translated(() => readNature(this.#database, file))
    } catch (error) {
      this.#database.close()
      throw error
    }
    this.identity = this.#nature.identity
  }

  /** The book as it was last stored, and the record that it goes up to. */
  checkpoint(): { readonly sequence: number; readonly book: JournalContents['checkpoint'] } | undefined {
    const stored = this.#translated(() => readCheckpoint(this.#database, this.#nature.first))
    return stored && { sequence: stored.sequence, book: JSON.parse(stored.body) as unknown }
  }

  /**
   * The records that the journal still has (those of a week, and all after the checkpoint), one page after
   * the other: what is appended while the oldest are read comes too.
   * @throws Failure JOURNAL_CORRUPT at a record that is not as it was written
   */
  *records(query: RecordQuery = {}): Generator<NumberedRecord> {
    const { sql, values } = buildPageQuery(query)
    let beyond = query.newestFirst === true ? Number.MAX_SAFE_INTEGER : 0
    for (;;) {
      const rows = this.#translated(() => this.#database.prepare(sql).all(beyond, ...values))
      for (const row of rows) {
        const record = toLinkedRecord(row)
        this.#assertLinked(record, row['previous'])
        beyond = record.sequence
        yield { sequence: record.sequence, record: JSON.parse(record.body) as JournalRecord }
      }
      if (rows.length < PAGE_ROWS) return
    }
  }

  close(): void {
    this.#database.close()
  }

  /** The oldest record that was kept has nothing before it to be held against. */
  #assertLinked(record: LinkedRecord, previous: SQLOutputValue | undefined): void {
    const before = record.sequence === 1 ? this.#nature.first : previous
    if (before === null || isLinked(String(before), record)) return
    const { sequence } = record
    throw corrupt(this.#file, { sequence, found: 'the record is not as it was written' })
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
    SELECT sequence, at, kind, body, link,
      (SELECT link FROM records AS earlier WHERE earlier.sequence = records.sequence - 1) AS previous
    FROM records WHERE ${conditions.join(' AND ')}
    ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT ${PAGE_ROWS}`
  return { sql, values }
}
