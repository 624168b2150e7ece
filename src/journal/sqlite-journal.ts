import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { type JournalRecord } from '../domain/record.ts'
import { randomHex } from '../lib/entropy.ts'
import { Failure, messageOf } from '../lib/failure.ts'
import { type Journal, type JournalContents } from './journal.ts'

/** Undurable records wait for the next durable one, but never more than these. */
const WAITING_MAX = 256

/** The layout below. A file of a later layout is refused rather than guessed at. */
const LAYOUT = 1

const TABLES = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS records (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS checkpoints (sequence INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
`

/** What goes into a new journal. */
export interface SqliteJournalOptions {
  readonly file: string
  /** Names the account and place that the journal belongs to: a journal of another one is refused. */
  readonly identity: string
  /** Records older than this are dropped at a checkpoint, Unix ms: what came before is in the checkpoint. */
  readonly keepSince: () => number
}

/**
 * The journal on disk: SQLite in WAL mode with full synchronisation, one row a record. The file is held
 * exclusively for as long as it is open, so a second daemon on the same state is refused.
 *
 * @throws Failure JOURNAL_HELD, JOURNAL_FOREIGN, JOURNAL_UNREADABLE
 */
export function openSqliteJournal(options: SqliteJournalOptions): Journal {
  mkdirSync(dirname(options.file), { recursive: true, mode: 0o700 })
  try {
    const database = new DatabaseSync(options.file, { timeout: 0 })
    try {
      return new SqliteJournal(prepareDatabase(database, options), options.keepSince)
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw translate(error, options.file)
  }
}

function prepareDatabase(database: DatabaseSync, { file, identity }: SqliteJournalOptions): DatabaseSync {
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;')
  const layout = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (layout > LAYOUT) {
    throw new Failure({
      code: 'JOURNAL_LAYOUT_UNKNOWN',
      sentence: 'the journal was written by a later version',
      facts: { file, layout, known: LAYOUT },
      hint: 'start that version again, or give this one another state.directory',
    })
  }
  database.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${LAYOUT}; COMMIT;`)
  chmodSync(file, 0o600)
  const found = keepMeta(database, 'identity', identity)
  if (found !== identity) {
    throw new Failure({
      code: 'JOURNAL_FOREIGN',
      sentence: 'the journal belongs to another account or market',
      facts: { file, found, expected: identity },
      hint: 'give this configuration a state.directory of its own, or remove the old one',
    })
  }
  return database
}

/** The stored value of a name; the given one is stored when there is none. */
function keepMeta(database: DatabaseSync, name: string, value: string): string {
  database.prepare('INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)').run(name, value)
  return String(database.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'])
}

class SqliteJournal implements Journal {
  readonly salt: string
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #keepSince: () => number
  #waiting: JournalRecord[] = []
  #sequence: number
  #poisonedBy: string | undefined

  constructor(database: DatabaseSync, keepSince: () => number) {
    this.#database = database
    this.#keepSince = keepSince
    this.salt = keepMeta(database, 'salt', randomHex(16))
    this.#insert = database.prepare('INSERT INTO records (sequence, at, kind, body) VALUES (?, ?, ?, ?)')
    const last = database.prepare('SELECT max(sequence) AS last FROM records').get()?.['last']
    this.#sequence = Math.max(Number(last ?? 0), this.#checkpointSequence())
  }

  load(): JournalContents {
    const since = this.#checkpointSequence()
    const stored = this.#database.prepare('SELECT body FROM checkpoints WHERE sequence = ?').get(since)
    const rows = this.#database
      .prepare('SELECT sequence, body FROM records WHERE sequence > ? ORDER BY sequence')
      .all(since)
    const records = rows.map((row, index) => {
      if (Number(row['sequence']) !== since + index + 1) {
        throw new Failure({
          code: 'JOURNAL_GAP',
          sentence: 'a record of the journal is missing',
          facts: { expected: since + index + 1, found: Number(row['sequence']) },
          hint: 'restore the state directory from a backup; the orders of the gap are not known here',
        })
      }
      return JSON.parse(String(row['body'])) as JournalRecord
    })
    return {
      checkpoint: stored === undefined ? undefined : (JSON.parse(String(stored['body'])) as unknown),
      records,
    }
  }

  append(record: JournalRecord, durable: boolean): void {
    this.#assertSound()
    this.#waiting.push(record)
    if (durable || this.#waiting.length >= WAITING_MAX) this.flush()
  }

  flush(): void {
    if (this.#waiting.length === 0) return
    this.#write(() => {
      for (const [index, record] of this.#waiting.entries()) {
        this.#insert.run(
          this.#sequence + index + 1,
          Math.round(record.at),
          record.kind,
          JSON.stringify(record),
        )
      }
    })
    this.#sequence += this.#waiting.length
    this.#waiting = []
  }

  saveCheckpoint(book: unknown): void {
    this.flush()
    this.#write(() => {
      this.#database.prepare('DELETE FROM checkpoints').run()
      this.#database
        .prepare('INSERT INTO checkpoints (sequence, body) VALUES (?, ?)')
        .run(this.#sequence, JSON.stringify(book))
      this.#database.prepare('DELETE FROM records WHERE at < ?').run(this.#keepSince())
    })
  }

  close(): void {
    try {
      if (this.#poisonedBy === undefined) this.flush()
    } finally {
      this.#database.close()
    }
  }

  #checkpointSequence(): number {
    return Number(
      this.#database.prepare('SELECT max(sequence) AS last FROM checkpoints').get()?.['last'] ?? 0,
    )
  }

  /** One transaction. A failed write leaves the disk in doubt: it is never tried again (order protocol, 3). */
  #write(work: () => void): void {
    this.#assertSound()
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#poisonedBy = messageOf(error)
      this.#assertSound()
    }
  }

  #assertSound(): void {
    if (this.#poisonedBy === undefined) return
    throw new Failure({
      code: 'JOURNAL_POISONED',
      sentence: 'the journal could not be written, so nothing more may be sent',
      facts: { found: this.#poisonedBy },
      hint: 'make room on the disk or mend its rights, then start again: recovery finds out what is at the exchange',
    })
  }
}

function translate(error: unknown, file: string): unknown {
  if (error instanceof Failure) return error
  const message = messageOf(error)
  if (/locked|busy/i.test(message)) {
    return new Failure({
      code: 'JOURNAL_HELD',
      sentence: 'another daemon holds this state directory',
      facts: { file },
      hint: 'stop the other one, or give this configuration a state.directory of its own',
      cause: error,
    })
  }
  return new Failure({
    code: 'JOURNAL_UNREADABLE',
    sentence: 'the journal cannot be opened',
    facts: { file, found: message },
    hint: 'check the rights and the free space of the state directory',
    cause: error,
  })
}
