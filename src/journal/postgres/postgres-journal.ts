import { readCurve } from '../tables/curve-table.ts'
import type { ArchivedRecord, JournalRecord, StrategyKey, UsedKey } from '../../domain/record.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Failure } from '../../lib/failure.ts'
import { rollBack } from '../../lib/roll-back.ts'
import type { Timers } from '../../lib/timers.ts'
import type { BookedRow, Booking, BookingSpan } from '../booking.ts'
import type { CurvePoint, CurveQuery } from '../curves.ts'
import { FETCH_ANEW, keysDamaged, translateJournalError } from '../journal-failures.ts'
import { JournalTables, type TableSettings } from '../journal-tables.ts'
import { toContents, readVerifiedPrefix, type VerifiedPrefix } from '../verified-prefix.ts'
import {
  type JournalContents,
  type OpenedJournal,
  type RowChange,
  type WriterLease,
  untilDurable,
} from '../journal.ts'
import type { JournalMeta } from '../journal-layout.ts'
import type { JournalWriter } from '../journal-writer.ts'
import { readChanges, toServerText } from './table-changes.ts'
import { PostgresConnection, sqlStateOf, COMMIT_LOCALLY, type PostgresPlace } from './connection.ts'
import { HeldLease, type LeaseTaker, type LeaseTerms, takeLease, type TakenLease } from './lease.ts'
import {
  foundOf,
  isPassing,
  notWritten,
  leaseHeld,
  translatePostgresError,
} from './postgres-failures.ts'
import { putFeedPlace, Replica } from './replica.ts'
import {
  noteServerWriter,
  assertServerVersion,
  openServerTables,
  readServerMeta,
  readDurability,
  type ServerDurability,
} from './server-tables.ts'
import { LEASE_GONE, quoteName } from './server-schema.ts'
import { follow, type FollowSettings, waitForServer } from './follow.ts'
import { readKillRequest } from './kill-request.ts'

/**
 * How often and how long the journal tries to reach a server that is away, while the lease is
 * valid.
 */
const RECONNECT_MS = 250
const AWAY_MS_MAX = 30_000

/** More records are written without waiting for a durable one. */
const WAITING_MAX = 256

type WriteStep =
  | {
      readonly kind: 'record'
      readonly record: JournalRecord
      readonly bookings: readonly Booking[]
    }
  | { readonly kind: 'keys' }
  | {
      readonly kind: 'points'
      readonly points: readonly CurvePoint[]
      readonly finished: readonly string[]
    }
  | { readonly kind: 'checkpoint'; readonly changes: readonly RowChange[] }
  | { readonly kind: 'archived'; readonly record: ArchivedRecord }

type OnDone = (failure?: unknown) => void

export interface PostgresJournalOptions extends TableSettings {
  readonly connection: Pick<PostgresConnection, 'connect' | 'query' | 'close'>
  readonly schema: string
  readonly meta: JournalMeta
  readonly replica: Replica
  readonly prefix: VerifiedPrefix
  readonly lease: HeldLease
  readonly writer: JournalWriter | undefined
  readonly file: string
  readonly clock: Pick<Clock, 'monotonic'>
  readonly timers: Timers
  readonly onAway: OnAway
}

export type OnAway = (away: { readonly reason: string } | { readonly afterMs: number }) => void

/**
 * A journal on a server (docs/scaling-internals.md, "A commit"):
 *
 *     quiet ──commit, flush──► under way ──committed there, then here──► quiet, or under way with what came meanwhile
 *                                 └──refused, lost, too late──► broken, for ever
 *
 * The replica's transaction stays open meanwhile, so nothing can be read here that is not durable
 * there. A commit without an answer is not repeated: the next start finds out what became of it.
 */
class PostgresJournal implements OpenedJournal {
  readonly salt: string
  readonly lease: WriterLease
  readonly writer: JournalWriter | undefined
  readonly #options: Omit<PostgresJournalOptions, 'prefix' | 'usedKeys' | 'bookings'>
  readonly #tables: JournalTables
  #found: JournalContents | undefined
  #checkpointed: number
  #recordsWaiting = 0
  #steps: WriteStep[] = []
  #waitingFor: OnDone[] = []
  #underWay: Promise<void> | undefined
  #isWanted = false
  #isKept = false
  #failure: Failure | undefined
  #trouble: string | undefined
  #onBroken: ((failure: Failure) => void) | undefined

  constructor({ prefix, ...options }: PostgresJournalOptions) {
    const { meta, replica, lease } = options
    this.#options = options
    this.salt = meta.salt
    this.writer = options.writer
    this.#found = toContents(prefix)
    this.#checkpointed = prefix.start.sequence
    this.#tables = new JournalTables({
      ...options,
      prefix,
      database: replica.database,
      records: this.#found.records,
    })
    this.lease = {
      objection: () => lease.objection(),
      onLost: (listener) => {
        this.#onBroken = listener
        if (this.#failure) listener(this.#failure)
        lease.onLost(listener)
      },
      onHandover: (listener) => lease.onHandover(listener),
      kill: lease.kill,
      onKill: (listener) => lease.onKill(listener),
      answerKill: () => lease.answerKill(),
      show: (news) => lease.show(news),
      keep: () => {
        this.#isKept = true
      },
      isAbandoned: lease.isAbandoned,
    }
  }

  get trouble(): string | undefined {
    return this.#trouble
  }

  load(): JournalContents {
    const { replica, meta } = this.#options
    const found = this.#found ?? toContents(readVerifiedPrefix(replica.database, meta))
    this.#found = undefined
    return found
  }

  append(record: JournalRecord, bookings: readonly Booking[] = []): void {
    this.#assertSound()
    this.#steps.push({ kind: 'record', record, bookings })
    this.#recordsWaiting += 1
    this.#tables.keys.add(record)
    if (this.#steps.length >= WAITING_MAX) this.flush()
  }

  commit(done: OnDone): void {
    this.#assertSound()
    this.#waitingFor.push(done)
    this.flush()
  }

  flush(): void {
    this.#assertSound()
    this.#isWanted = this.#underWay !== undefined
    if (this.#isWanted) return
    if (this.#steps.length > 0) this.#underWay = this.#write()
    else for (const done of this.#waitingFor.splice(0)) done()
  }

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    this.#assertSound()
    try {
      return this.#tables.usedKeys(keys)
    } catch (error) {
      this.#failure = keysDamaged(error, FETCH_ANEW)
      throw this.#failure
    }
  }

  get recordsSinceCheckpoint(): number {
    return this.lastSequence - this.#checkpointed
  }

  get lastSequence(): number {
    return this.#tables.last.sequence + this.#recordsWaiting
  }

  prepareCheckpoint(): boolean {
    this.#assertSound()
    if (!this.#tables.hasKeysAhead) return false
    if (this.#steps.every(({ kind }) => kind !== 'keys')) this.#steps.push({ kind: 'keys' })
    this.flush()
    return true
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#assertSound()
    this.#checkpointed = this.#tables.last.sequence + this.#recordsWaiting
    this.#steps.push({ kind: 'checkpoint', changes: [...changes] })
    this.flush()
  }

  notePoints(points: readonly CurvePoint[], finished: readonly string[] = []): void {
    if (this.#failure === undefined && points.length + finished.length > 0)
      this.#steps.push({ kind: 'points', points, finished })
  }

  *bookings(kind: BookedRow['kind'], span?: BookingSpan): Generator<BookedRow> {
    try {
      yield* this.#tables.bookings.read(kind, span)
    } catch (error) {
      throw translateJournalError(error, this.#options.file)
    }
  }

  *curve(query: CurveQuery): Generator<CurvePoint> {
    const { replica, meta, file } = this.#options
    try {
      yield* readCurve(replica.database, meta.firstLink, query)
    } catch (error) {
      throw translateJournalError(error, file)
    }
  }

  async noteWriter(writer: JournalWriter): Promise<void> {
    this.#assertSound()
    const { connection, schema, lease } = this.#options
    try {
      await noteServerWriter(connection, schema, { token: lease.token, writer })
    } catch (error) {
      throw notWritten(error)
    }
  }

  dropBookings(record: ArchivedRecord): void {
    this.#assertSound()
    this.#steps.push({ kind: 'archived', record })
    this.#recordsWaiting += 1
    this.flush()
  }

  /** After an unclean end the lease is left to expire, so that a successor waits. */
  async close(isWhole = true): Promise<void> {
    const { connection, replica, lease } = this.#options
    try {
      if (this.#failure === undefined) await untilDurable(this)
      if (isWhole && !this.#isKept && this.#failure === undefined) await lease.giveBack()
    } finally {
      await this.#underWay
      await lease.close()
      await connection.close()
      replica.close()
    }
  }

  async #write(): Promise<void> {
    const { replica, connection, schema, lease } = this.#options
    const { database } = replica
    const steps = this.#steps.splice(0)
    const dones = this.#waitingFor.splice(0)
    const feedPlace = replica.feedPlace + 1
    try {
      database.exec('BEGIN IMMEDIATE')
      const changes = this.#carryOut(steps)
      await this.#reach()
      await connection.query(`SELECT ${quoteName(schema)}.write_changes($1, $2, $3, $4, $5)`, [
        lease.token,
        feedPlace,
        this.#tables.last.sequence,
        this.#tables.last.link,
        changes,
      ])
      putFeedPlace(database, feedPlace)
      database.exec('COMMIT')
      replica.noteWritten(feedPlace)
    } catch (error) {
      this.#break(error)
    }
    this.#underWay = undefined
    for (const done of dones) done(this.#failure)
    if (this.#failure !== undefined) return this.#sayBroken(dones.length > 0)
    if (this.#isWanted || this.#waitingFor.length > 0) this.flush()
  }

  async #reach(): Promise<void> {
    const { connection, lease, clock, timers, onAway } = this.#options
    const since = clock.monotonic()
    for (let tries = 0; ; tries++) {
      try {
        await connection.connect()
        this.#trouble = undefined
        if (tries > 0) onAway({ afterMs: Math.round(clock.monotonic() - since) })
        return
      } catch (error) {
        const isLong = clock.monotonic() - since >= AWAY_MS_MAX
        if (!isPassing(error) || isLong || lease.objection() !== undefined) throw error
        this.#trouble = foundOf(error)
        if (tries === 0) onAway({ reason: this.#trouble })
      }
      await new Promise<void>((resolve) => timers.after(RECONNECT_MS, resolve))
    }
  }

  /** Needs the open transaction of the replica. */
  #carryOut(steps: readonly WriteStep[]): string {
    const { database } = this.#options.replica
    const session = database.createSession()
    try {
      for (const step of steps) this.#carryOutOne(step)
      return toServerText(readChanges(database, session.changeset()))
    } finally {
      session.close()
    }
  }

  #carryOutOne(step: WriteStep): void {
    if (step.kind === 'checkpoint') return this.#tables.putCheckpoint(step.changes)
    if (step.kind === 'keys') return this.#tables.putKeysAhead()
    if (step.kind === 'points') return this.#tables.curves.put(step.points, step.finished)
    this.#recordsWaiting -= 1
    if (step.kind === 'archived') this.#tables.dropBookings(step.record)
    else this.#tables.putRecord(step.record, step.bookings)
  }

  #break(error: unknown): void {
    const { replica, lease } = this.#options
    if (sqlStateOf(error) === LEASE_GONE) lease.noteGone()
    this.#failure = notWritten(error)
    rollBack(replica.database)
  }

  #sayBroken(isHeard: boolean): void {
    for (const done of this.#waitingFor.splice(0)) done(this.#failure)
    if (!isHeard && this.#failure) this.#onBroken?.(this.#failure)
  }

  #assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

export interface OpenPostgresOptions extends TableSettings {
  readonly place: PostgresPlace
  readonly identity: string
  readonly own?: JournalWriter | undefined
  readonly refusesDifference?: boolean
  readonly file: string
  readonly taker: LeaseTaker
  readonly terms: LeaseTerms
  readonly clock: Clock
  readonly timers: Timers
  readonly onAway: OnAway
  /** Lets the caller wait for the lease; without this a held lease is refused. */
  readonly following?: FollowSettings | undefined
}

export interface OpenedPostgresJournal extends ServerDurability {
  readonly journal: OpenedJournal
  readonly isEmpty: boolean
  readonly commitMs: number
}

/**
 * Creates a missing schema, updates the replica, takes the lease, and proves the contents.
 * @throws Failure JOURNAL_UNREACHABLE, JOURNAL_LEASE_HELD, JOURNAL_FOREIGN, STATE_OF_OTHER_KEYS,
 * JOURNAL_MOVED, JOURNAL_CORRUPT, JOURNAL_SERVER_OLD
 */
export async function openPostgresJournal(
  options: OpenPostgresOptions,
): Promise<OpenedPostgresJournal> {
  const { place, terms } = options
  const connection = new PostgresConnection(place, terms.lastingMs)
  try {
    return await openWithLease(connection, options)
  } catch (error) {
    await connection.close()
    throw translatePostgresError(error, place)
  }
}

async function openWithLease(
  connection: PostgresConnection,
  options: OpenPostgresOptions,
): Promise<OpenedPostgresJournal> {
  const { place, file, following } = options
  const openReplica = async () => {
    await assertServerVersion(connection, place)
    const meta = await openServerTables(connection, place, options)
    return { meta, replica: await Replica.open({ connection, place, meta, file }) }
  }
  const { meta, replica } = await (following
    ? waitForServer(openReplica, following)
    : openReplica())
  try {
    const taken = following
      ? await follow({ ...options, connection, replica, following })
      : await takeOrRefuse(connection, options)
    const lease = new HeldLease({
      ...options,
      connection: new PostgresConnection(place, options.terms.lastingMs),
      kills: new PostgresConnection(place, options.terms.lastingMs, COMMIT_LOCALLY),
      schema: place.schema,
      lastingMs: options.terms.lastingMs,
      taken,
      holder: options.taker.name,
    })
    try {
      lease.noteKill(await readKillRequest(connection, place.schema))
      await replica.catchUp()
      const prefix = await replica.verify()
      // Another process may have noted its writer before the lease was taken.
      const writer = (await readServerMeta(connection, place))?.writer
      const journal = new PostgresJournal({
        ...options,
        connection,
        meta,
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
  connection: PostgresConnection,
  { place, taker, terms, clock }: OpenPostgresOptions,
): Promise<TakenLease> {
  const attempt = await takeLease({ connection, schema: place.schema, clock }, taker, terms)
  if (attempt.kind === 'taken') return attempt
  throw leaseHeld(place, attempt.holder, attempt.freeInMs)
}
