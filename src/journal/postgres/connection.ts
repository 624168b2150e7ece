import type { Socket } from 'node:net'
import pg from 'pg'
import type { Secret } from '../../lib/secret.ts'

export interface PostgresPlace {
  readonly url: string
  readonly password: Secret | undefined
  readonly schema: string
}

export function serverName({ url, schema }: PostgresPlace): string {
  return `${url} ${schema}`
}

/** A server that takes longer, with TLS, counts as away. */
const CONNECT_MS_MAX = 5000

/**
 * Some servers are set to confirm commits before they are durable. Stricter settings than `on`
 * stay.
 */
const COMMIT_DURABLY = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`

/** A kill must not wait for another server. */
export const COMMIT_LOCALLY = 'SET synchronous_commit = local'

type ServerRow = Readonly<Record<string, unknown>>

/**
 * A connection that opens when it is needed, and again after a loss. A query that was under way at
 * the loss fails and is not repeated. Queries are sent one at a time.
 */
export class PostgresConnection {
  readonly #place: PostgresPlace
  readonly #answerMsMax: number
  readonly #settings: string
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  #within: pg.Client | undefined

  /**
   * @param answerMsMax 0 is no limit
   * @param settings SQL with which each session begins
   */
  constructor(place: PostgresPlace, answerMsMax = 0, settings = '') {
    this.#place = place
    this.#answerMsMax = answerMsMax
    this.#settings = `${COMMIT_DURABLY}; ${settings}`
  }

  /** Sends no query, so if this fails, the server has received nothing. */
  async connect(): Promise<void> {
    await this.#connect()
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<readonly ServerRow[]> {
    const client = await this.#connect()
    try {
      return (await client.query<ServerRow>(sql, [...values])).rows
    } catch (error) {
      // After an error that the server sends, the connection is intact; after any other its state
      // is unknown.
      if (sqlStateOf(error) === undefined) this.#cut(client)
      throw error
    }
  }

  /** If the connection is lost, the transaction ends, and none of its further queries is sent. */
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

  /** Ends the socket at once: a dead server answers no request to close. */
  #cut(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
    connection.stream.destroy()
  }
}

/** The result contains the password and must never be shown. */
export function withPassword({ url, password }: Pick<PostgresPlace, 'url' | 'password'>): string {
  if (password === undefined) return url
  const whole = new URL(url)
  whole.password = encodeURIComponent(password.reveal())
  return whole.href
}

export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
