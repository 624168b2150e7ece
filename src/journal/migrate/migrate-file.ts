import { markFileOf } from '../durable-mark.ts'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  renameSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { syncDirectory, syncFile } from '../../lib/durable-file.ts'
import { Failure } from '../../lib/failure.ts'
import { type JournalSize, countJournal, findCopyFlaw } from '../copy/prove-copy.ts'
import { journalCorrupt, translateJournalError } from '../journal-failures.ts'
import {
  LAYOUT,
  openReading,
  openWriting,
  readLayout,
  readMeta,
  removeDatabase,
} from '../journal-layout.ts'
import { isJournalFile, type VerifiedJournal, verifyJournal } from '../verify-journal.ts'
import { stepsFrom } from './layout-steps.ts'

export interface FileToMigrate {
  readonly file: string
  readonly identity: string
  /** An interrupted copy to a server is repeated from a file that has moved. */
  readonly evenMoved?: boolean
}

export interface MigrationPlan {
  readonly from: number
  readonly to: number
  readonly counted: JournalSize
  readonly copy: string
  readonly bytes: number
  readonly neededBytes: number
  readonly freeBytes: number
}

/**
 * Proves the journal row by row and changes nothing. Undefined if there is nothing to migrate.
 * @throws Failure JOURNAL_LAYOUT_UNKNOWN, and those of opening the journal
 */
export function planMigration(options: FileToMigrate): MigrationPlan | undefined {
  return examine(options)?.plan
}

/**
 * Brings a file to the present layout; undefined if it has it.
 *
 *     earlier ──proved, copied beside, the copy proved and durable──► copied ──changed in one transaction, proved──► present
 *       └── any failure before the commit: earlier, and it can be run again
 *
 * @throws Failure JOURNAL_MIGRATE_NO_ROOM, JOURNAL_CORRUPT, and those of opening the journal
 */
export function migrateFile(options: FileToMigrate): MigrationPlan | undefined {
  const found = examine(options)
  if (found === undefined) return undefined
  const { file } = options
  const { plan } = found
  try {
    if (!isCopyOf(plan.copy, found)) {
      if (plan.freeBytes < plan.neededBytes) throw noRoom(file, plan)
      copyAside(file, found)
    }
    changeLayout(file, found)
    return plan
  } catch (error) {
    throw translateJournalError(error, file)
  }
}

interface ExaminedJournal {
  readonly verified: VerifiedJournal
  readonly plan: MigrationPlan
}

function examine({
  file,
  identity,
  evenMoved = false,
}: FileToMigrate): ExaminedJournal | undefined {
  try {
    if (!isJournalFile(file)) return undefined
    const from = reading(file, readLayout)
    if (from === LAYOUT || from === 0) return undefined
    const verified = verifyJournal({ file, identity }, { allRows: true, evenMoved })
    if (verified === undefined) return undefined
    const counted = reading(file, countJournal)
    const bytes = sizeOf(file) + sizeOf(`${file}-wal`)
    const { bavail, bsize } = statfsSync(dirname(file))
    const copy = chooseCopy(file, from, { verified, counted })
    // SQLite's log of the change may hold everything once more.
    const neededBytes = 2 * bytes
    const plan = { from, to: LAYOUT, counted, copy, bytes, neededBytes, freeBytes: bavail * bsize }
    return { verified, plan }
  } catch (error) {
    throw translateJournalError(error, file)
  }
}

function reading<Value>(file: string, read: (database: DatabaseSync) => Value): Value {
  const database = openReading(file)
  try {
    return read(database)
  } finally {
    database.close()
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

type OriginalJournal = Pick<ExaminedJournal, 'verified'> & { readonly counted: JournalSize }

/**
 * Returns the copy of an interrupted migration, or the first free name: a copy of another state is
 * never replaced.
 */
function chooseCopy(file: string, layout: number, original: OriginalJournal): string {
  const name = `${file}.layout-${layout}`
  for (let number = 1; ; number++) {
    const copy = number === 1 ? name : `${name}.${number}`
    if (!existsSync(copy) || isSame(copy, original)) return copy
  }
}

function isCopyOf(copy: string, { verified, plan: { counted } }: ExaminedJournal): boolean {
  return existsSync(copy) && isSame(copy, { verified, counted })
}

function isSame(file: string, { verified, counted }: OriginalJournal): boolean {
  try {
    return reading(
      file,
      (database) => findDifference(database, { verified, counted }, file) === undefined,
    )
  } catch {
    return false
  }
}

function findDifference(
  database: DatabaseSync,
  { verified, counted }: OriginalJournal,
  file: string,
): string | undefined {
  const meta = readMeta(database, file)
  if (meta.firstLink !== verified.meta.firstLink) return 'it is another journal'
  const { last } = verified.prefix
  return findCopyFlaw({ database, meta }, { last, counted })?.found
}

/**
 * The copy has another name until it is proved and durable. The mark is copied too, so that both
 * can be put back.
 */
function copyAside(file: string, { verified, plan }: ExaminedJournal): void {
  const { copy, counted } = plan
  const part = `${copy}.part`
  removeDatabase(part)
  closeSync(openSync(part, 'wx', 0o600))
  reading(file, (database) => database.prepare('VACUUM INTO ?').run(part))
  const difference = reading(part, (database) =>
    findDifference(database, { verified, counted }, part),
  )
  if (difference !== undefined)
    throw journalCorrupt(part, { sequence: undefined, found: difference })
  syncFile(part)
  if (existsSync(markFileOf(file))) {
    copyFileSync(markFileOf(file), markFileOf(copy))
    syncFile(markFileOf(copy))
  }
  renameSync(part, copy)
  syncDirectory(dirname(file))
}

function changeLayout(file: string, { verified, plan }: ExaminedJournal): void {
  const database = openWriting(file)
  try {
    const steps = stepsFrom(plan.from)
    database.exec('BEGIN IMMEDIATE')
    for (const step of steps) database.exec(step.file)
    for (const step of steps) step.rows?.(database, verified.meta)
    database.exec(`PRAGMA user_version = ${LAYOUT}`)
    const difference = findDifference(database, { verified, counted: plan.counted }, file)
    if (difference !== undefined)
      throw journalCorrupt(file, { sequence: undefined, found: difference })
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

function noRoom(file: string, { neededBytes, freeBytes }: MigrationPlan): Failure {
  return new Failure({
    code: 'JOURNAL_MIGRATE_NO_ROOM',
    sentence:
      'the disk has no room to migrate the journal, which is copied first: nothing has changed',
    facts: { file, neededBytes, freeBytes },
    hint: 'free as much space as neededBytes says, then start again',
  })
}
