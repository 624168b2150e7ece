import type { KillAnswer, OrderedKill } from '../journal.ts'
import { type Connection, sqlStateOf } from './connection.ts'
import { cleanText, quoteName } from './tables.ts'

type Asking = Pick<Connection, 'query'>

/**
 * One row, of the account alone, beside its lease and as safe as that: a kill that was ordered from elsewhere, and how
 * far it is. Numbers only grow.
 *
 *     asked ──its writer hears of it──► seen ──proved──► clean ──released there──► released
 *       ▲                                                  │                           │
 *       └───────────────ordered once more──────────────────┴───────────────────────────┘
 *
 * Ordered while it is asked or seen it is the same order.
 */
const KILL_ORDER_SQL = `
  CREATE TABLE IF NOT EXISTS kill_order (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    number bigint NOT NULL, state text NOT NULL, reason text NOT NULL, ordered_by text NOT NULL,
    ordered_at timestamptz NOT NULL, answered_by text NOT NULL, answered_at timestamptz, token bigint
  );`

const TABLE_MISSING = '42P01'

/** Two that make it at once: of a table, of a row in the server's own list of types. */
const MADE_BY_ANOTHER: ReadonlySet<unknown> = new Set(['42P07', '23505'])

/** A journal that an earlier version made has none. */
export async function ensureKillOrder(connection: Asking, schema: string): Promise<void> {
  if (await hasKillOrder(connection, schema)) return
  const table = KILL_ORDER_SQL.replace('kill_order', `${quoteName(schema)}.kill_order`)
  try {
    await connection.query(table)
  } catch (error) {
    if (!MADE_BY_ANOTHER.has((error as { readonly code?: unknown }).code)) throw error
  }
}

async function hasKillOrder(connection: Asking, schema: string): Promise<boolean> {
  const [row] = await connection.query('SELECT to_regclass($1) IS NOT NULL AS found', [
    `${quoteName(schema)}.kill_order`,
  ])
  return row?.['found'] === true
}

/** One value of a query: the order as {@link parseKillOrder} reads it. */
export function killOrderColumn(schema: string): string {
  return `(SELECT to_jsonb(k) || jsonb_build_object('ordered_ms', extract(epoch FROM k.ordered_at) * 1000,
    'answered_ms', extract(epoch FROM k.answered_at) * 1000) FROM ${quoteName(schema)}.kill_order k) AS kill`
}

/** An order, and what whoever gave it wants to know. */
export interface KillOrderRow extends OrderedKill {
  /** Unix ms by the server's clock. */
  readonly orderedAt: number
  /** Who has answered, and when; empty and undefined where nobody has. */
  readonly answeredBy: string
  readonly answeredAt: number | undefined
}

/** @returns undefined where none was ever ordered */
export function parseKillOrder(value: unknown): KillOrderRow | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const row = value as Readonly<Record<string, unknown>>
  return {
    number: Number(row['number']),
    state: String(row['state']) as OrderedKill['state'],
    reason: String(row['reason']),
    by: String(row['ordered_by']),
    orderedAt: Math.round(Number(row['ordered_ms'])),
    answeredBy: String(row['answered_by']),
    answeredAt: row['answered_ms'] === null ? undefined : Math.round(Number(row['answered_ms'])),
  }
}

/** As it stands now. */
export async function readKillOrder(
  connection: Asking,
  schema: string,
): Promise<KillOrderRow | undefined> {
  if (!(await hasKillOrder(connection, schema))) return undefined
  const [row] = await connection.query(`SELECT ${killOrderColumn(schema)}`)
  return parseKillOrder(row?.['kill'])
}

/**
 * Orders a kill, durably, in one question. One that is under way is the same order, and so is one that was proved where
 * nobody has taken the lease since. A journal that was moved takes none.
 * @returns its number
 */
export async function orderKill(
  connection: Asking,
  schema: string,
  { reason, by }: Pick<OrderedKill, 'reason' | 'by'>,
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
    await ensureKillOrder(connection, schema)
  }
  // Another may have given the first order at this moment: the second look sees it.
  number ??= await ask()
  if (number === undefined) throw new Error('its lease has no row')
  return number
}

/** What has become of an order. Only who holds the lease is believed. */
export async function answerKill(
  connection: Asking,
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
