import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { createMark, type MarkReading, markFileOf, readMark } from './durable-mark.ts'
import type { Flaw } from './journal-failures.ts'
import * as failures from './journal-failures.ts'
import {
  hasCurves,
  hasNoTables,
  type JournalMeta,
  openReading,
  readLayout,
  readMeta,
} from './journal-layout.ts'
import { areBookingsWhole } from './tables/booking-table.ts'
import { areCurvesWhole } from './tables/curve-table.ts'
import { areKeysWhole } from './tables/key-table.ts'
import { areOldRecordsWhole, readVerifiedPrefix, type VerifiedPrefix } from './verified-prefix.ts'

export interface JournalFile {
  readonly file: string
  /** Names account and place: a journal of another is refused. */
  readonly identity: string
}

export interface VerifiedJournal {
  readonly meta: JournalMeta
  readonly layout: number
  readonly prefix: VerifiedPrefix
}

/**
 * Undefined where there is no journal. Without `allRows`, used keys, booked rows and older records
 * are checked only when they are read.
 */
export function verifyJournal(
  { file, identity }: JournalFile,
  { allRows = false, evenMoved = false } = {},
): VerifiedJournal | undefined {
  const mark = readMark(markFileOf(file))
  if (mark.kind === 'repairing') throw failures.repairUnfinished(file, mark.aside)
  if (mark.kind === 'copying') throw failures.copyUnfinished(file)
  if (mark.kind === 'moved' && !evenMoved) throw failures.movedAway(file, mark.to)
  if (!isJournalFile(file)) return confirmAbsent(file, mark)
  const database = openReading(file)
  try {
    if (hasNoTables(database)) return confirmAbsent(file, mark)
    const meta = readMeta(database, file)
    if (meta.identity !== identity) throw failures.journalForeign(file, meta.identity, identity)
    const prefix = readVerifiedPrefix(database, meta)
    if (prefix.flaw) throw failures.journalCorrupt(file, prefix.flaw)
    confirmEnd(file, prefix, mark)
    if (prefix.daysFlaw) throw failures.journalCorrupt(file, prefix.daysFlaw)
    const flaw = allRows ? findFlawedRows(database, { meta, prefix }) : undefined
    if (flaw) throw failures.journalCorrupt(file, flaw)
    return { meta, layout: readLayout(database), prefix }
  } finally {
    database.close()
  }
}

export function findFlawedRows(
  database: DatabaseSync,
  { meta: { firstLink }, prefix: { start } }: Pick<VerifiedJournal, 'meta' | 'prefix'>,
): Flaw | undefined {
  const flaw = (found: string): Flaw => ({ sequence: undefined, found })
  if (!areKeysWhole(database, firstLink)) return flaw('the used keys are not as they were written')
  if (!areBookingsWhole(database, firstLink))
    return flaw('the fills and funding payments are not as they were written')
  if (hasCurves(database) && !areCurvesWhole(database, firstLink))
    return flaw('the curves are not as they were written')
  if (!areOldRecordsWhole(database, start))
    return flaw('records before the checkpoint are missing, or not as they were written')
  return undefined
}

export function isJournalFile(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}

function confirmAbsent(file: string, mark: MarkReading): undefined {
  if (mark.kind === 'read' || mark.kind === 'moved')
    throw failures.tailLost(file, 0, mark.mark.sequence)
  if (mark.kind === 'damaged') throw failures.markDamaged(file, 'the journal is gone')
}

function confirmEnd(file: string, prefix: VerifiedPrefix, mark: MarkReading): void {
  const { start, records, last } = prefix
  if (mark.kind === 'absent' && last.sequence === 0) {
    return createMark(markFileOf(file), last) // The process ended between making the two.
  }
  if (mark.kind !== 'read' && mark.kind !== 'moved')
    throw failures.markDamaged(file, `${markFileOf(file)} is ${mark.kind}`)
  const { sequence, link } = mark.mark
  if (last.sequence < sequence) throw failures.tailLost(file, last.sequence, sequence)
  const named = sequence === start.sequence ? start : records[sequence - start.sequence - 1]
  if (named?.link !== link) throw failures.markDamaged(file, `it names another record ${sequence}`)
}
