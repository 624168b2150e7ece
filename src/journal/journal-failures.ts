import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { Failure, messageOf } from '../lib/failure.ts'

export interface Flaw {
  readonly sequence: number | undefined
  readonly found: string
}

export const REPLICA_FILE = 'journal-replica.sqlite'

export const FETCH_ANEW = `remove ${REPLICA_FILE}: it is a copy of what is on the server, and the next start fetches it anew`

const REPAIR =
  'run `intentd repair`: it starts from what is readable, with everything else unknown and halted'

export const MOVED_TO_FILE =
  'the journal continues in that file, on the machine that `to` names: run it there without journal.url, or move it back from there with `intentd journal copy --to postgres`'

export function journalCorrupt(file: string, { sequence, found }: Flaw, cause?: unknown): Failure {
  return new Failure({
    code: 'JOURNAL_CORRUPT',
    sentence: 'the journal is not what was written to it',
    facts: { file, ...(sequence === undefined ? {} : { sequence }), found },
    hint: file.endsWith(REPLICA_FILE)
      ? FETCH_ANEW
      : `restore the state directory as it was when the daemon ended, or ${REPAIR}`,
    cause,
  })
}

export function tailLost(file: string, found: number, durable: number): Failure {
  return new Failure({
    code: 'JOURNAL_TAIL_LOST',
    sentence: 'the journal ends before the last record that was safe on the disk',
    facts: { file, found, durable },
    hint: `restore the state directory as it was when the daemon ended, or ${REPAIR}`,
  })
}

export function markDamaged(file: string, found: string): Failure {
  return new Failure({
    code: 'JOURNAL_MARK_DAMAGED',
    sentence: 'nothing says how far the journal was safe on the disk, so its end is unknown',
    facts: { file, found },
    hint: REPAIR,
  })
}

export function repairUnfinished(file: string, aside: string): Failure {
  return new Failure({
    code: 'JOURNAL_REPAIR_UNFINISHED',
    sentence: 'a repair of the journal did not finish',
    facts: { file, aside },
    hint: 'run `intentd repair` again: it starts from what was put aside',
  })
}

export function movedAway(file: string, to: string): Failure {
  return new Failure({
    code: 'JOURNAL_MOVED',
    sentence: 'the journal in this file was moved to PostgreSQL, and continues there',
    facts: { file, to },
    hint: 'set journal.url to that server again; if the journal has left it too, the start says for which machine. `intentd journal copy --to file` moves it back here; repeat an interrupted copy with --to postgres',
  })
}

export function movedOn(file: string, server: string, to: string): Failure {
  return new Failure({
    code: 'JOURNAL_MOVED',
    sentence: 'the journal in this file was moved to PostgreSQL, and from there to another file',
    facts: { file, server, to },
    hint: MOVED_TO_FILE,
  })
}

export function copyUnfinished(file: string): Failure {
  return new Failure({
    code: 'JOURNAL_COPY_UNFINISHED',
    sentence: 'the journal in this file is an unfinished copy',
    facts: { file },
    hint: 'run `intentd journal copy --to file` again, with journal.url still set',
  })
}

export function journalForeign(file: string, found: string, expected: string): Failure {
  return new Failure({
    code: 'JOURNAL_FOREIGN',
    sentence: 'the journal belongs to another account or market',
    facts: { file, found, expected },
    hint: 'give this configuration its own state.directory, or remove the old one',
  })
}

export function layoutUnknown(file: string, layout: number, known: number): Failure {
  const isLater = layout > known
  return new Failure({
    code: 'JOURNAL_LAYOUT_UNKNOWN',
    sentence: `the journal was written by ${isLater ? 'a later' : 'an earlier'} version`,
    facts: { file, layout, known },
    hint: isLater
      ? 'start that version again, or give this one another state.directory'
      : 'stop with that version and onStop: cancel, then remove the state directory',
  })
}

export function layoutOlder(file: string, layout: number, advice: string): Failure {
  return new Failure({
    code: 'JOURNAL_LAYOUT_OLD',
    sentence: 'the journal has the layout of an earlier version, and must be migrated first',
    facts: { file, layout },
    hint: advice,
  })
}

/**
 * @param file if another process has locked it, the failure names the processes that have it open
 */
export function writeFailed(error: unknown, file?: string): Failure {
  const isLocked = LOCKED_CODES.has(sqliteCodeOf(error) ?? -1)
  const others = isLocked && file !== undefined ? listUsers(file) : []
  return new Failure({
    code: 'JOURNAL_POISONED',
    sentence: 'the journal could not be written, so nothing more may be sent',
    facts: { found: messageOf(error), ...(others.length > 0 && { lockedBy: others.join('; ') }) },
    hint: isDamage(error) ? REPAIR : isLocked ? UNLOCK : MAKE_ROOM,
    cause: error,
  })
}

const UNLOCK =
  'another process has locked the journal for seconds: end it, or let it copy a stopped journal, then start again: recovery finds out what is at the exchange'
const MAKE_ROOM =
  'free disk space or fix the rights, then start again: recovery finds out what is at the exchange'

function listUsers(file: string): readonly string[] {
  const path = attempt(() => realpathSync(file)) ?? file
  const pids = attempt(() => readdirSync('/proc')) ?? []
  return pids
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .flatMap((pid) => {
      const descriptors = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []
      const isUser = descriptors.some(
        (fd) => attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === path,
      )
      if (!isUser) return []
      const command = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? ''
      return [`pid ${pid} (${command.replaceAll('\0', ' ').trim().slice(0, 80)})`]
    })
}

function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** An order whose key cannot be read may have been placed, so nothing more may be sent. */
export function keysDamaged(error: unknown, hint = REPAIR): Failure {
  return new Failure({
    code: 'JOURNAL_POISONED',
    sentence: 'the used keys in the journal are not what was written, so nothing more may be sent',
    facts: { found: messageOf(error) },
    hint,
    cause: error,
  })
}

/** SQLITE_BUSY, _LOCKED: https://sqlite.org/rescode.html */
const LOCKED_CODES: ReadonlySet<number> = new Set([5, 6])

/** Refused at this time or for this user: SQLITE_PERM, _READONLY, _IOERR, _FULL, _CANTOPEN. */
const UNABLE: ReadonlySet<number> = new Set([...LOCKED_CODES, 3, 8, 10, 13, 14])

export function isDamage(error: unknown): boolean {
  // Our own error, or a number that a flipped bit made too large for JavaScript.
  if (error instanceof RangeError) return true
  const code = sqliteCodeOf(error)
  return code !== undefined && !UNABLE.has(code)
}

export function translateJournalError(error: unknown, file: string): Failure {
  if (error instanceof Failure) return error
  const found = messageOf(error)
  if (isDamage(error)) return journalCorrupt(file, { sequence: undefined, found }, error)
  const code = sqliteCodeOf(error)
  return code !== undefined && LOCKED_CODES.has(code)
    ? journalLocked(file, error)
    : unreadable(file, found, error)
}

function journalLocked(file: string, cause: unknown): Failure {
  return new Failure({
    code: 'JOURNAL_HELD',
    sentence: 'another process is writing to the journal',
    facts: { file },
    hint: 'stop the other one, or give this configuration its own state.directory',
    cause,
  })
}

function unreadable(file: string, found: string, cause: unknown): Failure {
  return new Failure({
    code: 'JOURNAL_UNREADABLE',
    sentence: 'the journal cannot be opened',
    facts: { file, found },
    hint: 'check the rights and the free space of the state directory',
    cause,
  })
}

function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return Number(error.errcode) & 0xff
}

export function isWriteFailure(error: unknown): boolean {
  return error instanceof Failure && error.code === 'JOURNAL_POISONED'
}
