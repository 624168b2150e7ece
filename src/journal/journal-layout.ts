import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { randomHex } from '../lib/entropy.ts'
import { layoutUnknown } from './journal-failures.ts'
import { type JournalWriter, putWriter, readWriter } from './journal-writer.ts'
import { nextLink } from './durable-mark.ts'

/** Number of the tables below. A file with a later number is refused. */
export const LAYOUT = 8

/**
 * The first release's layout. Files since then are readable, and are migrated before they are
 * written.
 */
const LAYOUT_FIRST = 5

const LAYOUT_PACKED = 6

export const LAYOUT_CURVES = 8

export const BLOCKS_TABLE = `
  CREATE TABLE record_blocks (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    at_min INTEGER NOT NULL,
    at_max INTEGER NOT NULL,
    first_link TEXT NOT NULL,
    last_link TEXT NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
`

export const FILLS_TABLE = `
  CREATE TABLE fills (
    tradeId TEXT NOT NULL, at INTEGER NOT NULL, orderId TEXT NOT NULL, clientOid TEXT NOT NULL,
    strategyId TEXT NOT NULL, owner TEXT NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL,
    tradeSide TEXT NOT NULL, price TEXT NOT NULL, size TEXT NOT NULL, profit TEXT NOT NULL, fee TEXT NOT NULL,
    coin TEXT NOT NULL, scope TEXT NOT NULL, source TEXT NOT NULL, fillKind TEXT NOT NULL,
    otherFees TEXT NOT NULL, reason TEXT NOT NULL, tag TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (tradeId, orderId)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX fills_by_time ON fills (at);
`

export const CURVES_TABLE = `
  CREATE TABLE curves (
    series TEXT NOT NULL, step INTEGER NOT NULL, at INTEGER NOT NULL, value TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (series, step, at)
  ) STRICT, WITHOUT ROWID;
`

const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE records (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    booked TEXT,
    link TEXT NOT NULL
  ) STRICT;
  ${BLOCKS_TABLE}
  CREATE TABLE book (
    position INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    digest TEXT NOT NULL
  ) STRICT;
  CREATE TABLE used_keys (
    bucket INTEGER NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (bucket, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE key_buckets (bucket INTEGER PRIMARY KEY, keys INTEGER NOT NULL, sum TEXT NOT NULL) STRICT;
  ${FILLS_TABLE}
  CREATE TABLE funding (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, symbol TEXT NOT NULL, side TEXT NOT NULL, amount TEXT NOT NULL,
    coin TEXT NOT NULL, digest TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX funding_by_time ON funding (at);
  CREATE TABLE booked_days (
    kind TEXT NOT NULL, day INTEGER NOT NULL, rows INTEGER NOT NULL, sum TEXT NOT NULL,
    PRIMARY KEY (kind, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE checkpoints (
    sequence INTEGER PRIMARY KEY,
    link TEXT NOT NULL,
    rows INTEGER NOT NULL,
    sum TEXT NOT NULL,
    keys INTEGER NOT NULL,
    key_sum TEXT NOT NULL,
    booked TEXT NOT NULL,
    seal TEXT NOT NULL
  ) STRICT;
  ${CURVES_TABLE}
`

/** A reader may have to recover the log of a killed writer, which takes milliseconds. */
const WAIT_MS_MAX = 1000
/**
 * A copy of the file may hold the lock for seconds, and a failed write ends the run. Nothing else
 * runs during the wait, so it is less than half of the usual `supervision.hungAfterMs`.
 */
const WRITER_WAIT_MS_MAX = 4000

/** SQLite's log has this size between checkpoints, and is cut to it at a restart. */
const LOG_BYTES_KEPT = 4_194_304

export interface JournalMeta {
  readonly identity: string
  readonly salt: string
  /** Follows from identity and salt. */
  readonly firstLink: string
  readonly writer?: JournalWriter | undefined
}

export function openWriting(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: WRITER_WAIT_MS_MAX })
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = ${LOG_BYTES_KEPT};
  `)
  return database
}

export function removeDatabase(file: string): void {
  for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true })
}

/** Changes nothing, not even at the close, so damage stays as it was found. */
export function openReading(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: WAIT_MS_MAX })
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;')
  return database
}

export function hasNoTables(database: DatabaseSync): boolean {
  const tables = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'])
  return tables === 0 && readLayout(database) === 0
}

export function createMeta(identity: string, salt = randomHex(16)): JournalMeta {
  return { identity, salt, firstLink: nextLink('', identity, salt) }
}

export function makeTables(database: DatabaseSync, meta: JournalMeta): JournalMeta {
  database.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${LAYOUT}`)
  const insert = database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)')
  const { identity, salt, firstLink } = meta
  for (const [name, value] of Object.entries({ identity, salt, first: firstLink }))
    insert.run(name, value)
  if (meta.writer) putWriter(database, meta.writer)
  database.exec('COMMIT')
  return meta
}

export function readMeta(database: DatabaseSync, file: string): JournalMeta {
  const layout = readLayout(database)
  if (layout < LAYOUT_FIRST || layout > LAYOUT) throw layoutUnknown(file, layout, LAYOUT)
  const read = (name: string) =>
    String(database.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'])
  const meta = {
    identity: read('identity'),
    salt: read('salt'),
    firstLink: read('first'),
    writer: readWriter(database),
  }
  if (nextLink('', meta.identity, meta.salt) === meta.firstLink) return meta
  throw new RangeError('its identity and salt do not fit together')
}

export function hasBlocks(database: DatabaseSync): boolean {
  return readLayout(database) >= LAYOUT_PACKED
}

export function hasCurves(database: DatabaseSync): boolean {
  return readLayout(database) >= LAYOUT_CURVES
}

/** 0 without tables. */
export function readLayout(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
