import type { Socket } from 'node:net'
import pg from 'pg'
import type { Secret } from '../../lib/secret.ts'

/** Where a journal lies on PostgreSQL. */
export interface PostgresPlace {
  /** Without a password. */
  readonly url: string
  readonly password: Secret | undefined
  /** Of this account alone. */
  readonly schema: string
}

/** For people. */
export function serverName({ url, schema }: PostgresPlace): string {
  return `${url} ${schema}`
}

/** To connect, TLS and all: a server that takes longer is as good as gone. */
const CONNECT_MS_MAX = 5000

/** A server may be set to say that a commit is done before it is. Settings that promise more than `on` stay. */
const COMMIT_DURABLY = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`

/** For what must not wait for another server: a kill, and how far it is. */
export const COMMIT_LOCALLY = 'SET synchronous_commit = local'

type Row = Readonly<Record<string, unknown>>

/**
 * One connection to the server, made when it is needed and made anew after it was lost. What was under way when it
 * was lost has failed: nothing is asked twice by itself. One question at a time is the caller's care.
 */
export class Connection {
  readonly #place: PostgresPlace
  readonly #answerMsMax: number
  /** Of each session, in one question. */
  readonly #settings: string
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  /** The one that a transaction is open on. */
  #within: pg.Client | undefined

  /**
   * @param answerMsMax An answer that takes longer has failed, ms; without one the server may take its time.
   * @param settings SQL that each session begins with.
   */
  constructor(place: PostgresPlace, answerMsMax = 0, settings = '') {
    this.#place = place
    this.#answerMsMax = answerMsMax
    this.#settings = `${COMMIT_DURABLY}; ${settings}`
  }

  /** Made now, if it is not there: else the first question does it. */
  async open(): Promise<void> {
    await this.#connect()
  }

  /** Without a question: what fails here has told the server nothing. */
  async connect(): Promise<void> {
    await this.#connect()
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = await this.#connect()
    try {
      return (await client.query<Row>(sql, [...values])).rows
    } catch (error) {
      // The server's own word leaves the connection as it was; anything else leaves it unknown.
      if (sqlStateOf(error) === undefined) this.#cut(client)
      throw error
    }
  }

  /** Within one transaction, which is over where the connection is lost: nothing is asked outside of it. */
  async within<Result>(begin: string, work: () => Promise<Result>): Promise<Result> {
    const client = await this.#connect()
    this.#within = client
    try {
      await this.query(begin)
      const result = await work()
      await this.query('COMMIT')
      return result
    } catch (error) {
      if (this.#client === client) await this.query('ROLLBACK').catch(() => undefined)
      throw error
    } finally {
      this.#within = undefined
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => undefined)
  }

  /** Two questions at once are asked over one connection, in turn. */
  async #connect(): Promise<pg.Client> {
    if (this.#within && this.#client !== this.#within) throw new Error('the connection was lost')
    if (this.#client) return this.#client
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: withPassword(this.#place),
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: this.#answerMsMax,
      application_name: 'intentd',
      keepAlive: true,
    })
    // One that is lost while nothing is asked is made anew for the next question.
    client.on('error', () => {
      if (this.#client === client) this.#client = undefined
    })
    client.on('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    await client.connect()
    this.#client = client
    await client.query(this.#settings)
    return client
  }

  /** Without a good-bye: nobody may be there to take it. */
  #cut(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
    connection.stream.destroy()
  }
}

/** The address as the driver takes it. Never to be shown. */
export function withPassword({ url, password }: Pick<PostgresPlace, 'url' | 'password'>): string {
  if (password === undefined) return url
  const whole = new URL(url)
  whole.password = encodeURIComponent(password.reveal())
  return whole.href
}

/** The server's word for what went wrong; undefined where it is not the server's. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
