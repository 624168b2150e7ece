import { chmodSync, closeSync, existsSync, openSync, renameSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../lib/failure.ts'
import { rollBack } from '../../lib/roll-back.ts'
import { putBlock, takeBlock } from '../packed-records.ts'
import { readServerTable } from './server-tables.ts'
import { isDamage } from '../journal-failures.ts'
import {
  hasNoTables,
  type JournalMeta,
  LAYOUT,
  makeTables,
  openWriting,
  readLayout,
  readMeta,
  removeDatabase,
} from '../journal-layout.ts'
import { readVerifiedPrefix, type VerifiedPrefix } from '../verified-prefix.ts'
import { applyChanges, putRows, type TableChanges } from './table-changes.ts'
import { type PostgresConnection, type PostgresPlace, serverName } from './connection.ts'
import { corruptOnServer, tailLostOnServer } from './postgres-failures.ts'
import { JOURNAL_TABLES, quoteName } from './server-schema.ts'

/** Bounds what is read at once. The changes of a checkpoint are a megabyte or two. */
const FEED_PAGE = 50

export interface ReplicaOptions {
  readonly connection: Pick<PostgresConnection, 'query' | 'within'>
  readonly place: PostgresPlace
  readonly meta: JournalMeta
  readonly file: string
}

/**
 * A copy of the server's journal in a SQLite file. It may be removed: a replica that differs from
 * the server is fetched anew.
 */
export class Replica {
  readonly #options: ReplicaOptions
  #database: DatabaseSync
  #feedPlace: number

  private constructor(options: ReplicaOptions, database: DatabaseSync, feedPlace: number) {
    this.#options = options
    this.#database = database
    this.#feedPlace = feedPlace
  }

  static async open(options: ReplicaOptions): Promise<Replica> {
    const kept = await openKept(options)
    if (kept) {
      const replica = new Replica(options, kept.database, kept.feedPlace)
      await replica.catchUp()
      return replica
    }
    const replica = new Replica(options, ...(await fetchAnew(options)))
    await replica.catchUp()
    return replica
  }

  get database(): DatabaseSync {
    return this.#database
  }

  get feedPlace(): number {
    return this.#feedPlace
  }

  assertWithin(head: number): void {
    assertNotAhead(this.#options.place, head, this.#feedPlace)
  }

  /** @returns the number of the writer's transactions that were new */
  async catchUp(): Promise<number> {
    const { connection, place } = this.#options
    let caughtUp = 0
    for (;;) {
      const rows = await connection.query(
        `SELECT place, changes FROM ${quoteName(place.schema)}.feed WHERE place > $1 ORDER BY place LIMIT ${FEED_PAGE}`,
        [this.#feedPlace],
      )
      for (const { place: next, changes } of rows) {
        if (Number(next) !== this.#feedPlace + 1) return this.#startOver(caughtUp)
        this.#apply(changes as TableChanges)
        caughtUp += 1
      }
      if (rows.length < FEED_PAGE) return caughtUp
    }
  }

  /**
   * Compares last record, checkpoint and sums with the server's. A replica that differs is fetched
   * anew once.
   * @throws Failure JOURNAL_CORRUPT if the server's data is not what was written
   */
  async verify(): Promise<VerifiedPrefix> {
    const first = await this.#tryVerify()
    if (first.prefix) return first.prefix
    await this.#startOver(0)
    const { prefix, found } = await this.#tryVerify()
    if (prefix) return prefix
    throw corruptOnServer(serverName(this.#options.place), { sequence: undefined, found })
  }

  close(): void {
    this.#database.close()
  }

  /** Called after the writer's own changes are committed on the server and here. */
  noteWritten(feedPlace: number): void {
    this.#feedPlace = feedPlace
  }

  #apply(changes: TableChanges): void {
    const next = this.#feedPlace + 1
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      applyChanges(this.#database, changes)
      putFeedPlace(this.#database, next)
      this.#database.exec('COMMIT')
    } catch (error) {
      rollBack(this.#database)
      throw error
    }
    this.#feedPlace = next
  }

  async #startOver(caughtUp: number): Promise<number> {
    this.#database.close()
    ;[this.#database, this.#feedPlace] = await fetchAnew(this.#options)
    return caughtUp + 1
  }

  async #tryVerify(): Promise<{ readonly prefix?: VerifiedPrefix; readonly found: string }> {
    try {
      const prefix = readVerifiedPrefix(this.#database, this.#options.meta)
      const flaw = prefix.flaw ?? prefix.daysFlaw
      if (flaw)
        return {
          found:
            flaw.sequence === undefined ? flaw.found : `record ${flaw.sequence}: ${flaw.found}`,
        }
      const isServers = await this.#isServers(prefix)
      return isServers
        ? { prefix, found: '' }
        : { found: 'it does not end with the record that was written last' }
    } catch (error) {
      if (!isDamage(error)) throw error
      return { found: messageOf(error) }
    }
  }

  async #isServers({ last, checkpoint }: VerifiedPrefix): Promise<boolean> {
    const { connection, place, meta } = this.#options
    const schema = quoteName(place.schema)
    const [row = {}] = await connection.query(
      `SELECT last_link, (SELECT seal FROM ${schema}.checkpoints) AS seal FROM ${schema}.lease`,
    )
    const seal =
      checkpoint && this.#database.prepare('SELECT seal FROM checkpoints').get()?.['seal']
    return last.link === (row['last_link'] || meta.firstLink) && (seal ?? null) === row['seal']
  }
}

export function putFeedPlace(database: DatabaseSync, place: number): void {
  database.prepare("REPLACE INTO meta (name, value) VALUES ('feed', ?)").run(String(place))
}

/**
 * Undefined if an earlier run's replica cannot be continued.
 * @throws Failure JOURNAL_TAIL_LOST
 */
async function openKept({
  connection,
  place,
  meta,
  file,
}: ReplicaOptions): Promise<
  { readonly database: DatabaseSync; readonly feedPlace: number } | undefined
> {
  if (!existsSync(file)) return undefined
  let database: DatabaseSync | undefined
  try {
    database = openReplica(file)
    const feedPlace = readFeedPlace(database, meta, file)
    const [row = {}] = await connection.query(
      `SELECT feed_place, (SELECT min(place) FROM ${quoteName(place.schema)}.feed) AS oldest
        FROM ${quoteName(place.schema)}.lease`,
    )
    const head = Number(row['feed_place'])
    assertNotAhead(place, head, feedPlace)
    const isInReach =
      feedPlace === head || (row['oldest'] !== null && feedPlace + 1 >= Number(row['oldest']))
    const isPresent = readLayout(database) === LAYOUT
    if (feedPlace >= 0 && isInReach && isPresent) return { database, feedPlace }
  } catch (error) {
    database?.close()
    // An error of the server, or a lock, says nothing about the file.
    if (!isDamage(error)) throw error
    return undefined
  }
  database.close()
  return undefined
}

/**
 * Everything in a replica was durable on the server, so a server that has less was restored from an
 * older copy.
 * @throws Failure JOURNAL_TAIL_LOST
 */
function assertNotAhead(place: PostgresPlace, head: number, feedPlace: number): void {
  if (feedPlace > head) throw tailLostOnServer(serverName(place), head, feedPlace)
}

/** -1 if it is no replica of this journal. */
function readFeedPlace(database: DatabaseSync, meta: JournalMeta, file: string): number {
  if (hasNoTables(database)) return -1
  const { firstLink } = readMeta(database, file)
  const place = database.prepare("SELECT value FROM meta WHERE name = 'feed'").get()?.['value']
  return firstLink === meta.firstLink && place !== undefined ? Number(place) : -1
}

/** Reads the server in one transaction, into a file that then replaces the old one. */
async function fetchAnew({
  connection,
  place,
  meta,
  file,
}: ReplicaOptions): Promise<[DatabaseSync, number]> {
  const made = `${file}.new`
  removeDatabase(made)
  const database = openReplica(made)
  let feedPlace = 0
  try {
    makeTables(database, meta)
    await connection.within('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async () => {
      const [row] = await connection.query(
        `SELECT feed_place FROM ${quoteName(place.schema)}.lease`,
      )
      feedPlace = Number(row?.['feed_place'])
      await fetchTables({ connection, schema: place.schema, database })
      putFeedPlace(database, feedPlace)
    })
  } finally {
    database.close()
  }
  removeDatabase(file)
  renameSync(made, file)
  return [openReplica(file), feedPlace]
}

export interface FetchTablesOptions {
  readonly connection: Pick<PostgresConnection, 'query'>
  readonly schema: string
  readonly database: DatabaseSync
  /** Absent: no record is packed. */
  readonly packUpTo?: number
  readonly onRows?: (table: string, rows: number) => void
}

export async function fetchTables(options: FetchTablesOptions): Promise<void> {
  const { connection, schema, database, packUpTo = 0, onRows } = options
  for (const table of JOURNAL_TABLES) {
    for await (const rows of readServerTable(connection, schema, table)) {
      database.exec('BEGIN IMMEDIATE')
      putRows(database, table, rows)
      if (table.name === 'records') packRecords(database, packUpTo)
      database.exec('COMMIT')
      onRows?.(table.name, rows.length)
    }
  }
}

function packRecords(database: DatabaseSync, upTo: number): void {
  for (let block = takeBlock(database, upTo); block; block = takeBlock(database, upTo))
    putBlock(database, block)
}

/** Only the owner may read the file, also one that an earlier version created readable by all. */
export function openReplica(file: string): DatabaseSync {
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const database = openWriting(file)
  database.exec('PRAGMA synchronous = NORMAL')
  return database
}
