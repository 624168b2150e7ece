import { closeSync, openSync } from 'node:fs'
import { createMark, type Mark, readMark, markFileOf } from '../durable-mark.ts'
import * as failures from '../journal-failures.ts'
import { openReading, readMeta } from '../journal-layout.ts'
import { isJournalFile, verifyJournal } from '../verify-journal.ts'
import { readVerifiedPrefix } from '../verified-prefix.ts'
import { syncFile } from '../../lib/durable-file.ts'
import { type JournalSize, countJournal } from './prove-copy.ts'
import { nothingToCopy } from './copy-failures.ts'

export interface FileToBackUp {
  readonly file: string
  readonly identity: string
  readonly to: string
}

export interface JournalBackup {
  readonly counted: JournalSize
  readonly last: Mark
}

/**
 * Copies the journal as it is at one moment, and proves the copy record by record. The daemon that
 * writes the journal never waits.
 * @throws Failure JOURNAL_COPY_NOTHING, and those of opening the copy: a flaw in it is one in the
 * journal
 */
export function backUpFile({ file, identity, to }: FileToBackUp): JournalBackup {
  // The copy must hold what was durable before it began.
  const before = readMark(markFileOf(file))
  if (before.kind === 'copying') throw failures.copyUnfinished(file)
  if (before.kind === 'repairing') throw failures.repairUnfinished(file, before.aside)
  if (before.kind === 'moved') throw failures.movedAway(file, before.to)
  if (!isJournalFile(file)) throw nothingToCopy(file)
  try {
    closeSync(openSync(to, 'wx', 0o600))
    const database = openReading(file)
    try {
      database.prepare('VACUUM INTO ?').run(to)
    } finally {
      database.close()
    }
    return proveCopy({ file, identity, to }, before.kind === 'read' ? before.mark : undefined)
  } catch (error) {
    throw failures.translateJournalError(error, file)
  }
}

function proveCopy({ file, identity, to }: FileToBackUp, before: Mark | undefined): JournalBackup {
  const database = openReading(to)
  try {
    const { last } = readVerifiedPrefix(database, readMeta(database, to))
    if (before !== undefined && last.sequence < before.sequence)
      throw failures.tailLost(file, last.sequence, before.sequence)
    syncFile(to)
    createMark(markFileOf(to), last)
    verifyJournal({ file: to, identity }, { allRows: true })
    return { counted: countJournal(database), last }
  } finally {
    database.close()
  }
}
