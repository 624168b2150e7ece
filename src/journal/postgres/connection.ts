import type { Socket } from 'node:net'
import pg from 'pg'
import type { Secret } from '../../lib/secret.ts'

export interface PostgresPlace {
  /** Without a password. */
  readonly url: string
  readonly password: Secret | undefined
  /** This account's alone. */
  readonly schema: string
}

/** For display. */
export function serverName({ url, schema }: PostgresPlace): string {
  return `${url} ${schema}`
}

/** With TLS; a slower server counts as away. */
const CONNECT_MS_MAX = 5000

/** A server may confirm commits before they are durable. Stricter settings than `on` stay. */
const COMMIT_DURABLY = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`

/** Kills must not wait for another server. */
export const COMMIT_LOCALLY = 'SET synchronous_commit = local'

type ServerRow = Readonly<Record<string, unknown>>

/**
 * Opened when needed and after a loss; a query during the loss has failed, and is not repeated.
 * Send one query at a time.
 */
export class PostgresConnection {
  readonly #place: PostgresPlace
  readonly #answerMsMax: number
  readonly #settings: string
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  #within: pg.Client | undefined

  /**
   * @param answerMsMax of an answer; 0: no limit
   * @param settings SQL that each session begins with
   */
  constructor(place: PostgresPlace, answerMsMax = 0, settings = '') {
    this.#place = place
    this.#answerMsMax = answerMsMax
    this.#settings = `${COMMIT_DURABLY}; ${settings}`
  }

  /** Sends no query: a failure here has told the server nothing. */
  async connect(): Promise<void> {
    await this.#connect()
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<readonly ServerRow[]> {
    const client = await this.#connect()
    try {
      return (await client.query<ServerRow>(sql, [...values])).rows
    } catch (error) {
      // After the server's own error the connection is intact; after any other its state is
      // unknown.
      if (sqlStateOf(error) === undefined) this.#cut(client)
      throw error
    }
  }

  /** A lost connection ends the transaction: no query is sent outside of it. */
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

  /** Simultaneous queries use one connection, in turn. */
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
    // After a loss the next query reconnects.
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

  /** A dead server takes no farewell. */
  #cut(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
    connection.stream.destroy()
  }
}

/** With the password: never to be shown. */
export function withPassword({ url, password }: Pick<PostgresPlace, 'url' | 'password'>): string {
  if (password === undefined) return url
  const whole = new URL(url)
  whole.password = encodeURIComponent(password.reveal())
  return whole.href
}

/** Undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
