import type { DatabaseSync } from 'node:sqlite'
import type { JournalRecord } from '../domain/record.ts'
import type { BookedRow, BookingSpan } from './booking.ts'
import type { CurvePoint, CurveQuery } from './curves.ts'
import {
  type BookingQuery,
  readBookings,
  readDays,
  type RowsCount,
} from './tables/booking-table.ts'
import { listSeries, readCurve } from './tables/curve-table.ts'
import { journalCorrupt, translateJournalError } from './journal-failures.ts'
import { hasBlocks, hasCurves, openReading, readMeta } from './journal-layout.ts'
import { type RecordBlock, type RecordRow, textOf, toBlock, unpackBlock } from './packed-records.ts'
import type { RowsSum } from './tables/rows-sum.ts'
import { toContents, isLinked, readVerifiedPrefix, toStoredRecord } from './verified-prefix.ts'
import type { JournalContents } from './journal.ts'

/** No lock is held between pages, so the writer never waits. */
const PAGE_ROWS = 500

export interface RecordQuery {
  /** Unix ms, our clock: `since` is included, `until` is not. */
  readonly since?: number
  readonly until?: number
  readonly kinds?: readonly JournalRecord['kind'][]
  /** A symbol, a clientOid, an orderId or a key in the record's text. */
  readonly containing?: string
  readonly newestFirst?: boolean
  /** The reading continues after this sequence. */
  readonly behind?: number
}

export interface NumberedRecord {
  readonly sequence: number
  readonly record: JournalRecord
}

/** Reads a journal while a daemon writes it. Each record is checked against its link. */
export class JournalReader {
  readonly #file: string
  readonly #database: DatabaseSync
  readonly #firstLink: string

  constructor(file: string) {
    this.#file = file
    this.#database = this.#translated(() => openReading(file))
    try {
      this.#firstLink = this.#translated(() => readMeta(this.#database, file)).firstLink
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /**
   * Returns the records of a week and all after the checkpoint, with those appended meanwhile.
   * @throws Failure JOURNAL_CORRUPT at a record that is not as it was written
   */
  *records(query: RecordQuery = {}): Generator<NumberedRecord> {
    let beyond = query.behind ?? (query.newestFirst === true ? Number.MAX_SAFE_INTEGER : 0)
    for (;;) {
      const page = this.#translated(() => this.#readPage(query, beyond))
      for (const row of page.rows) {
        const { sequence, body } = toStoredRecord(row)
        const previous = sequence === 1 ? this.#firstLink : row['previous']
        if (previous !== null && previous !== undefined && !isLinked(String(previous), row)) {
          throw journalCorrupt(this.#file, {
            sequence,
            found: 'the record is not as it was written',
          })
        }
        yield { sequence, record: JSON.parse(body) as JournalRecord }
      }
      if (page.beyond === undefined) return
      beyond = page.beyond
    }
  }

  #readPage(query: RecordQuery, beyond: number): RecordPage {
    const database = this.#database
    database.exec('BEGIN')
    try {
      const blocks = hasBlocks(database)
      if (query.newestFirst === true) {
        const page = readRecordPage(database, query, { beyond, blocks })
        if (page.beyond !== undefined || !blocks) return page
        return readBlockPage(
          database,
          query,
          page.rows.length > 0 ? endOf(page.rows) : beyond,
          page.rows,
        )
      }
      const page: RecordPage = blocks ? readBlockPage(database, query, beyond) : NO_PAGE
      return page.beyond === undefined ? readRecordPage(database, query, { beyond, blocks }) : page
    } finally {
      database.exec('COMMIT')
    }
  }

  /** @throws Failure JOURNAL_CORRUPT */
  *bookings(
    kind: BookedRow['kind'],
    query: BookingQuery = {},
    count?: RowsCount,
  ): Generator<BookedRow> {
    try {
      yield* readBookings(this.#database, this.#firstLink, { kind, ...query, count })
    } catch (error) {
      throw translateJournalError(error, this.#file)
    }
  }

  /** @throws Failure JOURNAL_CORRUPT */
  *curve(query: CurveQuery): Generator<CurvePoint> {
    try {
      if (hasCurves(this.#database)) yield* readCurve(this.#database, this.#firstLink, query)
    } catch (error) {
      throw translateJournalError(error, this.#file)
    }
  }

  curveNames(): readonly string[] {
    return this.#translated(() => (hasCurves(this.#database) ? listSeries(this.#database) : []))
  }

  /** 0 without a record. */
  lastSequence(): number {
    return this.#translated(() => {
      const isPacked = hasBlocks(this.#database)
      const packed = isPacked ? '(SELECT max(last) FROM record_blocks)' : 'NULL'
      const row = this.#database
        .prepare(`SELECT coalesce((SELECT max(sequence) FROM records), ${packed}, 0) AS sequence`)
        .get()
      return Number(row?.['sequence'])
    })
  }

  bookedTotal(): RowsSum {
    return this.#translated(() => readDays(this.#database).sum)
  }

  /** @throws Failure JOURNAL_CORRUPT */
  contents(): JournalContents {
    return this.#translated(() => {
      this.#database.exec('BEGIN')
      try {
        const found = readVerifiedPrefix(this.#database, readMeta(this.#database, this.#file))
        if (found.flaw) throw journalCorrupt(this.#file, found.flaw)
        return toContents(found)
      } finally {
        this.#database.exec('COMMIT')
      }
    })
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

/** A journal that nothing writes: a stopped one, or the replica of one on a server. */
export interface StoredJournal {
  readonly salt: string
  readonly contents: JournalContents
  readonly lastSequence: number
  bookings(kind: BookedRow['kind'], span?: BookingSpan): Iterable<BookedRow>
  close(): void
}

/** @throws Failure JOURNAL_UNREADABLE, JOURNAL_CORRUPT, JOURNAL_LAYOUT_UNKNOWN */
export function openStoredJournal(file: string): StoredJournal {
  try {
    const database = openReading(file)
    try {
      const meta = readMeta(database, file)
      const contents = toContents(readVerifiedPrefix(database, meta))
      const reader = new JournalReader(file)
      return {
        salt: meta.salt,
        contents,
        lastSequence: reader.lastSequence(),
        bookings: (kind, span) => reader.bookings(kind, span),
        close: () => reader.close(),
      }
    } finally {
      database.close()
    }
  } catch (error) {
    throw translateJournalError(error, file)
  }
}

interface RecordPage {
  readonly rows: readonly RecordRow[]
  readonly beyond: number | undefined
}

const NO_PAGE: RecordPage = { rows: [], beyond: undefined }

interface BlockScan {
  readonly beyond: number
  readonly blocks: boolean
}

function readRecordPage(
  database: DatabaseSync,
  query: RecordQuery,
  { beyond, blocks }: BlockScan,
): RecordPage {
  const { sql, values } = buildPageQuery(query, blocks)
  const rows = database.prepare(sql).all(beyond, ...values)
  return { rows, beyond: rows.length < PAGE_ROWS ? undefined : endOf(rows) }
}

function endOf(rows: readonly RecordRow[]): number {
  return Number(rows.at(-1)?.['sequence'])
}

/** Needs the transaction in which the rows before it were read. */
function readBlockPage(
  database: DatabaseSync,
  query: RecordQuery,
  beyond: number,
  before: readonly RecordRow[] = [],
): RecordPage {
  const { since = 0, until = Number.MAX_SAFE_INTEGER, newestFirst = false } = query
  const row = database
    .prepare(
      `SELECT *, (SELECT last_link FROM record_blocks AS earlier WHERE earlier.first < record_blocks.first
        ORDER BY earlier.first DESC LIMIT 1) AS previous FROM record_blocks
        WHERE ${newestFirst ? 'first < ?' : 'last > ?'} AND at_max >= ? AND at_min < ?
        ORDER BY first ${newestFirst ? 'DESC' : 'ASC'} LIMIT 1`,
    )
    .get(beyond, since, until)
  if (row === undefined) return { rows: before, beyond: undefined }
  const block = toBlock(row)
  const found = findInBlock(block, query, row['previous'] ?? undefined)
  const rows = found.filter(({ sequence }) =>
    newestFirst ? Number(sequence) < beyond : Number(sequence) > beyond,
  )
  return {
    rows: [...before, ...(newestFirst ? rows.toReversed() : rows)],
    beyond: newestFirst ? block.first : block.last,
  }
}

function findInBlock(
  block: RecordBlock,
  query: RecordQuery,
  previous: unknown,
): readonly RecordRow[] {
  const { since = 0, until = Number.MAX_SAFE_INTEGER, kinds, containing = '' } = query
  const text = textOf(block)
  if (!text.includes(containing)) return []
  return unpackBlock(block, text)
    .map((row, place) => (place === 0 ? { ...row, previous } : row) as RecordRow)
    .filter(({ at, kind, body }) => {
      const isInSpan = Number(at) >= since && Number(at) < until
      return isInSpan && isOneOf(kinds, kind) && String(body).includes(containing)
    })
}

function isOneOf(kinds: RecordQuery['kinds'], kind: unknown): boolean {
  return kinds === undefined || kinds.some((one) => one === kind)
}

function buildPageQuery(
  query: RecordQuery,
  blocks: boolean,
): { readonly sql: string; readonly values: (string | number)[] } {
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
  const earlier =
    '(SELECT link FROM records AS earlier WHERE earlier.sequence = records.sequence - 1)'
  const packed = '(SELECT last_link FROM record_blocks ORDER BY first DESC LIMIT 1)'
  const sql = `
    SELECT sequence, at, kind, body, booked, link, ${blocks ? `coalesce(${earlier}, ${packed})` : earlier} AS previous
    FROM records WHERE ${conditions.join(' AND ')}
    ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT ${PAGE_ROWS}`
  return { sql, values }
}
