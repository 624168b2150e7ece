import pg from 'pg'
import { LOCK_MEMBER } from '../../journal/postgres/fleet-member.ts'
import { systemTimers } from '../../lib/timers.ts'

/** Namespace of our locks in the database: `swep`. */
const CLASS = 0x73_77_65_70
const AGAIN_MS = 500
export const CONNECT_MS_MAX = 5000
/** A trial taken just now may have no lock yet. */
const TAKEN_SINCE = '1 second'

/** The first 32 bits of a trial's id. */
const keyOf = (column: string): string => `('x' || substr(${column}::text, 1, 8))::bit(32)`

const forEach = (act: string): string =>
  `SELECT ${act}(${CLASS}, ${keyOf('id')}::int) FROM unnest($1::text[]) AS id`
const LOCK = forEach('pg_advisory_lock_shared')
const UNLOCK = forEach('pg_advisory_unlock_shared')

/**
 * On a connection of its own, whose end releases the locks sooner than heartbeats show. Only a
 * hint: a worker that lost its connection takes them again.
 */
export class LiveLocks {
  readonly #connectionString: string
  readonly #worker: string | undefined
  readonly #held = new Set<string>()
  #client: pg.Client | undefined
  #sent: Promise<unknown> = Promise.resolve()
  #isClosed = false

  /** @param worker id among the members of the database; undefined if it computes nothing */
  constructor(connectionString: string, worker: string | undefined) {
    this.#connectionString = connectionString
    this.#worker = worker
  }

  static findUnheld(schema: string, queues: string): string {
    return `SELECT name, id, retry_count FROM ${schema}.job
      WHERE state = 'active' AND name LIKE '${queues}%' AND started_on < now() - interval '${TAKEN_SINCE}'
        AND ${keyOf('id')}::bigint NOT IN (SELECT objid::bigint FROM pg_locks
          WHERE locktype = 'advisory' AND classid = ${CLASS} AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
  }

  async open(): Promise<void> {
    if (this.#worker !== undefined) await this.#connect()
  }

  hold(id: string): void {
    this.#held.add(id)
    this.#send(LOCK, [id])
  }

  release(id: string): void {
    if (this.#held.delete(id)) this.#send(UNLOCK, [id])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => undefined)
  }

  /** Without a connection, the next one takes the locks. */
  #send(sql: string, ids: readonly string[]): void {
    const client = this.#client
    if (client === undefined) return
    this.#sent = this.#sent.then(() => client.query(sql, [ids])).catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      application_name: 'intentd sweep worker',
    })
    // Errors appear at the queries, and a lost connection as its end.
    client.on('error', () => undefined)
    const known = new Set(this.#held)
    try {
      await client.connect()
      // A counted worker has its locks.
      await client.query(LOCK, [[...known]])
      await client.query(LOCK_MEMBER, [this.#worker])
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined
      this.#again()
    })
    this.#client = client
    this.#sent = Promise.resolve()
    const fresh = [...this.#held].filter((id) => !known.has(id))
    if (fresh.length > 0) this.#send(LOCK, fresh)
  }

  #again(): void {
    if (this.#isClosed) return
    systemTimers.after(AGAIN_MS, () => {
      if (!this.#isClosed) this.#connect().catch(() => this.#again())
    })
  }
}
