import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import type { OpenedJournal } from '../journal.ts'
import type { TablesGiven } from '../journal-tables.ts'
import { COMMIT_LOCALLY, Connection, type PostgresPlace } from './connection.ts'
import { follow, type Following, waitForServer } from './follow.ts'
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

export interface OpenPostgresOptions extends TablesGiven {
  readonly place: PostgresPlace
  readonly identity: string
  /** Who is to write it; absent: nobody who trades. */
  readonly own?: JournalWriter | undefined
  /** A standby that trades with other settings or code takes nothing over. */
  readonly refusesDifference?: boolean
  /** Of the replica. Whoever opens it holds its directory. */
  readonly file: string
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  /** The machine's own, not one that makes up for jumps. */
  readonly clock: Clock
  readonly timers: Timers
  readonly onAway: OnAway
  /** Waits for the lease, and follows meanwhile. Absent: a lease that is held is a refusal. */
  readonly following?: Following | undefined
}

export interface OpenedPostgres extends ServerDurability {
  readonly journal: OpenedJournal
  /** Nothing was ever written to it. */
  readonly isEmpty: boolean
  /** How long a commit took, ms. */
  readonly commitMs: number
}

/**
 * The journal on PostgreSQL, with the right to write it: the schema is made where there is none, the replica brought
 * to where the server is, the lease taken, and what is there proved.
 * @throws Failure JOURNAL_UNREACHABLE, JOURNAL_LEASE_HELD, JOURNAL_FOREIGN, STATE_OF_OTHER_KEYS, JOURNAL_MOVED, JOURNAL_CORRUPT,
 * JOURNAL_SERVER_OLD
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
      // What was ordered while nobody wrote stands from the beginning.
      lease.noteKill(await readKillOrder(connection, place.schema))
      await replica.catchUp()
      const prefix = await replica.verify()
      // Somebody may have noted himself while this one waited.
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
