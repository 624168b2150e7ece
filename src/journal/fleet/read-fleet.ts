import type { FleetAlert, FleetState } from '../journal.ts'
import { messageOf } from '../../lib/failure.ts'
import {
  COMMIT_LOCALLY,
  Connection,
  type PostgresPlace,
  sqlStateOf,
} from '../postgres/connection.ts'
import type { KillOrderRow } from '../postgres/kill-order.ts'
import { FLEET_SCHEMA, IS_CONNECTED } from '../postgres/fleet-member.ts'
import { isRefusal, translatePostgresError } from '../postgres/postgres-failures.ts'
import { assertServerVersion } from '../postgres/server-tables.ts'
import {
  type FleetAccount,
  type FleetMemberRow,
  type FleetUnread,
  type FleetWorkerRow,
  LISTED_FOR,
  readAccounts,
} from './fleet-accounts.ts'
import { type KillOrdered, orderKills } from './order-kills.ts'

/** The server answers at once, or not. */
const ANSWER_MS_MAX = 10_000
/**
 * Whoever holds a lock on one journal for longer keeps no other from being read or killed. What is read of many accounts
 * at once looks dear to the server, and compiling it takes ten times as long as doing it. The one thing that is written
 * is an order to kill, which waits for no other server: one that is dead must not keep it back.
 */
const SETTINGS = `SET lock_timeout = 1000; SET jit = off; ${COMMIT_LOCALLY}`

/** Of the stream of alerts, beside the accounts. */
const ALERTS_SHOWN = 10

/** A journal is a schema with the first four tables, whatever it is called. */
const FIND_JOURNALS = `
  SELECT n.nspname AS schema, bool_or(c.relname = 'kill_order') AS has_order
    FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
    WHERE c.relkind = 'r' AND c.relname IN ('lease', 'followers', 'feed', 'records', 'kill_order')
    GROUP BY n.nspname HAVING count(*) FILTER (WHERE c.relname <> 'kill_order') = 4 ORDER BY n.nspname`

/** What a server knows of all accounts whose journals lie in a database. */
export interface Fleet {
  /** Unix ms by the server's clock. */
  readonly now: number
  readonly accounts: readonly FleetAccount[]
  readonly unread: readonly FleetUnread[]
  /** Those that compute trials of sweeps, within the last day. */
  readonly workers: readonly FleetWorkerRow[]
  /** The last ones, the newest last. */
  readonly alerts: readonly FleetAlertRow[]
  /** Why workers, alerts and what accounts show could not be read. */
  readonly trouble: string | undefined
}

export interface FleetAlertRow extends FleetAlert {
  readonly id: number
  /** Unix ms by the server's clock, when it was taken there. */
  readonly at: number
  readonly holder: string
  readonly schema: string
}

/** Looks at the journals of a database; writes nothing there but an order to kill. */
export class FleetReader {
  readonly #place: PostgresPlace
  readonly #connection: Connection

  /** @param place Of any of them: its schema does not count. */
  constructor(place: PostgresPlace) {
    this.#place = { ...place, schema: '' }
    this.#connection = this.#createConnection()
  }

  /** Not before a kill: that is to go out at once, and asks for nothing new. @throws Failure JOURNAL_SERVER_OLD */
  async assertVersion(): Promise<void> {
    try {
      await assertServerVersion(this.#connection, this.#place)
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }

  /** @throws Failure JOURNAL_UNREACHABLE */
  async read(): Promise<Fleet> {
    try {
      const { now, daemons, ...shown } = await this.#readShown()
      const { accounts, unread } = await readAccounts(this.#connection, await this.#findJournals())
      return {
        now,
        accounts: accounts.map((account) => ({ ...account, shown: ownOf(account, daemons) })),
        unread,
        ...shown,
      }
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }

  /** One account alone; undefined where it has no journal there. @throws Failure JOURNAL_UNREACHABLE */
  async readAccount(schema: string): Promise<FleetAccount | undefined> {
    try {
      const found = (await this.#findJournals()).filter((journal) => journal.schema === schema)
      const { accounts, unread } = await readAccounts(this.#connection, found)
      const [account] = accounts
      if (unread[0] !== undefined) throw new Error(unread[0].reason)
      return account && { ...account, shown: undefined }
    } catch (error) {
      throw translatePostgresError(error, { ...this.#place, schema })
    }
  }

  /**
   * Orders the kill of all accounts but those that are noted already, durably, before anything is read of them: whoever
   * has the lease obeys it, or whoever gets it, before anything trades.
   * @param noted What became of each, which is filled in as the server answers.
   * @returns what kept some of them from their order: they are to be asked for again
   * @throws Failure JOURNAL_UNREACHABLE
   */
  async orderKills(
    order: Pick<KillOrderRow, 'reason' | 'by'>,
    noted: Map<string, KillOrdered>,
  ): Promise<string | undefined> {
    try {
      const journals = await this.#findJournals()
      const trouble = await orderKills({
        schemas: journals.map(({ schema }) => schema).filter((schema) => !noted.has(schema)),
        order,
        connection: this.#connection,
        createConnection: () => this.#createConnection(),
        onOrdered: (schema, ordered) => noted.set(schema, ordered),
      })
      return trouble === undefined
        ? undefined
        : messageOf(translatePostgresError(trouble, this.#place))
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }

  /** Whether what it has thrown will be the same however often it is asked. */
  isRefusal(error: unknown): boolean {
    return isRefusal(error)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  /**
   * Alerts that came after one, the newest last, or the last ones.
   * @throws Failure JOURNAL_UNREACHABLE
   */
  async readAlerts(after: number | undefined, most: number): Promise<readonly FleetAlertRow[]> {
    try {
      if (!(await this.#lookForFleet()).hasFleet) return []
      return await this.#selectAlerts(after, most)
    } catch (error) {
      throw translatePostgresError(error, { ...this.#place, schema: FLEET_SCHEMA })
    }
  }

  #createConnection(): Connection {
    return new Connection(this.#place, ANSWER_MS_MAX, SETTINGS)
  }

  async #findJournals() {
    const rows = await this.#connection.query(FIND_JOURNALS)
    return rows.map(({ schema, has_order }) => ({
      schema: String(schema),
      hasOrder: has_order === true,
    }))
  }

  async #lookForFleet(): Promise<{ readonly now: number; readonly hasFleet: boolean }> {
    const [row] = await this.#connection.query(
      `SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now,
        -- The catalogue may be read by whoever has no right to the schema.
        EXISTS (SELECT FROM pg_tables WHERE schemaname = '${FLEET_SCHEMA}' AND tablename = 'alerts') AS found`,
    )
    return { now: Math.round(Number(row?.['now'])), hasFleet: row?.['found'] === true }
  }

  async #selectAlerts(after: number | undefined, most: number): Promise<readonly FleetAlertRow[]> {
    // Those that come after one are read in turn, the others from the end.
    return this.#selectIds(
      after === undefined
        ? lastAlerts(most)
        : `${ALERT_IDS} WHERE id > ${after} ORDER BY id LIMIT ${most}`,
    )
  }

  /** @param ids Selects those of the alerts that are read. */
  async #selectIds(ids: string): Promise<readonly FleetAlertRow[]> {
    const rows = await this.#connection.query(
      `SELECT id, extract(epoch FROM at) * 1000 AS at, holder, schema, urgency, event, title, lines
        FROM ${FLEET_SCHEMA}.alerts WHERE id IN (${ids}) ORDER BY id`,
    )
    return rows.map(({ id, at, holder, schema, urgency, event, title, lines }) => ({
      id: Number(id),
      at: Math.round(Number(at)),
      holder: String(holder),
      schema: String(schema),
      urgency: String(urgency),
      event: String(event),
      title: String(title),
      lines: Array.isArray(lines) ? lines.map(String) : [],
    }))
  }

  /** What nothing needs that trades: trouble of it hides no account. */
  async #readShown() {
    const daemons = new Map<string, FleetMemberRow>()
    const workers: FleetWorkerRow[] = []
    const { now, hasFleet } = await this.#lookForFleet()
    const none: readonly FleetAlertRow[] = []
    try {
      if (!hasFleet) return { now, daemons, workers, alerts: none, trouble: undefined }
      const rows = await this.#connection.query(
        `SELECT kind, schema, holder, state, extract(epoch FROM started_at) * 1000 AS started_at,
            greatest(0, extract(epoch FROM clock_timestamp() - seen_at) * 1000) AS seen_ago_ms,
            ${IS_CONNECTED} AS connected
          FROM ${FLEET_SCHEMA}.members WHERE kind = 'daemon' OR seen_at > clock_timestamp() - interval '${LISTED_FOR}'
          ORDER BY id`,
      )
      for (const { kind, schema, holder, state, started_at, seen_ago_ms, connected } of rows) {
        const member = {
          holder: String(holder),
          state: state as FleetState,
          startedAt: Math.round(Number(started_at)),
          seenAgoMs: Math.round(Number(seen_ago_ms)),
        }
        if (kind === 'daemon') daemons.set(String(schema), member)
        else workers.push({ ...member, isConnected: connected === true })
      }
      // What is urgent is not pushed out by what is said of other accounts.
      const alerts = await this.#selectIds(
        `(${lastAlerts(ALERTS_SHOWN)}) UNION (${lastAlerts(ALERTS_SHOWN, URGENT_LATELY)})`,
      )
      return { now, daemons, workers, alerts, trouble: undefined }
    } catch (error) {
      if (sqlStateOf(error) === undefined) throw error
      return { now, daemons, workers, alerts: none, trouble: messageOf(error) }
    }
  }
}

const ALERT_IDS = `SELECT id FROM ${FLEET_SCHEMA}.alerts`
const URGENT_LATELY = "WHERE urgency = 'urgent' AND at > clock_timestamp() - interval '1 day'"

function lastAlerts(most: number, where = ''): string {
  return `${ALERT_IDS} ${where} ORDER BY id DESC LIMIT ${most}`
}

/** What its writer said of it; the writer before another one is not believed. */
function ownOf(
  { schema, holder }: Pick<FleetAccount, 'schema' | 'holder'>,
  daemons: ReadonlyMap<string, FleetMemberRow>,
): FleetMemberRow | undefined {
  const said = daemons.get(schema)
  return said?.holder === holder ? said : undefined
}
