import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { JournalRecord, RepairedRecord, UsedKey } from '../domain/record.ts'
import { syncDirectory, syncFile } from '../lib/durable-file.ts'
import type { Failure } from '../lib/failure.ts'
import { createRepairMark, readMark, markFileOf } from './durable-mark.ts'
import { isDamage, translateJournalError } from './journal-failures.ts'
import {
  hasCurves,
  type JournalMeta,
  openReading,
  readMeta,
  removeDatabase,
} from './journal-layout.ts'
import type { BookedRow } from './booking.ts'
import { BOOKED_KINDS, salvageBookings } from './tables/booking-table.ts'
import { type StoredPoint, salvageCurves } from './tables/curve-table.ts'
import { salvageKeys } from './tables/key-table.ts'
import { openSqliteJournal } from './sqlite-journal.ts'
import { type VerifiedJournal, verifyJournal } from './verify-journal.ts'
import { readVerifiedPrefix } from './verified-prefix.ts'

export interface RepairOptions {
  readonly file: string
  readonly identity: string
  readonly buildRecord: (reason: string) => RepairedRecord
  readonly stamp: string
}

export interface RepairReport {
  readonly refusal: Failure
  readonly aside: string
  readonly records: number
  readonly lostMin: number | undefined
  readonly hasCheckpoint: boolean
  /** Without its salt, a repeated decision gets another clientOid. */
  readonly hasSalt: boolean
}

/** A journal of another account or version cannot be repaired. */
const REPAIRABLE: ReadonlySet<string> = new Set([
  'JOURNAL_CORRUPT',
  'JOURNAL_TAIL_LOST',
  'JOURNAL_MARK_DAMAGED',
  'JOURNAL_REPAIR_UNFINISHED',
])

/**
 * Replaces a refused journal by its longest correct prefix, and a record for everything lost.
 * Undefined if there is nothing to repair. The caller must hold the state directory.
 *
 *     sound ──► (nothing)
 *     damaged ──copied aside, mark says so──► repairing ──new journal built and put in place──► sound
 *
 * An interrupted repair begins again from the files put aside, and nothing else opens the journal.
 *
 * @throws Failure for a journal that cannot be repaired
 */
export function repairJournal(options: RepairOptions): RepairReport | undefined {
  const refusal = findRefusal(options)
  if (refusal === undefined) return undefined
  if (!REPAIRABLE.has(refusal.code)) throw refusal
  try {
    const aside = putAside(options)
    const found = salvage(options.file)
    buildAnew(options, found, `the journal was repaired after ${refusal.code}`)
    return {
      refusal,
      aside,
      records: found?.prefix.records.length ?? 0,
      lostMin: countLost(aside, found),
      hasCheckpoint: found?.prefix.checkpoint !== undefined,
      hasSalt: found !== undefined,
    }
  } catch (error) {
    throw translateJournalError(error, options.file)
  }
}

/** The original mark never claims more than was durable. */
function countLost(aside: string, found: SalvagedJournal | undefined): number | undefined {
  const written = readMark(markFileOf(aside))
  if (written.kind !== 'read') return undefined
  return Math.max(0, written.mark.sequence - (found?.prefix.last.sequence ?? 0))
}

function findRefusal(options: RepairOptions): Failure | undefined {
  try {
    verifyJournal(options, { allRows: true })
    return undefined
  } catch (error) {
    return translateJournalError(error, options.file)
  }
}

/**
 * Copies the files durably, before anything is changed. Copies of an interrupted repair are put
 * back.
 */
function putAside({ file, stamp }: RepairOptions): string {
  const mark = readMark(markFileOf(file))
  if (mark.kind === 'repairing') {
    const begun = join(dirname(file), mark.aside)
    removeDatabase(file)
    for (const part of ['', '-wal']) copyPart(`${begun}${part}`, `${file}${part}`)
    return begun
  }
  const aside = `${file}.damaged-${stamp}`
  for (const part of ['', '-wal', '.mark']) copyPart(`${file}${part}`, `${aside}${part}`)
  syncDirectory(dirname(file))
  createRepairMark(markFileOf(file), basename(aside))
  return aside
}

function copyPart(from: string, to: string): void {
  if (!existsSync(from)) return
  copyFileSync(from, to)
  syncFile(to)
}

interface SalvagedJournal extends Pick<VerifiedJournal, 'meta' | 'prefix'> {
  readonly usedKeys: readonly UsedKey[]
}

function salvage(file: string): SalvagedJournal | undefined {
  if (!existsSync(file)) return undefined
  let database: DatabaseSync | undefined
  try {
    database = openReading(file)
    const meta = readMeta(database, file)
    return { meta, prefix: readVerifiedPrefix(database, meta), usedKeys: readKeys(database, meta) }
  } catch (error) {
    // A damaged file counts as empty; a disk error is reported.
    if (!isDamage(error)) throw error
    return undefined
  } finally {
    database?.close()
  }
}

function readKeys(database: DatabaseSync, { firstLink }: JournalMeta): readonly UsedKey[] {
  try {
    return [...salvageKeys(database, firstLink)]
  } catch (error) {
    if (!isDamage(error)) throw error
    return []
  }
}

function* readBookings(file: string, { firstLink }: JournalMeta): Generator<BookedRow> {
  const database = openReading(file)
  try {
    for (const kind of BOOKED_KINDS) yield* skipDamage(salvageBookings(database, firstLink, kind))
  } finally {
    database.close()
  }
}

function* readCurves(file: string, { firstLink }: JournalMeta): Generator<StoredPoint> {
  const database = openReading(file)
  try {
    if (hasCurves(database)) yield* skipDamage(salvageCurves(database, firstLink))
  } finally {
    database.close()
  }
}

function* skipDamage<Row>(rows: Iterable<Row>): Generator<Row> {
  try {
    yield* rows
  } catch (error) {
    if (!isDamage(error)) throw error
  }
}

function buildAnew(
  { file, identity, buildRecord }: RepairOptions,
  found: SalvagedJournal | undefined,
  reason: string,
): void {
  const { checkpoint, records = [] } = found?.prefix ?? {}
  const made = `${file}.repaired`
  removeDatabase(made)
  rmSync(markFileOf(made), { force: true })
  const { usedKeys = [] } = found ?? {}
  const salt = found?.meta.salt
  const bookings = found ? readBookings(file, found.meta) : []
  const curves = found ? readCurves(file, found.meta) : []
  const journal = openSqliteJournal({
    file: made,
    identity,
    salt,
    usedKeys,
    bookings,
    curves,
    keepSince: () => 0,
  })
  try {
    journal.saveCheckpoint(checkpoint?.rows.map(({ row }) => row) ?? [])
    for (const { body } of records) journal.append(JSON.parse(body) as JournalRecord)
    if (found?.meta.writer) journal.noteWriter(found.meta.writer)
    journal.append(buildRecord(reason))
    journal.flush()
  } finally {
    journal.close()
  }
  removeDatabase(file)
  renameSync(made, file)
  syncDirectory(dirname(file))
  // Until the mark is in place, nothing else opens the journal.
  renameSync(markFileOf(made), markFileOf(file))
  syncDirectory(dirname(file))
}
