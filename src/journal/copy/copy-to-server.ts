import { renameSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Failure } from '../../lib/failure.ts'
import { makeProvedFile } from './make-proved-file.ts'
import { type JournalSize, countJournal } from './prove-copy.ts'
import {
  createMark,
  createMovedMark,
  type MarkReading,
  readMark,
  markFileOf,
} from '../durable-mark.ts'
import { type Flaw, journalForeign, movedAway, movedOn } from '../journal-failures.ts'
import { openReading, removeDatabase } from '../journal-layout.ts'
import { WRITER } from '../journal-writer.ts'
import { type VerifiedJournal, verifyJournal } from '../verify-journal.ts'
import { readStoredRecords } from '../verified-prefix.ts'
import { type TableRow, toTableRow } from '../postgres/table-changes.ts'
import { PostgresConnection, serverName, sqlStateOf } from '../postgres/connection.ts'
import { copyBehind, copyFailed, copyTaken, copyUnknown, nothingToCopy } from './copy-failures.ts'
import {
  COPY_ANSWER_MS_MAX,
  type CopyOptions,
  type CopyReport,
  countProgress,
} from './copy-options.ts'
import { lockServerJournal, type ServerState } from './server-state.ts'
import { fetchTables, putFeedPlace } from '../postgres/replica.ts'
import { leaseHeld, tailLostOnServer } from '../postgres/postgres-failures.ts'
import { insertServerRows, makeServerTables } from '../postgres/server-tables.ts'
import { JOURNAL_TABLES, type JournalTable, quoteName } from '../postgres/server-schema.ts'

const PAGE_ROWS = 1000
const PAGE_CHARACTERS = 1_000_000

export interface CopyToServerOptions extends CopyOptions {
  /** The next machine must know that resting orders may be outdated. */
  readonly isRetreated: boolean
}

interface CopySource extends VerifiedJournal {
  readonly database: DatabaseSync
  readonly counted: JournalSize
  readonly mark: MarkReading
}

/**
 * Moves a journal from its file to PostgreSQL, in one transaction there:
 *
 *     file ──proved──► written, read back and proved there ──file marked as moved──► committed: server
 *       └── any failure before the mark: file
 *
 * Between the mark and the commit a start opens neither (docs/scaling-internals.md, "An interrupted
 * copy").
 * @throws Failure JOURNAL_COPY_*, JOURNAL_FOREIGN, JOURNAL_LEASE_HELD, JOURNAL_MOVED, and as
 * opening the file does
 */
export async function copyToServer(options: CopyToServerOptions): Promise<CopyReport> {
  const { file, identity, place } = options
  const mark = readMark(markFileOf(file))
  if (mark.kind === 'moved' && mark.to !== serverName(place)) throw movedAway(file, mark.to)
  const found = verifyJournal({ file, identity }, { allRows: true, evenMoved: true })
  if (found === undefined) throw nothingToCopy(file)
  const database = openReading(file)
  const connection = new PostgresConnection(place, COPY_ANSWER_MS_MAX)
  try {
    return await moveToServer(connection, options, {
      ...found,
      database,
      mark,
      counted: countJournal(database),
    })
  } finally {
    removeDatabase(proofFileOf(options))
    await connection.close()
    database.close()
  }
}

function proofFileOf({ replicaFile }: CopyOptions): string {
  return `${replicaFile}.copied`
}

async function moveToServer(
  connection: PostgresConnection,
  options: CopyToServerOptions,
  source: CopySource,
): Promise<CopyReport> {
  const { file, place, taker, replicaFile } = options
  const { last } = source.prefix
  let isMarked = false
  try {
    const kind = await connection.within('BEGIN', async () => {
      const state = await lockServerJournal(connection, place, taker)
      const target = judgeServer(options, source, state)
      if (target === 'done') return 'done'
      await (target === 'make'
        ? makeServerTables(connection, place.schema, source.meta)
        : clearServer(connection, place.schema, source))
      await writeRows(connection, options, source)
      const feedPlace = await writeLease(connection, options, source)
      await proveServer(connection, options, { source, feedPlace })
      // A server that gave up meanwhile fails here, before the mark.
      await connection.query('SELECT 1')
      createMovedMark(markFileOf(file), last, serverName(place))
      isMarked = true
      return 'copied'
    })
    if (kind === 'copied') {
      removeDatabase(replicaFile)
      renameSync(proofFileOf(options), replicaFile)
    }
    return { kind, counted: kind === 'copied' ? source.counted : undefined, last }
  } catch (error) {
    if (!isMarked) throw copyFailed(error)
    // An error that the server itself sends proves that nothing is committed.
    if (sqlStateOf(error) === undefined) throw copyUnknown(error)
    createMark(markFileOf(file), last)
    throw copyFailed(error)
  }
}

function judgeServer(
  { place, file, identity, fileName }: CopyOptions,
  { meta, prefix, mark }: CopySource,
  state: ServerState | undefined,
): 'make' | 'replace' | 'done' {
  if (state === undefined) return 'make'
  const where = serverName(place)
  if (state.meta.identity !== identity) throw journalForeign(where, state.meta.identity, identity)
  if (state.isBlank && state.movedTo === undefined) {
    if (state.freeInMs > 0) throw leaseHeld(place, state.holder, state.freeInMs)
    return 'replace'
  }
  if (state.meta.firstLink !== meta.firstLink)
    throw copyTaken(where, 'a journal of another beginning')
  const isMoved = mark.kind === 'moved'
  if (state.movedTo === undefined) {
    if (!isMoved) throw copyTaken(where, 'this journal, as it goes on there')
    if (state.last.sequence < prefix.last.sequence)
      throw tailLostOnServer(where, state.last.sequence, prefix.last.sequence)
    return 'done'
  }
  if (isMoved && state.movedTo !== fileName) throw movedOn(file, where, state.movedTo)
  if (state.last.sequence > prefix.last.sequence) throw copyBehind(where, state.last, prefix.last)
  return 'replace'
}

/** The tables are emptied, not dropped, so that rights granted on them stay. */
async function clearServer(
  connection: Pick<PostgresConnection, 'query'>,
  name: string,
  { meta }: CopySource,
): Promise<void> {
  const schema = quoteName(name)
  for (const table of [...JOURNAL_TABLES.map((one) => one.name), 'feed', 'followers'])
    await connection.query(`DELETE FROM ${schema}.${table}`)
  for (const [key, value] of Object.entries({ salt: meta.salt, first: meta.firstLink }))
    await connection.query(`UPDATE ${schema}.meta SET value = $2 WHERE name = $1`, [key, value])
  await connection.query(`DELETE FROM ${schema}.meta WHERE name = $1`, [WRITER])
  if (meta.writer)
    await connection.query(`INSERT INTO ${schema}.meta VALUES ($1, $2)`, [
      WRITER,
      JSON.stringify(meta.writer),
    ])
}

async function writeRows(
  connection: Pick<PostgresConnection, 'query'>,
  options: CopyOptions,
  { database, counted }: CopySource,
): Promise<void> {
  const onRows = countProgress(options, 'copying', counted)
  for (const table of JOURNAL_TABLES) {
    for (const page of pagesOf(database, table)) {
      await insertServerRows(connection, options.place.schema, table, page)
      onRows(table.name, page.length)
    }
  }
}

function* pagesOf(database: DatabaseSync, table: JournalTable): Generator<readonly TableRow[]> {
  let page: TableRow[] = []
  let characters = 0
  for (const row of rowsOfTable(database, table)) {
    page.push(row)
    characters += typeof row['body'] === 'string' ? row['body'].length : 0
    if (page.length < PAGE_ROWS && characters < PAGE_CHARACTERS) continue
    yield page
    page = []
    characters = 0
  }
  if (page.length > 0) yield page
}

function* rowsOfTable(
  database: DatabaseSync,
  { name, columns, key }: JournalTable,
): Generator<TableRow> {
  const list = columns.map((column) => `"${column.name}"`).join(', ')
  const order = key.map((one) => `"${one}"`).join(', ')
  const rows =
    name === 'records'
      ? readStoredRecords(database)
      : database.prepare(`SELECT ${list} FROM ${name} ORDER BY ${order}`).iterate()
  for (const row of rows) yield toTableRow(row)
}

/**
 * A feed place beyond all earlier ones makes every machine fetch its replica anew. The time in ms
 * is beyond them, because no journal has a transaction each millisecond.
 */
async function writeLease(
  connection: Pick<PostgresConnection, 'query'>,
  { place, taker, isRetreated }: CopyToServerOptions,
  { prefix }: CopySource,
): Promise<number> {
  const [row = {}] = await connection.query(
    `UPDATE ${quoteName(place.schema)}.lease SET token = token + 1, place = $1, holder = $2, taken_at = clock_timestamp(),
        expires_at = clock_timestamp(), validity = '0', released = $3, handover_at = NULL, moved_to = NULL,
        feed_place = greatest(feed_place + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)),
        last_sequence = $4, last_link = $5
      RETURNING feed_place`,
    [taker.place, taker.name, !isRetreated, prefix.last.sequence, prefix.last.link],
  )
  return Number(row['feed_place'])
}

async function proveServer(
  connection: Pick<PostgresConnection, 'query'>,
  options: CopyOptions,
  { source, feedPlace }: { readonly source: CopySource; readonly feedPlace: number },
): Promise<void> {
  const { meta, counted, prefix } = source
  const { schema } = options.place
  const refuse = ({ found }: Flaw): Failure =>
    copyFailed(new Error(`what was read back is not what was written: ${found}`))
  const { database } = await makeProvedFile(
    { file: proofFileOf(options), meta, refuse },
    async (empty) => {
      const onRows = countProgress(options, 'reading back', counted)
      await fetchTables({ connection, schema, database: empty, onRows })
      putFeedPlace(empty, feedPlace)
      return { last: prefix.last, counted }
    },
  )
  database.close()
}
