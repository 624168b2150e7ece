import type { FleetAlert, FleetState } from '../journal.ts'
import { messageOf } from '../../lib/failure.ts'
import {
  COMMIT_LOCALLY,
  PostgresConnection,
  type PostgresPlace,
  sqlStateOf,
} from '../postgres/connection.ts'
import {
  type KillRequestRow,
  type KillRequestResult,
  requestKills,
} from '../postgres/kill-request.ts'
import { FLEET_SCHEMA } from '../postgres/fleet-member.ts'
import { isRefusal, translatePostgresError } from '../postgres/postgres-failures.ts'
import { assertServerVersion } from '../postgres/server-tables.ts'
import {
  type FleetAccount,
  type FleetUnread,
  type FleetMemberRow,
  LISTED_FOR,
  readAccounts,
} from './fleet-accounts.ts'

const ANSWER_MS_MAX = 10_000
/**
 * One locked journal must not delay the others. PostgreSQL overestimates the cost of the queries:
 * compiling them would take ten times as long as running them. The only write, a kill order, must
 * not wait for a dead replica.
 */
const SETTINGS = `SET lock_timeout = 1000; SET jit = off; ${COMMIT_LOCALLY}`

const ALERTS_SHOWN = 10

/** A journal is a schema of any name with the first four tables. */
const FIND_JOURNALS = `
  SELECT n.nspname AS schema, bool_or(c.relname = 'kill_order') AS has_order
    FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
    WHERE c.relkind = 'r' AND c.relname IN ('lease', 'followers', 'feed', 'records', 'kill_order')
    GROUP BY n.nspname HAVING count(*) FILTER (WHERE c.relname <> 'kill_order') = 4 ORDER BY n.nspname`

export interface Fleet {
  /** Server's clock. */
  readonly now: number
  readonly accounts: readonly FleetAccount[]
  readonly unread: readonly FleetUnread[]
  readonly workers: readonly FleetMemberRow[]
  readonly alerts: readonly FleetAlertRow[]
  readonly trouble: string | undefined
}

export interface FleetAlertRow extends FleetAlert {
  readonly id: number
  /** Server's clock, at the receipt. */
  readonly at: number
  readonly holder: string
  readonly schema: string
}

/** Reads all journals of a database. The only write is a kill order. */
export class FleetReader {
  readonly #place: PostgresPlace
  readonly #connection: PostgresConnection

  constructor(place: PostgresPlace) {
    this.#place = { ...place, schema: '' }
    this.#connection = this.#createConnection()
  }

  /**
   * A kill does not call this first: it must leave at once, and needs no new features.
   * @throws Failure JOURNAL_SERVER_OLD
   */
  async assertVersion(): Promise<void> {
    try {
      await assertServerVersion(this.#connection, this.#place)
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }

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

  /** @throws Failure JOURNAL_UNREACHABLE */
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
   * Orders the kill of all accounts that are not in `noted`, before it reads anything.
   * @param noted outcomes, filled in as the server answers
   * @returns the trouble that kept some orders back; they must be repeated
   * @throws Failure JOURNAL_UNREACHABLE
   */
  async requestKills(
    order: Pick<KillRequestRow, 'reason' | 'by'>,
    noted: Map<string, KillRequestResult>,
  ): Promise<string | undefined> {
    try {
      const journals = await this.#findJournals()
      const trouble = await requestKills({
        schemas: journals.map(({ schema }) => schema).filter((schema) => !noted.has(schema)),
        order,
        connection: this.#connection,
        createConnection: () => this.#createConnection(),
        onRequested: (schema, ordered) => noted.set(schema, ordered),
      })
      return trouble === undefined
        ? undefined
        : messageOf(translatePostgresError(trouble, this.#place))
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }

  isRefusal(error: unknown): boolean {
    return isRefusal(error)
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  /**
   * Returns alerts after an id, or the last ones; the newest is last.
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

  #createConnection(): PostgresConnection {
    return new PostgresConnection(this.#place, ANSWER_MS_MAX, SETTINGS)
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
    return this.#selectIds(
      after === undefined
        ? lastAlerts(most)
        : `${ALERT_IDS} WHERE id > ${after} ORDER BY id LIMIT ${most}`,
    )
  }

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

  /** Trading does not need these rows, so trouble with them hides no account. */
  async #readShown() {
    const daemons = new Map<string, FleetMemberRow>()
    const workers: FleetMemberRow[] = []
    const { now, hasFleet } = await this.#lookForFleet()
    const none: readonly FleetAlertRow[] = []
    try {
      if (!hasFleet) return { now, daemons, workers, alerts: none, trouble: undefined }
      const rows = await this.#connection.query(
        `SELECT kind, schema, holder, state, extract(epoch FROM started_at) * 1000 AS started_at,
            greatest(0, extract(epoch FROM clock_timestamp() - seen_at) * 1000) AS seen_ago_ms
          FROM ${FLEET_SCHEMA}.members WHERE kind = 'daemon' OR seen_at > clock_timestamp() - interval '${LISTED_FOR}'
          ORDER BY id`,
      )
      for (const { kind, schema, holder, state, started_at, seen_ago_ms } of rows) {
        const member = {
          holder: String(holder),
          state: state as FleetState,
          startedAt: Math.round(Number(started_at)),
          seenAgoMs: Math.round(Number(seen_ago_ms)),
        }
        if (kind === 'daemon') daemons.set(String(schema), member)
        else workers.push(member)
      }
      // Urgent alerts are selected separately, so that alerts of other accounts do not push them
      // out.
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

function ownOf(
  { schema, holder }: Pick<FleetAccount, 'schema' | 'holder'>,
  daemons: ReadonlyMap<string, FleetMemberRow>,
): FleetMemberRow | undefined {
  const said = daemons.get(schema)
  return said?.holder === holder ? said : undefined
}
