import type { Clock } from '../../lib/clock.ts'
import { type JournalMeta, createMeta, LAYOUT } from '../journal-layout.ts'
import { assertKeys, type JournalWriter, parseWriter, WRITER } from '../journal-writer.ts'
import { journalForeign } from '../journal-failures.ts'
import { PostgresConnection, type PostgresPlace, serverName, sqlStateOf } from './connection.ts'
import { type TableRow, toServerText } from './table-changes.ts'
import { FLEET_SCHEMA } from './fleet-member.ts'
import { ensureKillTable } from './kill-request.ts'
import {
  layoutOther,
  movedAway,
  notAllowed,
  serverOld,
  translatePostgresError,
} from './postgres-failures.ts'
import { type JournalTable, quoteName, schemaSql, STILL_HELD, toLayout } from './server-schema.ts'

const PAGE_ROWS = 1000

/** Another session created the schema, or its row in the catalogue, at the same time. */
const MADE_BY_ANOTHER: ReadonlySet<string> = new Set(['42P06', '23505'])

/** The oldest tested version, as the server numbers versions. */
const VERSION_MIN = 150_000

/** @throws Failure JOURNAL_SERVER_OLD */
export async function assertServerVersion(
  connection: Pick<PostgresConnection, 'query'>,
  place: PostgresPlace,
): Promise<string> {
  const [row = {}] = await connection.query(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number`,
  )
  const version = String(row['version'])
  if (Number(row['number']) < VERSION_MIN) throw serverOld(place, version)
  return version
}

type TablesConnection = Pick<PostgresConnection, 'query' | 'within'>

export interface ServerOwner {
  readonly identity: string
  readonly own?: JournalWriter | undefined
}

/** @throws Failure STATE_OF_OTHER_KEYS */
export async function openServerTables(
  connection: TablesConnection,
  place: PostgresPlace,
  { identity, own }: ServerOwner,
): Promise<JournalMeta> {
  const found = await readServerMeta(connection, place)
  if (found) {
    await ensureKillTable(connection, place.schema)
    return assertOwner(found, place, { identity, own })
  }
  const meta = createMeta(identity)
  try {
    await connection.within('BEGIN', () => makeServerTables(connection, place.schema, meta))
    return meta
  } catch (error) {
    const made =
      MADE_BY_ANOTHER.has(sqlStateOf(error) ?? '') && (await readServerMeta(connection, place))
    if (made) return assertOwner(made, place, { identity, own })
    throw error
  }
}

export async function makeServerTables(
  connection: Pick<PostgresConnection, 'query'>,
  schema: string,
  meta: JournalMeta,
): Promise<void> {
  await connection.query(schemaSql(schema))
  await ensureKillTable(connection, schema)
  const { identity, salt, firstLink, writer } = meta
  const rows = Object.entries({
    layout: String(LAYOUT),
    identity,
    salt,
    first: firstLink,
    ...(writer && { [WRITER]: JSON.stringify(writer) }),
  })
  for (const [name, value] of rows)
    await connection.query(`INSERT INTO ${quoteName(schema)}.meta VALUES ($1, $2)`, [name, value])
}

export interface ServerMeta extends JournalMeta {
  readonly layout: number
}

/**
 * Undefined if there is no journal.
 * @throws Failure JOURNAL_LAYOUT_UNKNOWN; JOURNAL_LAYOUT_OLD unless `evenOlder`
 */
export async function readServerMeta(
  connection: Pick<PostgresConnection, 'query'>,
  place: PostgresPlace,
  { evenOlder = false } = {},
): Promise<ServerMeta | undefined> {
  const table = `${quoteName(place.schema)}.meta`
  const [there] = await connection.query('SELECT to_regclass($1) IS NOT NULL AS found', [table])
  if (there?.['found'] !== true) return undefined
  const rows = await connection.query(`SELECT name, value FROM ${table}`)
  const values = new Map(rows.map(({ name, value }) => [String(name), String(value)]))
  const read = (name: string): string => values.get(name) ?? ''
  const layout = toLayout(read('layout'))
  if (layout !== LAYOUT && !(evenOlder && layout < LAYOUT)) throw layoutOther(place, read('layout'))
  const writer = parseWriter(values.get(WRITER))
  return {
    identity: read('identity'),
    salt: read('salt'),
    firstLink: read('first'),
    layout,
    writer,
  }
}

function assertOwner(
  meta: ServerMeta,
  place: PostgresPlace,
  { identity, own }: ServerOwner,
): ServerMeta {
  const where = serverName(place)
  if (meta.identity !== identity) throw journalForeign(where, meta.identity, identity)
  if (own) assertKeys(where, meta.writer, own)
  return meta
}

/** Writes nothing unless the lease is held with this token. */
export async function noteServerWriter(
  connection: Pick<PostgresConnection, 'query'>,
  schema: string,
  { token, writer }: { readonly token: number; readonly writer: JournalWriter },
): Promise<void> {
  const of = quoteName(schema)
  await connection.query(
    `INSERT INTO ${of}.meta SELECT $2, $3 FROM ${of}.lease WHERE ${STILL_HELD}
      ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`,
    [token, WRITER, JSON.stringify(writer)],
  )
}

export async function insertServerRows(
  connection: Pick<PostgresConnection, 'query'>,
  schema: string,
  { name, columns }: JournalTable,
  rows: readonly TableRow[],
): Promise<void> {
  const table = `${quoteName(schema)}.${name}`
  const list = columns.map((column) => quoteName(column.name)).join(', ')
  await connection.query(
    `INSERT INTO ${table} (${list}) SELECT ${list} FROM json_populate_recordset(NULL::${table}, $1)`,
    [toServerText(rows)],
  )
}

/** Needs a transaction. */
export async function* readServerTable(
  connection: Pick<PostgresConnection, 'query'>,
  schema: string,
  { name, columns, key }: JournalTable,
): AsyncGenerator<readonly TableRow[]> {
  const list = columns.map((column) => quoteName(column.name)).join(', ')
  await connection.query(
    `DECLARE page NO SCROLL CURSOR FOR SELECT ${list} FROM ${quoteName(schema)}.${name}
      ORDER BY ${key.map(quoteName).join(', ')}`,
  )
  for (;;) {
    const rows = await connection.query(`FETCH ${PAGE_ROWS} FROM page`)
    if (rows.length === 0) break
    yield rows.map((row) =>
      Object.fromEntries(
        columns.map((column) => {
          const value = row[column.name]
          if (value === null) return [column.name, null]
          return [column.name, column.type === 'bigint' ? Number(value) : (value as string)]
        }),
      ),
    )
  }
  await connection.query('CLOSE page')
}

export interface ServerDurability {
  /** A commit waits until the disk of another server has it. */
  readonly isReplicated: boolean
  readonly isSynchronised: boolean
}

export async function readDurability(
  connection: Pick<PostgresConnection, 'query'>,
): Promise<ServerDurability> {
  const [row = {}] = await connection.query(
    `SELECT current_setting('synchronous_standby_names') <> '' AS replicated, current_setting('fsync') = 'on' AS synchronised`,
  )
  return { isReplicated: row['replicated'] === true, isSynchronised: row['synchronised'] === true }
}

export interface ProbedServer extends ServerDurability {
  readonly version: string
  readonly journal: 'none' | 'empty' | 'written'
  readonly maySayInFleet: boolean
  readonly commitMs: number
  readonly writer: JournalWriter | undefined
}

const ANSWER_MS_MAX = 10_000

/** @throws Failure as a start would */
export async function probeServer(
  place: PostgresPlace,
  owner: ServerOwner,
  clock: Pick<Clock, 'monotonic'>,
): Promise<ProbedServer> {
  const connection = new PostgresConnection(place, ANSWER_MS_MAX)
  try {
    const version = await assertServerVersion(connection, place)
    const meta = await readServerMeta(connection, place)
    if (meta) assertOwner(meta, place, owner)
    const journal = await readWhatIsThere(connection, place, meta !== undefined)
    const durability = await readDurability(connection)
    return {
      version,
      journal,
      ...durability,
      maySayInFleet: await maySayInFleet(connection),
      commitMs: await measureCommit(connection, clock),
      writer: meta?.writer,
    }
  } catch (error) {
    throw translatePostgresError(error, place)
  } finally {
    await connection.close()
  }
}

async function readWhatIsThere(
  connection: Pick<PostgresConnection, 'query'>,
  place: PostgresPlace,
  hasJournal: boolean,
): Promise<ProbedServer['journal']> {
  if (!hasJournal) {
    const [may] = await connection.query(
      `SELECT has_database_privilege(current_database(), 'CREATE') AS may`,
    )
    if (may?.['may'] !== true)
      throw notAllowed(place, 'this user may not make a schema in the database')
    return 'none'
  }
  const lease = `${quoteName(place.schema)}.lease`
  const [may] = await connection.query(`SELECT has_table_privilege($1, 'SELECT, UPDATE') AS may`, [
    lease,
  ])
  if (may?.['may'] !== true)
    throw notAllowed(place, 'this user may not write the journal that is there')
  const [row] = await connection.query(
    `SELECT moved_to, last_sequence = 0 AS is_empty FROM ${lease}`,
  )
  if (typeof row?.['moved_to'] === 'string') throw movedAway(place, row['moved_to'])
  return row?.['is_empty'] === true ? 'empty' : 'written'
}

/** Without a right to the schema the names of its tables would be an error. */
async function maySayInFleet(connection: Pick<PostgresConnection, 'query'>): Promise<boolean> {
  const [row] = await connection.query(
    `SELECT CASE
      WHEN to_regnamespace($1) IS NULL THEN true
      WHEN NOT has_schema_privilege($1, 'USAGE') THEN false
      ELSE (SELECT bool_and(has_table_privilege(c.oid, privilege))
        FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r')
    END AS may`,
    [FLEET_SCHEMA],
  )
  return row?.['may'] !== false
}

/** Measures a message to the server's log, whose commit waits like that of a record. */
async function measureCommit(
  connection: Pick<PostgresConnection, 'query'>,
  clock: Pick<Clock, 'monotonic'>,
): Promise<number> {
  const asked = clock.monotonic()
  await connection.query(`SELECT pg_logical_emit_message(true, 'intentd', '')`)
  return clock.monotonic() - asked
}
