import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../lib/clock.ts'
import type { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import {
  COUNTED,
  type ExpectedCopy,
  type JournalSize,
  proveCopy,
  rowsOf,
  toJournalSize,
} from './prove-copy.ts'
import type { Mark } from '../durable-mark.ts'
import type { Flaw } from '../journal-failures.ts'
import { type JournalMeta, LAYOUT_CURVES, makeTables, removeDatabase } from '../journal-layout.ts'
import type { PostgresConnection, PostgresPlace } from '../postgres/connection.ts'
import { openReplica } from '../postgres/fetch-tables.ts'
import type { LeaseTaker, LeaseTerms } from '../postgres/lease.ts'
import { assertServerVersion, readServerMeta, type ServerMeta } from '../postgres/server-tables.ts'
import { quoteName } from '../postgres/tables.ts'

/** A statement on a large journal may take minutes. */
export const COPY_ANSWER_MS_MAX = 600_000

/** One of the two is to be copied to the other. */
export interface CopyOptions {
  readonly place: PostgresPlace
  /** The caller holds its directory's lock. */
  readonly file: string
  readonly replicaFile: string
  readonly identity: string
  /** Identifies the file among all machines. */
  readonly fileName: string
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  readonly clock: Clock
  readonly timers: Timers
  readonly onProgress: (progress: CopyProgress) => void
}

export interface CopyProgress {
  readonly doing: 'copying' | 'reading back'
  readonly rows: number
  readonly of: number
}

export interface CopyReport {
  /** `kept`: an unfinished copy was cancelled; `done`: it was finished before. */
  readonly kind: 'copied' | 'kept' | 'done'
  readonly counted: JournalSize | undefined
  readonly last: Mark
}

export interface ServerState {
  readonly meta: ServerMeta
  readonly last: Mark
  readonly feedPlace: number
  /** Where it continues, if not here. */
  readonly movedTo: string | undefined
  readonly isBlank: boolean
  readonly holder: string
  /** Until this taker may have the lease. */
  readonly freeInMs: number
}

/**
 * In a transaction that excludes other copies of this schema and takers of the lease, and waits for
 * an earlier copy that was cut off at its end. Undefined if there is no journal.
 * @throws Failure JOURNAL_SERVER_OLD
 */
export async function lockServerJournal(
  connection: Pick<PostgresConnection, 'query'>,
  place: PostgresPlace,
  taker: LeaseTaker,
  given: { readonly evenOlder?: boolean } = {},
): Promise<ServerState | undefined> {
  await assertServerVersion(connection, place)
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `intentd ${place.schema}`,
  ])
  const meta = await readServerMeta(connection, place, given)
  if (meta === undefined) return undefined
  const schema = quoteName(place.schema)
  const [row = {}] = await connection.query(
    `SELECT *, CASE WHEN released OR place = $1 THEN 0
        ELSE greatest(0, extract(epoch FROM expires_at + validity - clock_timestamp()) * 1000) END AS free_in_ms,
        EXISTS (SELECT 1 FROM ${schema}.checkpoints) AS has_checkpoint
      FROM ${schema}.lease FOR UPDATE OF lease`,
    [taker.place],
  )
  const link = String(row['last_link'])
  const last = { sequence: Number(row['last_sequence']), link: link === '' ? meta.first : link }
  return {
    meta,
    last,
    feedPlace: Number(row['feed_place']),
    movedTo: typeof row['moved_to'] === 'string' ? row['moved_to'] : undefined,
    isBlank: last.sequence === 0 && row['has_checkpoint'] !== true,
    holder: String(row['holder']),
    freeInMs: Number(row['free_in_ms']),
  }
}

/** Reads what `fetchTables` will read, in the same transaction. */
export async function countServer(
  connection: Pick<PostgresConnection, 'query'>,
  schema: string,
  layout: number,
): Promise<JournalSize> {
  const isThere = ([name]: [string, string]): boolean =>
    name !== 'curves' || layout >= LAYOUT_CURVES
  const counts = Object.entries(COUNTED)
    .filter(isThere)
    .map(([name, table]) => `(SELECT count(*) FROM ${quoteName(schema)}.${table}) AS ${name}`)
  const [row = {}] = await connection.query(`SELECT ${counts.join(', ')}`)
  return toJournalSize((name) => row[name])
}

/** A file of this machine that shall hold what a server has. */
export interface FileToMake {
  readonly file: string
  readonly meta: JournalMeta
  readonly refuse: (flaw: Flaw) => Failure
}

/**
 * Makes it anew and proves it; the caller closes the database.
 * @param read fetches the tables, and returns what they must be
 * @throws the failure that `refuse` builds of the first flaw
 */
export async function makeProvedFile(
  { file, meta, refuse }: FileToMake,
  read: (database: DatabaseSync) => Promise<ExpectedCopy>,
): Promise<ExpectedCopy & { readonly database: DatabaseSync }> {
  removeDatabase(file)
  const database = openReplica(file)
  try {
    makeTables(database, meta)
    const expected = await read(database)
    proveCopy({ database, meta }, expected, refuse)
    return { ...expected, database }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Counts the rows of a copy as they come. */
export function countProgress(
  { onProgress }: Pick<CopyOptions, 'onProgress'>,
  doing: CopyProgress['doing'],
  counted: JournalSize,
): (table: string, rows: number) => void {
  const of = rowsOf(counted)
  let rows = 0
  return (_table, more) => {
    rows += more
    onProgress({ doing, rows, of })
  }
}
