import type { Mark } from '../durable-mark.ts'
import type { PostgresConnection, PostgresPlace } from '../postgres/connection.ts'
import type { LeaseTaker } from '../postgres/lease.ts'
import { assertServerVersion, readServerMeta, type ServerMeta } from '../postgres/server-tables.ts'
import { quoteName } from '../postgres/server-schema.ts'

export interface ServerState {
  readonly meta: ServerMeta
  readonly last: Mark
  readonly feedPlace: number
  /** `HOST FILE` where the journal continues; undefined while it is here. */
  readonly movedTo: string | undefined
  readonly isBlank: boolean
  readonly holder: string
  readonly freeInMs: number
}

/**
 * Excludes other copies of this schema, and processes that would take the lease, until the
 * transaction ends. Waits for an earlier copy that was cut off at its end.
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
  const last = { sequence: Number(row['last_sequence']), link: link === '' ? meta.firstLink : link }
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
