import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { OpenedJournal } from '../journal.ts'
import type { TableSettings } from '../journal-tables.ts'
import { COMMIT_LOCALLY, Connection, type PostgresPlace } from './connection.ts'
import { follow, type FollowSettings, waitForServer } from './follow.ts'
import { readKillOrder } from './kill-order.ts'
import { HeldLease, type LeaseTaker, type LeaseTerms, takeLease, type TakenLease } from './lease.ts'
import { leaseHeld, translatePostgresError } from './postgres-failures.ts'
import { type OnAway, PostgresJournal } from './postgres-journal.ts'
import { Replica } from './replica.ts'
import type { JournalWriter } from '../journal-writer.ts'
import {
  assertServerVersion,
  openServerTables,
  readServerNature,
  readDurability,
  type ServerDurability,
} from './server-tables.ts'

export interface OpenPostgresOptions extends TableSettings {
  readonly place: PostgresPlace
  readonly identity: string
  /** Absent: a process that does not trade. */
  readonly own?: JournalWriter | undefined
  /** Keeps a standby with other settings or code from taking over. */
  readonly refusesDifference?: boolean
  /** The caller holds its directory's lock. */
  readonly file: string
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  /** A corrected clock would hide a sleep. */
  readonly clock: Clock
  readonly timers: Timers
  readonly onAway: OnAway
  /** Waits for the lease. Absent: a held lease is a refusal. */
  readonly following?: FollowSettings | undefined
}

export interface OpenedPostgres extends ServerDurability {
  readonly journal: OpenedJournal
  /** Never written. */
  readonly isEmpty: boolean
  readonly commitMs: number
}

/**
 * Makes a missing schema, updates the replica, takes the lease, and proves the contents.
 * @throws Failure JOURNAL_UNREACHABLE, JOURNAL_LEASE_HELD, JOURNAL_FOREIGN, STATE_OF_OTHER_KEYS,
 * JOURNAL_MOVED, JOURNAL_CORRUPT, JOURNAL_SERVER_OLD
 */
export async function openPostgresJournal(options: OpenPostgresOptions): Promise<OpenedPostgres> {
  const { place, terms } = options
  const connection = new Connection(place, terms.lastingMs)
  try {
    return await openOver(connection, options)
  } catch (error) {
    await connection.close()
    throw translatePostgresError(error, place)
  }
}

async function openOver(
  connection: Connection,
  options: OpenPostgresOptions,
): Promise<OpenedPostgres> {
  const { place, file, following } = options
  const openReplica = async () => {
    await assertServerVersion(connection, place)
    const nature = await openServerTables(connection, place, options)
    return { nature, replica: await Replica.open({ connection, place, nature, file }) }
  }
  const { nature, replica } = await (following
    ? waitForServer(openReplica, following)
    : openReplica())
  try {
    const taken = following
      ? await follow({ ...options, connection, replica, following })
      : await takeOrRefuse(connection, options)
    const lease = new HeldLease({
      ...options,
      connection: new Connection(place, options.terms.lastingMs),
      kills: new Connection(place, options.terms.lastingMs, COMMIT_LOCALLY),
      schema: place.schema,
      lastingMs: options.terms.lastingMs,
      taken,
      holder: options.taker.name,
    })
    try {
      // A kill may have been ordered while there was no writer.
      lease.noteKill(await readKillOrder(connection, place.schema))
      await replica.catchUp()
      const prefix = await replica.verify()
      // Another writer may have been noted meanwhile.
      const writer = (await readServerNature(connection, place))?.writer
      const journal = new PostgresJournal({
        ...options,
        connection,
        nature,
        replica,
        prefix,
        lease,
        writer,
        schema: place.schema,
      })
      const isEmpty = prefix.last.sequence === 0
      const { commitMs } = taken
      return { journal, isEmpty, commitMs, ...(await readDurability(connection)) }
    } catch (error) {
      await lease.giveBack().catch(() => undefined)
      await lease.close()
      throw error
    }
  } catch (error) {
    replica.close()
    throw error
  }
}

async function takeOrRefuse(
  connection: Connection,
  { place, taker, terms, clock }: OpenPostgresOptions,
): Promise<TakenLease> {
  const attempt = await takeLease({ connection, schema: place.schema, clock }, taker, terms)
  if (attempt.kind === 'taken') return attempt
  throw leaseHeld(place, attempt.holder, attempt.freeInMs)
}
