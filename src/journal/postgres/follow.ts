import type { Clock } from '../../lib/clock.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import {
  assertKeys,
  differencesOf,
  type JournalWriter,
  parseWriter,
  WRITER,
} from '../journal-writer.ts'
import { type PostgresConnection, type PostgresPlace, serverName } from './connection.ts'
import { type LeaseTaker, type LeaseTerms, takeLease, type TakenLease } from './lease.ts'
import { isAway, isPassing } from './postgres-failures.ts'
import type { Replica } from './replica.ts'
import { quoteName } from './server-schema.ts'

const FOLLOW_MS = 250

export interface StandbyState {
  readonly holder: string
  readonly behind: number
  readonly freeInMs: number
  readonly differs: readonly string[]
  /** The other fields are then from before. */
  readonly trouble?: string | undefined
}

export interface FollowSettings {
  readonly onState: (state: StandbyState) => void
  /** @throws if following must end */
  readonly pause: (ms: number) => Promise<void>
}

export interface FollowOptions {
  readonly connection: PostgresConnection
  readonly place: PostgresPlace
  readonly replica: Replica
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  readonly clock: Clock
  readonly following: FollowSettings
  readonly own?: JournalWriter | undefined
  readonly refusesDifference?: boolean
}

const UNSEEN: StandbyState = { holder: '', behind: 0, freeInMs: 0, differs: [] }

/**
 * A standby waits for a server that is away, because ending would have it restarted again and
 * again.
 */
export async function waitForServer<Result>(
  open: () => Promise<Result>,
  { onState, pause }: FollowSettings,
): Promise<Result> {
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!isAway(error)) throw error
      onState({ ...UNSEEN, trouble: messageOf(error) })
    }
    await pause(FOLLOW_MS)
  }
}

/** Keeps the replica up to date until the lease is free, and takes the lease. */
export async function follow(options: FollowOptions): Promise<TakenLease> {
  const { following } = options
  let state = UNSEEN
  await forgetFollowers(options)
  for (;;) {
    try {
      state = await look(options)
      following.onState(state)
      const isRefused = options.refusesDifference === true && state.differs.length > 0
      if (state.freeInMs === 0 && !isRefused) {
        const taken = await tryToTake(options)
        if (taken) return taken
      }
    } catch (error) {
      if (!isPassing(error) || isOfOtherKeys(error)) throw error
      following.onState({ ...state, trouble: messageOf(error) })
    }
    await following.pause(FOLLOW_MS)
  }
}

function isOfOtherKeys(error: unknown): boolean {
  return error instanceof Failure && error.code === 'STATE_OF_OTHER_KEYS'
}

async function forgetFollowers({ connection, place }: FollowOptions): Promise<void> {
  const old = `DELETE FROM ${quoteName(place.schema)}.followers WHERE seen_at < clock_timestamp() - interval '7 days'`
  await connection.query(old).catch(() => undefined)
}

async function look({
  connection,
  place,
  replica,
  taker,
  own,
}: FollowOptions): Promise<StandbyState> {
  const behind = await replica.catchUp()
  const schema = quoteName(place.schema)
  const [row = {}] = await connection.query(
    `SELECT holder, feed_place, CASE WHEN released OR place = $1 THEN 0
        ELSE greatest(0, extract(epoch FROM expires_at + validity - clock_timestamp()) * 1000) END AS free_in_ms,
        (SELECT value FROM ${schema}.meta WHERE name = $2) AS writer
      FROM ${schema}.lease`,
    [taker.place, WRITER],
  )
  // A replica that is ahead has records that the server lost.
  replica.assertWithin(Number(row['feed_place']))
  const writer = parseWriter(row['writer'])
  // The first writer may note its keys while this process follows.
  if (own) assertKeys(serverName(place), writer, own)
  const differs = differencesOf(own, writer)
  await connection.query(
    `INSERT INTO ${schema}.followers (place, holder, feed_place, seen_at, differs)
      VALUES ($1, $2, $3, clock_timestamp(), $4) ON CONFLICT (place)
      DO UPDATE SET holder = EXCLUDED.holder, feed_place = EXCLUDED.feed_place, seen_at = EXCLUDED.seen_at,
        differs = EXCLUDED.differs`,
    [taker.place, taker.name, replica.feedPlace, differs.join(', ')],
  )
  return { holder: String(row['holder']), behind, freeInMs: Number(row['free_in_ms']), differs }
}

async function tryToTake(options: FollowOptions): Promise<TakenLease | undefined> {
  const { connection, place, taker, terms, clock } = options
  const attempt = await takeLease({ connection, schema: place.schema, clock }, taker, terms)
  if (attempt.kind === 'held') return undefined
  await connection.query(`DELETE FROM ${quoteName(place.schema)}.followers WHERE place = $1`, [
    taker.place,
  ])
  return attempt
}
