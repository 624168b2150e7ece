import { tmpdir } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Failure } from '../../lib/failure.ts'
import { COPY_ANSWER_MS_MAX } from '../copy/copy-options.ts'
import { makeProvedFile } from '../copy/make-proved-file.ts'
import { countServer, type JournalSize } from '../copy/prove-copy.ts'
import { lockServerJournal, type ServerState } from '../copy/server-state.ts'
import { type Flaw, journalForeign } from '../journal-failures.ts'
import { LAYOUT } from '../journal-layout.ts'
import { type TableChanges, readChanges, toServerText } from '../postgres/table-changes.ts'
import { PostgresConnection, type PostgresPlace, serverName } from '../postgres/connection.ts'
import { fetchTables } from '../postgres/replica.ts'
import type { LeaseTaker } from '../postgres/lease.ts'
import {
  corruptOnServer,
  leaseHeld,
  movedAway,
  translatePostgresError,
} from '../postgres/postgres-failures.ts'
import { insertServerRows } from '../postgres/server-tables.ts'
import {
  functionsSql,
  JOURNAL_TABLES,
  type JournalTable,
  quoteName,
} from '../postgres/server-schema.ts'
import { stepsFrom } from './layout-steps.ts'

const FOLLOWED_FOR = '10 seconds'

const PAGE_ROWS = 1000

export interface ServerToMigrate {
  readonly place: PostgresPlace
  readonly identity: string
  readonly taker: LeaseTaker
  readonly isDry: boolean
}

export interface ServerMigration {
  readonly from: number
  readonly to: number
  readonly counted: JournalSize
  readonly copy: string
  readonly bytes: number
}

/**
 * Brings a server's journal to the present layout in one transaction; undefined if it has it. No
 * machine gets the lease meanwhile, and earlier tokens become void.
 *
 *     earlier ──copied into a schema beside, tables changed, proved, rows changed, proved again──► committed: present
 *       └── any failure before: earlier, unchanged
 *
 * @throws Failure JOURNAL_LEASE_HELD, JOURNAL_FOLLOWED, JOURNAL_MOVED, JOURNAL_FOREIGN,
 * JOURNAL_CORRUPT, JOURNAL_MIGRATE_COPY_EXISTS, JOURNAL_UNREACHABLE
 */
export async function migrateServer(
  options: ServerToMigrate,
): Promise<ServerMigration | undefined> {
  const { place } = options
  const connection = new PostgresConnection(place, COPY_ANSWER_MS_MAX)
  const folder = mkdtempSync(join(tmpdir(), 'intentd-migrate-'))
  try {
    return await connection.within('BEGIN', () => migrateWithin(connection, options, folder))
  } catch (error) {
    throw translatePostgresError(error, place)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await connection.close()
  }
}

type MigrationConnection = Pick<PostgresConnection, 'query'>

async function migrateWithin(
  connection: MigrationConnection,
  options: ServerToMigrate,
  folder: string,
): Promise<ServerMigration | undefined> {
  const { place, taker, isDry } = options
  const state = await lockServerJournal(connection, place, taker, { evenOlder: true })
  if (state === undefined || state.meta.layout === LAYOUT) return undefined
  assertFree(options, state)
  await refuseFollowed(connection, place)
  const plan = await planServer(connection, place, state)
  if (isDry) return plan
  await copyTables(connection, place.schema, plan.copy)
  await changeTables(connection, place.schema, plan.from)
  const { schema } = place
  const { meta, last } = state
  const refuse = (flaw: Flaw): Failure => corruptOnServer(serverName(place), flaw)
  const fetchProved = async (name: string): Promise<DatabaseSync> => {
    const file = join(folder, name)
    const { database } = await makeProvedFile({ file, meta, refuse }, async (empty) => {
      await fetchTables({ connection, schema, database: empty })
      return { last, counted: plan.counted }
    })
    return database
  }
  const before = await fetchProved('before')
  try {
    await writeChanges(connection, schema, changeRows(before, plan.from, state))
  } finally {
    before.close()
  }
  await voidEarlier(connection, schema)
  const after = await fetchProved('after')
  after.close()
  return plan
}

function assertFree({ place, identity }: ServerToMigrate, state: ServerState): void {
  const { meta, movedTo, freeInMs, holder } = state
  if (meta.identity !== identity) throw journalForeign(serverName(place), meta.identity, identity)
  if (movedTo !== undefined) throw movedAway(place, movedTo)
  if (freeInMs > 0) throw leaseHeld(place, holder, freeInMs)
}

/** A standby of the earlier version could no longer take over. */
async function refuseFollowed(
  connection: MigrationConnection,
  place: PostgresPlace,
): Promise<void> {
  const rows = await connection.query(
    `SELECT holder FROM ${quoteName(place.schema)}.followers
      WHERE seen_at > clock_timestamp() - interval '${FOLLOWED_FOR}' ORDER BY holder`,
  )
  if (rows.length === 0) return
  throw new Failure({
    code: 'JOURNAL_FOLLOWED',
    sentence:
      'another machine stands by for this journal, with a version that does not know the new layout',
    facts: {
      where: serverName(place),
      holders: rows.map(({ holder }) => String(holder)).join('; '),
    },
    hint: 'end every standby of this account, migrate, and start them again with this version',
  })
}

async function planServer(
  connection: MigrationConnection,
  place: PostgresPlace,
  { meta }: ServerState,
): Promise<ServerMigration> {
  const copy = `${place.schema}_layout_${meta.layout}`
  const [row = {}] = await connection.query(
    `SELECT (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = to_regnamespace($1)) AS bytes, to_regnamespace($2) IS NOT NULL AS taken`,
    [quoteName(place.schema), quoteName(copy)],
  )
  if (row['taken'] === true) throw copyExists(place, copy)
  const counted = await countServer(connection, place.schema, meta.layout)
  return { from: meta.layout, to: LAYOUT, counted, copy, bytes: Number(row['bytes'] ?? 0) }
}

function copyExists(place: PostgresPlace, copy: string): Failure {
  return new Failure({
    code: 'JOURNAL_MIGRATE_COPY_EXISTS',
    sentence: 'a schema with the name of the copy exists already, and is not overwritten',
    facts: { where: serverName(place), copy },
    hint: 'rename it (`ALTER SCHEMA … RENAME TO …`), or drop it if nothing in it is needed, then migrate again',
  })
}

/** The copy lacks the feed and the followers, so that nothing takes it for a journal. */
async function copyTables(
  connection: MigrationConnection,
  schema: string,
  copy: string,
): Promise<void> {
  await connection.query(`CREATE SCHEMA ${quoteName(copy)}`)
  const rows = await connection.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [
    schema,
  ])
  const own = new Set(rows.map(({ tablename }) => String(tablename)))
  const tables = JOURNAL_TABLES.map(({ name }) => name).filter((name) => own.has(name))
  for (const table of ['meta', 'lease', ...tables])
    await connection.query(
      `CREATE TABLE ${quoteName(copy)}.${table} AS TABLE ${quoteName(schema)}.${table}`,
    )
}

async function changeTables(
  connection: MigrationConnection,
  schema: string,
  from: number,
): Promise<void> {
  await connection.query(`
    SET LOCAL search_path = ${quoteName(schema)};
    ${stepsFrom(from)
      .map(({ server }) => server)
      .join('\n')}
    DO $drop$ DECLARE one regprocedure; BEGIN
      FOR one IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
      LOOP EXECUTE 'DROP FUNCTION ' || one; END LOOP;
    END $drop$;
    ${functionsSql(schema)}
    UPDATE meta SET value = '${LAYOUT}' WHERE name = 'layout';
  `)
}

function changeRows(database: DatabaseSync, from: number, { meta }: ServerState): TableChanges {
  const session = database.createSession()
  try {
    database.exec('BEGIN IMMEDIATE')
    for (const step of stepsFrom(from)) step.rows?.(database, meta)
    database.exec('COMMIT')
    return readChanges(database, session.changeset())
  } finally {
    session.close()
  }
}

async function writeChanges(
  connection: MigrationConnection,
  schema: string,
  changes: TableChanges,
): Promise<void> {
  for (const table of JOURNAL_TABLES) {
    const { put = [], drop = [] } = changes[table.name] ?? {}
    await dropRows(connection, schema, table, [...put, ...drop])
    for (let at = 0; at < put.length; at += PAGE_ROWS)
      await insertServerRows(connection, schema, table, put.slice(at, at + PAGE_ROWS))
  }
}

async function dropRows(
  connection: MigrationConnection,
  schema: string,
  { name, key }: JournalTable,
  rows: NonNullable<TableChanges[string]['put']>,
): Promise<void> {
  const table = `${quoteName(schema)}.${name}`
  const isNamed = key.map((one) => `t.${quoteName(one)} = gone.${quoteName(one)}`).join(' AND ')
  for (let at = 0; at < rows.length; at += PAGE_ROWS)
    await connection.query(
      `DELETE FROM ${table} AS t USING json_populate_recordset(NULL::${table}, $1) AS gone WHERE ${isNamed}`,
      [toServerText(rows.slice(at, at + PAGE_ROWS))],
    )
}

/** No token of an earlier writer is valid any more, and every replica is fetched anew. */
async function voidEarlier(connection: MigrationConnection, name: string): Promise<void> {
  const schema = quoteName(name)
  await connection.query(
    `UPDATE ${schema}.lease SET token = token + 1,
      feed_place = greatest(feed_place + 1, floor(extract(epoch FROM clock_timestamp()) * 1000))`,
  )
  await connection.query(`DELETE FROM ${schema}.feed`)
}
