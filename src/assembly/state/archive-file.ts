import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { BookedRow } from '../../journal/booking.ts'
import { syncDirectory } from '../../lib/durable-file.ts'
import { toCsvCell } from '../../lib/text/csv-cell.ts'
import { Failure, messageOf } from '../../lib/failure.ts'

/** The columns of an archive, documented in docs/journal.md: later versions add some at the end. */
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
] as const

/** Lines that are written at once. */
const CHUNK_LINES = 1000

/**
 * Writes rows as CSV, durably, into a file that is not there yet, and says how many of each kind there were. What
 * fails leaves no file.
 * @throws Failure ARCHIVE_EXISTS, ARCHIVE_UNWRITABLE, and what the rows throw
 */
export function writeArchive(
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
