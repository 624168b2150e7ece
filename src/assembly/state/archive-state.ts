import { existsSync, closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join, dirname } from 'node:path'
import type { BookedRow } from '../../journal/booking.ts'
import type { BookingStore } from '../../journal/journal.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { openJournal, type JournalToOpen } from './open-journal.ts'
import { describeHolder, holdDirectory } from './state-directory.ts'
import { journalPlaceOf } from './state-place.ts'
import { syncDirectory } from '../../lib/durable-file.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'

export interface ArchiveOptions extends Pick<
  JournalToOpen,
  'config' | 'directory' | 'password' | 'clock' | 'timers' | 'logger' | 'configOption'
> {
  readonly before: number
  readonly file?: string | undefined
}

export interface ArchiveReport {
  readonly file: string
  readonly fills: number
  readonly fundings: number
}

/**
 * Rows are durable in the archive before a record takes them out of the journal, so an interruption
 * loses none. Undefined if there are none.
 * @throws Failure ARCHIVE_NO_JOURNAL, STATE_HELD, those of `writeArchive` and of opening a journal
 */
export async function archiveState(options: ArchiveOptions): Promise<ArchiveReport | undefined> {
  const { config, directory, before, clock } = options
  const at = clock.now()
  const place = journalPlaceOf(config, directory)
  if (config.journal === undefined && !existsSync(place.file)) throw noJournal(place.file)
  const lock = holdDirectory(directory, describeHolder(config.name, at))
  try {
    const journal = await openJournal({ ...options, keepSince: () => 0 })
    try {
      if (!hasAny(journal, before)) return undefined
      const file = options.file ?? join(directory, `fills-before-${toFileDate(before)}.csv`)
      const { fill: fills, funding: fundings } = writeArchive(file, rowsBefore(journal, before))
      journal.dropBookings({ kind: 'archived', at, before, fills, fundings, file })
      return { file, fills, fundings }
    } finally {
      await journal.close()
    }
  } finally {
    lock.release()
  }
}

function* rowsBefore(journal: BookingStore, until: number): Generator<BookedRow> {
  yield* journal.bookings('fill', { until })
  yield* journal.bookings('funding', { until })
}

function hasAny(journal: BookingStore, before: number): boolean {
  for (const _row of rowsBefore(journal, before)) return true
  return false
}

function toFileDate(at: number): string {
  const text = new Date(at).toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.replaceAll(/[:.]/g, '-')
}

function noJournal(file: string): Failure {
  return new Failure({
    code: 'ARCHIVE_NO_JOURNAL',
    sentence: 'there is no journal to archive from',
    facts: { file },
    hint: 'name the configuration with --config, and give --market and --speed as for the run',
  })
}

/** docs/journal.md documents these columns; later versions may append some. */
const COLUMNS = [
  'kind',
  'time',
  'id',
  'orderId',
  'clientOid',
  'strategy',
  'owner',
  'symbol',
  'side',
  'tradeSide',
  'price',
  'size',
  'profit',
  'fee',
  'funding',
  'coin',
  'scope',
  'source',
  'fillKind',
  'otherFees',
  'reason',
  'tag',
] as const

const CHUNK_LINES = 1000

/**
 * A failure leaves no file. @throws Failure ARCHIVE_EXISTS, ARCHIVE_UNWRITABLE, and errors of the
 * rows
 */
function writeArchive(
  file: string,
  rows: Iterable<BookedRow>,
): Readonly<Record<BookedRow['kind'], number>> {
  const descriptor = create(file)
  const counts = { fill: 0, funding: 0 }
  try {
    const lines: string[] = [COLUMNS.join(',')]
    for (const row of rows) {
      counts[row.kind] += 1
      if (lines.push(toLine(row)) >= CHUNK_LINES)
        writeLines(descriptor, { file, lines: lines.splice(0) })
    }
    writeLines(descriptor, { file, lines })
    attempt(file, () => fsyncSync(descriptor))
    closeSync(descriptor)
  } catch (error) {
    closeSync(descriptor)
    rmSync(file, { force: true })
    throw error
  }
  attempt(file, () => syncDirectory(dirname(file)))
  return counts
}

function create(file: string): number {
  try {
    return openSync(file, 'wx', 0o600)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'))
      throw unwritable(file, cause)
    throw new Failure({
      code: 'ARCHIVE_EXISTS',
      sentence: 'the file exists already, and an archive never overwrites a file',
      facts: { file },
      hint: 'name another file with --to; an interrupted archive has removed nothing from the journal, so you can delete its file',
      cause,
    })
  }
}

function writeLines(
  descriptor: number,
  { file, lines }: { file: string; lines: readonly string[] },
): void {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  attempt(file, () => {
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
  })
}

function attempt(file: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throw unwritable(file, error)
  }
}

function unwritable(file: string, cause: unknown): Failure {
  return new Failure({
    code: 'ARCHIVE_UNWRITABLE',
    sentence: 'the archive cannot be written, so nothing was taken out of the journal',
    facts: { file, found: messageOf(cause) },
    hint: 'free disk space, fix its rights, or name another file with --to',
    cause,
  })
}

function toLine(row: BookedRow): string {
  const values: Readonly<Partial<Record<(typeof COLUMNS)[number], string>>> = {
    ...(row.kind === 'fill'
      ? { ...row, id: row.tradeId, strategy: row.strategyId }
      : { ...row, funding: row.amount }),
    time: new Date(row.at).toISOString(),
  }
  return COLUMNS.map((column) => toCsvCell(values[column] ?? '')).join(',')
}
