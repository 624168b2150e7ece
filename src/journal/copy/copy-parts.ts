import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../lib/clock.ts'
import type { Failure } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { type Counted, countJournal, differenceOf } from './count-journal.ts'
import type { Mark } from '../durable-mark.ts'
import type { Flaw } from '../journal-failures.ts'
import type { JournalNature } from '../journal-layout.ts'
import { findFlawedRows } from '../sqlite-journal.ts'
import { readVerified } from '../verify-journal.ts'
import type { Connection, PostgresPlace } from '../postgres/connection.ts'
import type { LeaseTaker, LeaseTerms } from '../postgres/lease.ts'
import {
  assertServerVersion,
  readServerNature,
  type ServerNature,
} from '../postgres/server-tables.ts'
import { quoteName } from '../postgres/tables.ts'

/** A statement that takes longer has failed, ms: of a large journal one may take minutes. */
export const COPY_ANSWER_MS_MAX = 600_000

/** A journal in a file and its place on a server, of which one is to be copied to the other. */
export interface CopyOptions {
  readonly place: PostgresPlace
  /** Whoever copies holds its directory. */
  readonly file: string
  /** What of the server's journal this machine holds. */
  readonly replicaFile: string
  readonly identity: string
  /** Names the file among those of all machines. */
  readonly fileName: string
  /** This state directory, as a holder of the lease. */
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  /** The machine's own. */
  readonly clock: Clock
  readonly timers: Timers
  /** Hears now and then how many rows of how many were copied, or read back. */
  readonly onProgress: (progress: CopyProgress) => void
}

export interface CopyProgress {
  readonly doing: 'copying' | 'reading back'
  readonly rows: number
  readonly of: number
}

export interface CopyReport {
  /** `kept`: the copy that was begun is off, and the journal is where it was. `done`: it was done before. */
  readonly kind: 'copied' | 'kept' | 'done'
  readonly counted: Counted | undefined
  readonly last: Mark
}

/** A journal on the server, as it stands. */
export interface ServerState {
  readonly nature: ServerNature
  readonly last: Mark
  readonly feedPlace: number
  /** Where it goes on, where that is not here. */
  readonly movedTo: string | undefined
  /** Nothing was ever written to it. */
  readonly isBlank: boolean
  readonly holder: string
  /** Until its lease is free for this taker. */
  readonly freeInMs: number
}

/**
 * Within a transaction, until whose end nobody else copies to this schema or from it, and nobody takes the lease: where
 * an earlier copy was cut off at its end, it is waited for what becomes of it. Undefined where there is no journal.
 * @throws Failure JOURNAL_SERVER_OLD
 */
export async function lookAtServer(
  connection: Pick<Connection, 'query'>,
  place: PostgresPlace,
  taker: LeaseTaker,
  given: { readonly evenOlder?: boolean } = {},
): Promise<ServerState | undefined> {
  await assertServerVersion(connection, place)
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `intentd ${place.schema}`,
  ])
  const nature = await readServerNature(connection, place, given)
  if (nature === undefined) return undefined
  const schema = quoteName(place.schema)
  const [row = {}] = await connection.query(
    `SELECT *, CASE WHEN released OR place = $1 THEN 0
        ELSE greatest(0, extract(epoch FROM expires_at + validity - clock_timestamp()) * 1000) END AS free_in_ms,
        EXISTS (SELECT 1 FROM ${schema}.checkpoints) AS has_checkpoint
      FROM ${schema}.lease FOR UPDATE OF lease`,
    [taker.place],
  )
  const link = String(row['last_link'])
  const last = { sequence: Number(row['last_sequence']), link: link === '' ? nature.first : link }
  return {
    nature,
    last,
    feedPlace: Number(row['feed_place']),
    movedTo: typeof row['moved_to'] === 'string' ? row['moved_to'] : undefined,
    isBlank: last.sequence === 0 && row['has_checkpoint'] !== true,
    holder: String(row['holder']),
    freeInMs: Number(row['free_in_ms']),
  }
}

export interface Copy {
  readonly database: DatabaseSync
  readonly nature: JournalNature
  /** What is said where it is not what it is held against. */
  readonly refuse: (flaw: Flaw) => Failure
}

interface Expected {
  readonly last: Mark
  readonly counted: Counted
}

/**
 * Holds a copy against what it is of: as a start does, and every row that a start does not read; then its end and its
 * numbers. With the link of the last record and the seal of the checkpoint all that stands under them is the same.
 * @throws what `refuse` makes of the first flaw
 */
export function proveCopy(copy: Copy, expected: Expected): void {
  const flaw = findFlaw(copy, expected)
  if (flaw) throw copy.refuse(flaw)
}

function findFlaw({ database, nature }: Copy, { last, counted }: Expected): Flaw | undefined {
  const prefix = readVerified(database, nature)
  const flaw = prefix.flaw ?? prefix.daysFlaw ?? findFlawedRows(database, { nature, prefix })
  if (flaw) return flaw
  const { sequence, link } = prefix.last
  if (sequence !== last.sequence || link !== last.link)
    return { sequence, found: 'it ends with another record' }
  const difference = differenceOf(counted, countJournal(database))
  return difference ? { sequence: undefined, found: `not as many rows: ${difference}` } : undefined
}

export function rowsOf({ records, book, keys, fills, funding }: Counted): number {
  return records + book + keys + fills + funding
}
