import { messageOf } from '../../lib/failure.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import type { KillAnswer, KillRequest } from '../journal.ts'
import { type PostgresConnection, sqlStateOf } from './connection.ts'
import { cleanText, quoteName } from './server-schema.ts'

type KillConnection = Pick<PostgresConnection, 'query'>

/**
 * A kill that was ordered on another machine is a row of the account's schema. Its numbers only
 * grow.
 *
 *     asked ──its writer hears of it──► seen ──proved──► clean ──released there──► released
 *       ▲                                                  │                           │
 *       └───────────────ordered once more──────────────────┴───────────────────────────┘
 *
 * Repeating the command while a kill is `asked` or `seen` changes nothing.
 */
const KILL_TABLE_SQL = `
  CREATE TABLE IF NOT EXISTS kill_order (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    number bigint NOT NULL, state text NOT NULL, reason text NOT NULL, ordered_by text NOT NULL,
    ordered_at timestamptz NOT NULL, answered_by text NOT NULL, answered_at timestamptz, token bigint
  );`

const TABLE_MISSING = '42P01'

/** Another session created the table, or its type, at the same time. */
const MADE_BY_ANOTHER: ReadonlySet<unknown> = new Set(['42P07', '23505'])

export async function ensureKillTable(connection: KillConnection, schema: string): Promise<void> {
  if (await hasKillTable(connection, schema)) return
  const table = KILL_TABLE_SQL.replace('kill_order', `${quoteName(schema)}.kill_order`)
  try {
    await connection.query(table)
  } catch (error) {
    if (!MADE_BY_ANOTHER.has((error as { readonly code?: unknown }).code)) throw error
  }
}

async function hasKillTable(connection: KillConnection, schema: string): Promise<boolean> {
  const [row] = await connection.query('SELECT to_regclass($1) IS NOT NULL AS found', [
    `${quoteName(schema)}.kill_order`,
  ])
  return row?.['found'] === true
}

export function killRequestColumn(schema: string): string {
  return `(SELECT to_jsonb(k) || jsonb_build_object('ordered_ms', extract(epoch FROM k.ordered_at) * 1000,
    'answered_ms', extract(epoch FROM k.answered_at) * 1000) FROM ${quoteName(schema)}.kill_order k) AS kill`
}

export interface KillRequestRow extends KillRequest {
  /** Server's clock. */
  readonly orderedAt: number
  readonly answeredBy: string
  readonly answeredAt: number | undefined
}

export function parseKillRequest(value: unknown): KillRequestRow | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const row = value as Readonly<Record<string, unknown>>
  return {
    number: Number(row['number']),
    state: String(row['state']) as KillRequest['state'],
    reason: cleanLine(String(row['reason'])),
    by: cleanLine(String(row['ordered_by'])),
    orderedAt: Math.round(Number(row['ordered_ms'])),
    answeredBy: String(row['answered_by']),
    answeredAt: row['answered_ms'] === null ? undefined : Math.round(Number(row['answered_ms'])),
  }
}

export async function readKillRequest(
  connection: KillConnection,
  schema: string,
): Promise<KillRequestRow | undefined> {
  if (!(await hasKillTable(connection, schema))) return undefined
  const [row] = await connection.query(`SELECT ${killRequestColumn(schema)}`)
  return parseKillRequest(row?.['kill'])
}

/**
 * Orders a kill durably, with one query. A kill under way stays as it is, as does a proved one
 * until the lease is taken anew. A journal that has moved accepts no order.
 * @returns the order's number
 */
export async function requestKill(
  connection: KillConnection,
  schema: string,
  { reason, by }: Pick<KillRequest, 'reason' | 'by'>,
): Promise<number | 'moved'> {
  const of = quoteName(schema)
  const sql = `WITH ordered AS (
      INSERT INTO ${of}.kill_order AS k (one, number, state, reason, ordered_by, ordered_at, answered_by)
        SELECT true, 1, 'asked', $1, $2, clock_timestamp(), '' FROM ${of}.lease WHERE moved_to IS NULL
        ON CONFLICT (one) DO UPDATE SET number = k.number + 1, state = 'asked', reason = EXCLUDED.reason,
          ordered_by = EXCLUDED.ordered_by, ordered_at = EXCLUDED.ordered_at, answered_by = '', answered_at = NULL
        WHERE k.state = 'released'
          OR k.state = 'clean' AND NOT EXISTS (SELECT FROM ${of}.lease l WHERE l.token = k.token AND l.released)
        RETURNING number)
    SELECT moved_to IS NOT NULL AS moved,
      coalesce((SELECT number FROM ordered), (SELECT number FROM ${of}.kill_order)) AS number FROM ${of}.lease`
  const ask = async (): Promise<number | 'moved' | undefined> => {
    const [row] = await connection.query(sql, [cleanText(reason), cleanText(by)])
    if (row?.['moved'] === true) return 'moved'
    return row === undefined || row['number'] === null ? undefined : Number(row['number'])
  }
  let number: number | 'moved' | undefined
  try {
    number = await ask()
  } catch (error) {
    if (sqlStateOf(error) !== TABLE_MISSING) throw error
    await ensureKillTable(connection, schema)
  }
  // If another session was the first to order, only a second query sees its row.
  number ??= await ask()
  if (number === undefined) throw new Error('its lease has no row')
  return number
}

/** A server that is near its own maximum still grants so few. */
const CONNECTIONS_MAX = 8

/** SQLSTATEs of a missing object or right. A repeated order would be refused again. */
const REFUSED = '42'

export type KillRequestResult =
  | { readonly kind: 'ordered'; readonly number: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'moved' }

export interface RequestKillsOptions {
  readonly schemas: readonly string[]
  readonly order: Pick<KillRequestRow, 'reason' | 'by'>
  readonly connection: Pick<PostgresConnection, 'connect' | 'query'>
  readonly createConnection: () => Pick<PostgresConnection, 'connect' | 'query' | 'close'>
  /** Called as soon as the server has accepted an order: from then on the order counts. */
  readonly onRequested: (schema: string, ordered: KillRequestResult) => void
}

/**
 * Uses several connections, so that trouble with one account delays no other.
 * @returns the trouble that kept some orders back; they must be repeated
 */
export async function requestKills(options: RequestKillsOptions): Promise<unknown> {
  const { schemas, connection, createConnection } = options
  const waiting = [...schemas]
  const troubles: unknown[] = []
  const noteTrouble = (error: unknown): void => void troubles.push(error)
  const first = requestWaiting(connection, waiting, { ...options, noteTrouble })
  const others = Array.from({ length: Math.min(CONNECTIONS_MAX, schemas.length) - 1 }, async () => {
    const other = createConnection()
    try {
      await requestWaiting(other, waiting, { ...options, noteTrouble })
    } finally {
      await other.close()
    }
  })
  const ends = await Promise.allSettled([first, ...others])
  const lost = ends.find((end) => end.status === 'rejected')
  return troubles[0] ?? (waiting.length > 0 ? lost?.reason : undefined)
}

interface WaitingKills extends Pick<RequestKillsOptions, 'order' | 'onRequested'> {
  readonly noteTrouble: (error: unknown) => void
}

/** @throws without a connection; no account has then been taken from `waiting` */
async function requestWaiting(
  connection: Pick<PostgresConnection, 'connect' | 'query'>,
  waiting: string[],
  { order, onRequested, noteTrouble }: WaitingKills,
): Promise<void> {
  while (waiting.length > 0) {
    await connection.connect()
    const schema = waiting.shift()
    if (schema === undefined) return
    try {
      const number = await requestKill(connection, schema, order)
      onRequested(schema, number === 'moved' ? { kind: 'moved' } : { kind: 'ordered', number })
    } catch (error) {
      if (sqlStateOf(error)?.startsWith(REFUSED))
        onRequested(schema, { kind: 'refused', reason: messageOf(error) })
      else noteTrouble(error)
    }
  }
}

/** Writes nothing unless the lease is held with this token. */
export async function answerKill(
  connection: KillConnection,
  schema: string,
  {
    token,
    number,
    state,
  }: { readonly token: number; readonly number: number; readonly state: KillAnswer },
): Promise<void> {
  const of = quoteName(schema)
  await connection.query(
    `UPDATE ${of}.kill_order k SET state = $3, answered_by = l.holder, answered_at = clock_timestamp(), token = $1
      FROM ${of}.lease l WHERE l.token = $1 AND NOT l.released AND k.number = $2 AND k.state <> 'released'`,
    [token, number, state],
  )
}
