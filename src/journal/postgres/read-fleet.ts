import { type FleetAlert, type FleetState } from '../journal.ts'
import { messageOf } from '../../lib/failure.ts'
import { Connection, type PostgresPlace, sqlStateOf } from './connection.ts'
import { type KillOrderRow, orderKill, readKillOrder } from './kill-order.ts'
import { FLEET_SCHEMA } from './fleet-member.ts'
import { translatePostgresError } from './postgres-failures.ts'
import { quoteName } from './tables.ts'

/** The server answers at once, or not. */
const ANSWER_MS_MAX = 10_000
/** A standby that was not seen for longer is not listed any more. */
const LISTED_FOR = '1 day'
/** It looks four times a second: one that was not seen for so long follows no more. */
const SEEN_WITHIN_MS = 5000

/** Of the stream of alerts, beside the accounts. */
const ALERTS_SHOWN = 10

/** A journal is a schema with these tables, whatever it is called. */
const FIND_JOURNALS = `
  SELECT n.nspname AS schema FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
    WHERE c.relkind = 'r' AND c.relname IN ('lease', 'followers', 'feed', 'records')
    GROUP BY n.nspname HAVING count(*) = 4 ORDER BY n.nspname`

/**
 * `writes`: its lease lasts · `vanished`: it ran out and was not given back · `ended`: given back · `new`: nobody ever
 * wrote it · `moved`: it lies elsewhere now.
 */
export type WriterState = 'writes' | 'vanished' | 'ended' | 'new' | 'moved'

/** Somebody who follows a journal, or did within the last day. */
export interface FleetStandby {
  readonly holder: string
  /** Transactions. */
  readonly behind: number
  /** By the server's clock, ms. */
  readonly seenAgoMs: number
  readonly isFollowing: boolean
}

/** An account by its journal. */
export interface FleetAccount {
  readonly schema: string
  readonly state: WriterState
  /** Who writes it, or wrote it last. */
  readonly holder: string
  /** Unix ms by the server's clock: since when it writes, or wrote. */
  readonly takenAt: number
  /** Until the lease ends unless it is renewed, ms; below zero since when it is over. */
  readonly leaseLeftMs: number
  /** Until a standby may take over, unless the lease is renewed, ms. */
  readonly freeInMs: number
  readonly isHandoverAsked: boolean
  readonly lastSequence: number
  readonly standbys: readonly FleetStandby[]
  /** What its daemon said of it last; undefined where none has. */
  readonly shown: FleetMemberRow | undefined
  /** Ordered last for all accounts; undefined where none ever was. */
  readonly kill: KillOrderRow | undefined
}

/** A journal that cannot be read: another version's, or one that this user has no right to. */
export interface FleetUnread {
  readonly schema: string
  readonly reason: string
}

/** What a server knows of all accounts whose journals lie in a database. */
export interface Fleet {
  /** Unix ms by the server's clock. */
  readonly now: number
  readonly accounts: readonly FleetAccount[]
  readonly unread: readonly FleetUnread[]
  /** Those that compute trials of sweeps, within the last day. */
  readonly workers: readonly FleetMemberRow[]
  /** The last ones, the newest last. */
  readonly alerts: readonly FleetAlertRow[]
  /** Why workers, alerts and what accounts show could not be read. */
  readonly trouble: string | undefined
}

/** What a member says of itself. */
export interface FleetMemberRow {
  readonly holder: string
  readonly state: FleetState
  /** Unix ms by the server's clock. */
  readonly startedAt: number
  readonly seenAgoMs: number
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
    this.#place = place
    this.#connection = new Connection(place, ANSWER_MS_MAX)
  }

  /** @throws Failure JOURNAL_UNREACHABLE */
  async read(): Promise<Fleet> {
    const accounts: FleetAccount[] = []
    const unread: FleetUnread[] = []
    try {
      const shown = await this.#readShown()
      const journals = await this.#connection.query(FIND_JOURNALS)
      for (const { schema: name } of journals) {
        const schema = String(name)
        const reason = await this.#read(schema, accounts, shown.daemons.get(schema))
        if (reason !== undefined) unread.push({ schema, reason })
      }
      const [row] = await this.#connection.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
      const { workers, alerts, trouble } = shown
      return { now: Math.round(Number(row?.['now'])), accounts, unread, workers, alerts, trouble }
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }

  /**
   * Orders a kill of one account, durably: whoever has the lease obeys it, or whoever gets it, before anything trades.
   * @returns the number of the order
   * @throws Failure JOURNAL_UNREACHABLE
   */
  async orderKill(schema: string, order: Pick<KillOrderRow, 'reason' | 'by'>): Promise<number> {
    try {
      return await orderKill(this.#connection, schema, order)
    } catch (error) {
      throw translatePostgresError(error, { ...this.#place, schema })
    }
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
      if (!(await this.#hasFleet())) return []
      return await this.#selectAlerts(after, most)
    } catch (error) {
      throw translatePostgresError(error, { ...this.#place, schema: FLEET_SCHEMA })
    }
  }

  async #hasFleet(): Promise<boolean> {
    const [row] = await this.#connection.query(
      `SELECT to_regclass('${FLEET_SCHEMA}.alerts') IS NOT NULL AS found`,
    )
    return row?.['found'] === true
  }

  async #selectAlerts(after: number | undefined, most: number): Promise<readonly FleetAlertRow[]> {
    // Those that come after one are read in turn, the others from the end.
    const [where, order] = after === undefined ? ['', 'DESC'] : [`WHERE id > ${after}`, 'ASC']
    const rows = await this.#connection.query(
      `SELECT * FROM (SELECT id, extract(epoch FROM at) * 1000 AS at, holder, schema, urgency, event, title, lines
        FROM ${FLEET_SCHEMA}.alerts ${where} ORDER BY id ${order} LIMIT ${most}) AS found ORDER BY id`,
    )
    return rows.map(({ id, at, holder, schema, urgency, event, title, lines }) => ({
      ...{ id: Number(id), at: Math.round(Number(at)), holder: String(holder), schema: String(schema) },
      ...{ urgency: String(urgency), event: String(event), title: String(title) },
      lines: Array.isArray(lines) ? lines.map(String) : [],
    }))
  }

  /** What nothing needs that trades: trouble of it hides no account. */
  async #readShown() {
    const daemons = new Map<string, FleetMemberRow>()
    const workers: FleetMemberRow[] = []
    try {
      if (!(await this.#hasFleet())) return { daemons, workers, alerts: [], trouble: undefined }
      const rows = await this.#connection.query(
        `SELECT kind, schema, holder, state, extract(epoch FROM started_at) * 1000 AS started_at,
            greatest(0, extract(epoch FROM clock_timestamp() - seen_at) * 1000) AS seen_ago_ms
          FROM ${FLEET_SCHEMA}.members WHERE kind = 'daemon' OR seen_at > clock_timestamp() - interval '${LISTED_FOR}'
          ORDER BY id`,
      )
      for (const { kind, schema, holder, state, started_at, seen_ago_ms } of rows) {
        const member = {
          ...{ holder: String(holder), state: state as FleetState },
          ...{ startedAt: Math.round(Number(started_at)), seenAgoMs: Math.round(Number(seen_ago_ms)) },
        }
        if (kind === 'daemon') daemons.set(String(schema), member)
        else workers.push(member)
      }
      return {
        daemons,
        workers,
        alerts: await this.#selectAlerts(undefined, ALERTS_SHOWN),
        trouble: undefined,
      }
    } catch (error) {
      if (sqlStateOf(error) === undefined) throw error
      return { daemons, workers, alerts: [], trouble: messageOf(error) }
    }
  }

  /** @returns why it could not */
  async #read(
    schema: string,
    accounts: FleetAccount[],
    shown: FleetMemberRow | undefined,
  ): Promise<string | undefined> {
    try {
      const account = await readAccount(this.#connection, schema)
      if (account) accounts.push({ ...account, shown })
      return account ? undefined : 'its lease has no row'
    } catch (error) {
      // The server's word of this journal alone; without an answer the others have none either.
      if (sqlStateOf(error) === undefined) throw error
      return messageOf(error)
    }
  }
}

async function readAccount(
  connection: Pick<Connection, 'query'>,
  schema: string,
): Promise<Omit<FleetAccount, 'shown'> | undefined> {
  const of = quoteName(schema)
  const [lease] = await connection.query(
    `SELECT token, holder, released, handover_at IS NOT NULL AND NOT released AS wanted, moved_to, last_sequence,
        extract(epoch FROM taken_at) * 1000 AS taken_at,
        extract(epoch FROM expires_at - statement_timestamp()) * 1000 AS left_ms,
        extract(epoch FROM expires_at + validity - statement_timestamp()) * 1000 AS free_in_ms
      FROM ${of}.lease`,
  )
  if (lease === undefined) return undefined
  const followers = await connection.query(
    `SELECT f.holder, greatest(0, l.feed_place - f.feed_place) AS behind,
        greatest(0, extract(epoch FROM clock_timestamp() - f.seen_at) * 1000) AS seen_ago_ms
      FROM ${of}.followers f, ${of}.lease l
      WHERE f.seen_at > clock_timestamp() - interval '${LISTED_FOR}' ORDER BY f.seen_at DESC, f.place`,
  )
  return {
    schema,
    state: stateOf(lease),
    holder: String(lease['holder']),
    takenAt: Math.round(Number(lease['taken_at'])),
    leaseLeftMs: Math.round(Number(lease['left_ms'])),
    freeInMs: lease['released'] === true ? 0 : Math.max(0, Math.round(Number(lease['free_in_ms']))),
    isHandoverAsked: lease['wanted'] === true,
    lastSequence: Number(lease['last_sequence']),
    standbys: followers.map(({ holder, behind, seen_ago_ms }) => ({
      holder: String(holder),
      behind: Number(behind),
      seenAgoMs: Math.round(Number(seen_ago_ms)),
      isFollowing: Number(seen_ago_ms) <= SEEN_WITHIN_MS,
    })),
    kill: await readKillOrder(connection, schema),
  }
}

function stateOf(lease: Readonly<Record<string, unknown>>): WriterState {
  if (lease['moved_to'] !== null) return 'moved'
  if (Number(lease['token']) === 0) return 'new'
  if (lease['released'] === true) return 'ended'
  return Number(lease['left_ms']) > 0 ? 'writes' : 'vanished'
}
