import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Failure, messageOf } from './failure.ts'
import { parseBoundedJson } from './text/bounded-json.ts'
import { toShellWord } from './text/shell-word.ts'

export interface LockHolder {
  readonly pid: number
  readonly since: number
  readonly host: string
  readonly name: string
  readonly command: string
}

/** The lock ends with the process, however that ends. */
export interface ProcessLock {
  release(): void
}

export type LockAttempt =
  | { readonly kind: 'held'; readonly lock: ProcessLock }
  /** Undefined if the holder has not written its name in time. */
  | { readonly kind: 'refused'; readonly by: LockHolder | undefined }

const WRITING_MS_MAX = 2000

const LOOK_AGAIN_MS = 50
/** Nothing wakes it: a wait is a pause. */
const NOBODY = new Int32Array(new SharedArrayBuffer(4))

/** SQLITE_BUSY, without the extension in its higher bits. */
const BUSY = 5
/** SQLITE_CORRUPT, SQLITE_NOTADB */
const DAMAGES: ReadonlySet<number> = new Set([11, 26])

/**
 * An open write transaction of SQLite: the system releases it when the process dies, and others can
 * read the holder's row; a pid file could do neither. The file stays, because removing it would let
 * two in.
 * @throws Failure LOCK_DAMAGED; the error of SQLite when the file cannot be made
 */
export function takeProcessLock(file: string, holder: LockHolder): LockAttempt {
  const database = new DatabaseSync(file, { timeout: WRITING_MS_MAX })
  try {
    if (hold(database, holder)) return { kind: 'held', lock: { release: () => database.close() } }
    const by = awaitHolder(database)
    database.close()
    return { kind: 'refused', by }
  } catch (error) {
    database.close()
    throw isDamage(error) ? damaged(file, error) : error
  }
}

/**
 * It does not wait: undefined if another process is at it.
 * @throws what the work throws; Failure LOCK_DAMAGED; the error of SQLite when the file cannot be
 * made
 */
export function runAlone<Result>(
  file: string,
  work: () => Result,
): { readonly result: Result } | undefined {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE')
    return { result: work() }
  } catch (error) {
    if (isBusy(error)) return undefined
    throw isDamage(error) ? damaged(file, error) : error
  } finally {
    database.close()
  }
}

export function readLockHolder(file: string): LockHolder | undefined {
  if (!existsSync(file)) return undefined
  try {
    const database = new DatabaseSync(file, { timeout: 0 })
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK')
      return undefined
    } catch (error) {
      return isBusy(error) ? readHolder(database) : undefined
    } finally {
      database.close()
    }
  } catch {
    return undefined
  }
}

function awaitHolder(database: DatabaseSync): LockHolder | undefined {
  for (let waitedMs = 0; waitedMs < WRITING_MS_MAX; waitedMs += LOOK_AGAIN_MS) {
    const holder = readHolder(database)
    if (holder !== undefined) return holder
    Atomics.wait(NOBODY, 0, 0, LOOK_AGAIN_MS)
  }
  return readHolder(database)
}

function hold(database: DatabaseSync, holder: LockHolder): boolean {
  try {
    // A holder keeps the lock for long, so only its name is waited for.
    database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE')
    database.exec(`
      PRAGMA busy_timeout = ${WRITING_MS_MAX};
      CREATE TABLE IF NOT EXISTS holder (one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL) STRICT;
    `)
    database.prepare('INSERT OR REPLACE INTO holder VALUES (1, ?)').run(JSON.stringify(holder))
    database.exec('COMMIT; PRAGMA busy_timeout = 0; BEGIN IMMEDIATE')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

function readHolder(database: DatabaseSync): LockHolder | undefined {
  try {
    const body = database.prepare('SELECT body FROM holder').get()?.['body']
    return body === undefined ? undefined : (parseBoundedJson(String(body)) as LockHolder)
  } catch {
    return undefined
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error) === BUSY
}

function isDamage(error: unknown): boolean {
  return DAMAGES.has(codeOf(error) ?? 0)
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined
}

/** A process that locked the file before it was damaged still holds it, so it is not replaced. */
function damaged(file: string, error: unknown): Failure {
  return new Failure({
    code: 'LOCK_DAMAGED',
    sentence: 'the lock file is damaged, so nothing can tell whether another process holds it',
    facts: { file, found: messageOf(error) },
    hint: `end every process that has it open (\`fuser ${toShellWord(file)}\` shows them, and none is safe), then delete the file: it holds nothing else, and the next start makes a new one`,
    cause: error,
  })
}
