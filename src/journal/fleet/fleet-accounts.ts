import { messageOf } from '../../lib/failure.ts'
import type { FleetState } from '../journal.ts'
import { type PostgresConnection, sqlStateOf } from '../postgres/connection.ts'
import {
  killRequestColumn,
  type KillRequestRow,
  parseKillRequest,
} from '../postgres/kill-request.ts'
import { quoteName, SEEN_WITHIN_MS } from '../postgres/server-schema.ts'

export const LISTED_FOR = '1 day'
const READ_TOGETHER = 25

/**
 * `writes`: its lease is valid; `vanished`: the lease expired; `ended`: the lease was given back;
 * `new`: nothing was ever written; `moved`: the journal is elsewhere now.
 */
export type WriterState = 'writes' | 'vanished' | 'ended' | 'new' | 'moved'

export interface FleetStandby {
  readonly holder: string
  readonly behind: number
  readonly seenAgoMs: number
  readonly isFollowing: boolean
  /** How its trading would differ from the writer's, in words; empty if no difference is known. */
  readonly differs: string
}

export interface FleetAccount {
  readonly schema: string
  readonly state: WriterState
  readonly holder: string
  /** Server's clock. */
  readonly takenAt: number
  /** Negative after the lease has expired. */
  readonly leaseLeftMs: number
  readonly freeInMs: number
  readonly isHandoverAsked: boolean
  readonly lastSequence: number
  /** `HOST FILE`; absent while the journal is here. */
  readonly movedTo?: string | undefined
  readonly standbys: readonly FleetStandby[]
  readonly shown: FleetMemberRow | undefined
  readonly kill: KillRequestRow | undefined
}

/** A journal of another version, or one that this user may not read. */
export interface FleetUnread {
  readonly schema: string
  readonly reason: string
}

export interface FleetMemberRow {
  readonly holder: string
  readonly state: FleetState
  readonly startedAt: number
  readonly seenAgoMs: number
}

export interface JournalSchema {
  readonly schema: string
  readonly hasOrder: boolean
}

export interface FleetAccountsReading {
  readonly accounts: readonly Omit<FleetAccount, 'shown'>[]
  readonly unread: readonly FleetUnread[]
}

/**
 * Reads the accounts one by one if the server refuses to answer for several at once.
 * @throws if the server does not answer
 */
export async function readAccounts(
  connection: Pick<PostgresConnection, 'query'>,
  journals: readonly JournalSchema[],
): Promise<FleetAccountsReading> {
  const accounts: Omit<FleetAccount, 'shown'>[] = []
  const unread: FleetUnread[] = []
  const read = async (together: readonly JournalSchema[]): Promise<void> => {
    try {
      const rows = await connection.query(
        `${together.map(toSelect).join(' UNION ALL ')} ORDER BY place`,
      )
      const found = new Map(rows.map((row) => [Number(row['place']), row]))
      for (const [place, { schema }] of together.entries()) {
        const row = found.get(place)
        if (row === undefined) unread.push({ schema, reason: 'its lease has no row' })
        else accounts.push(toAccount(schema, row))
      }
    } catch (error) {
      // Without an answer, the others would fail too.
      if (sqlStateOf(error) === undefined) throw error
      const [{ schema } = { schema: '' }, ...others] = together
      if (others.length === 0) unread.push({ schema, reason: messageOf(error) })
      else for (const one of together) await read([one])
    }
  }
  for (let start = 0; start < journals.length; start += READ_TOGETHER)
    await read(journals.slice(start, start + READ_TOGETHER))
  return { accounts, unread }
}

function toSelect({ schema, hasOrder }: JournalSchema, place: number): string {
  const of = quoteName(schema)
  return `(SELECT ${place} AS place, token, holder, released, handover_at IS NOT NULL AND NOT released AS wanted,
      moved_to, last_sequence, extract(epoch FROM taken_at) * 1000 AS taken_at,
      extract(epoch FROM expires_at - statement_timestamp()) * 1000 AS left_ms,
      extract(epoch FROM expires_at + validity - statement_timestamp()) * 1000 AS free_in_ms,
      (SELECT jsonb_agg(jsonb_build_object('holder', f.holder, 'behind', greatest(0, l.feed_place - f.feed_place),
          'seenAgoMs', greatest(0, extract(epoch FROM clock_timestamp() - f.seen_at) * 1000),
          'differs', coalesce(to_jsonb(f) ->> 'differs', '')) ORDER BY f.seen_at DESC, f.place)
        FROM ${of}.followers f WHERE f.seen_at > clock_timestamp() - interval '${LISTED_FOR}') AS followers,
      ${hasOrder ? killRequestColumn(schema) : 'NULL::jsonb AS kill'}
    FROM ${of}.lease l)`
}

function toAccount(
  schema: string,
  row: Readonly<Record<string, unknown>>,
): Omit<FleetAccount, 'shown'> {
  return {
    schema,
    state: stateOf(row),
    holder: String(row['holder']),
    takenAt: Math.round(Number(row['taken_at'])),
    leaseLeftMs: Math.round(Number(row['left_ms'])),
    freeInMs: row['released'] === true ? 0 : Math.max(0, Math.round(Number(row['free_in_ms']))),
    isHandoverAsked: row['wanted'] === true,
    lastSequence: Number(row['last_sequence']),
    ...(typeof row['moved_to'] === 'string' ? { movedTo: row['moved_to'] } : {}),
    standbys: toStandbys(row['followers']),
    kill: parseKillRequest(row['kill']),
  }
}

function toStandbys(followers: unknown): readonly FleetStandby[] {
  const rows = Array.isArray(followers)
    ? (followers as readonly Readonly<Record<string, unknown>>[])
    : []
  return rows.map(({ holder, behind, seenAgoMs, differs }) => ({
    holder: String(holder),
    behind: Number(behind),
    seenAgoMs: Math.round(Number(seenAgoMs)),
    isFollowing: Number(seenAgoMs) <= SEEN_WITHIN_MS,
    differs: typeof differs === 'string' ? differs : '',
  }))
}

function stateOf(lease: Readonly<Record<string, unknown>>): WriterState {
  if (lease['moved_to'] !== null) return 'moved'
  if (Number(lease['token']) === 0) return 'new'
  if (lease['released'] === true) return 'ended'
  return Number(lease['left_ms']) > 0 ? 'writes' : 'vanished'
}
