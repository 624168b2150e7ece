import type { Clock } from '../../lib/clock.ts'
import { type Failure, messageOf } from '../../lib/failure.ts'
import type { Timers } from '../../lib/timers.ts'
import { LAYOUT } from '../journal-layout.ts'
import type { FleetNews, KillRequest, WriterLease } from '../journal.ts'
import type { PostgresConnection } from './connection.ts'
import { FleetMember } from './fleet-member.ts'
import { answerKill, killRequestColumn, parseKillRequest, readKillRequest } from './kill-request.ts'
import { leaseLost } from './postgres-failures.ts'
import { quoteName, STILL_HELD } from './server-schema.ts'

/**
 * Kill orders are read so often over a separate connection, because a renewal may wait for a dead
 * server.
 */
const KILL_LOOK_MS = 1000

/** A close waits at most so long for the last alerts. */
const LAST_WORD_MS = 500

export interface LeaseTerms {
  readonly lastingMs: number
  /** The exchange may act on a request for so long after its signature. */
  readonly validityMs: number
}

export interface LeaseTaker {
  readonly place: string
  readonly name: string
}

export interface TakenLease {
  readonly kind: 'taken'
  readonly token: number
  readonly feedPlace: number
  readonly isAbandoned: boolean
  readonly asked: Instant
  readonly commitMs: number
}

export type LeaseAttempt =
  | TakenLease
  | { readonly kind: 'held'; readonly holder: string; readonly freeInMs: number }

interface LeaseConnection {
  readonly connection: Pick<PostgresConnection, 'query' | 'close'>
  readonly schema: string
  readonly clock: Clock
}

export async function takeLease(
  { connection, schema, clock }: LeaseConnection,
  { place, name }: LeaseTaker,
  { lastingMs, validityMs }: LeaseTerms,
): Promise<LeaseAttempt> {
  const asked = instantOf(clock)
  const [row = {}] = await connection.query(
    `SELECT * FROM ${quoteName(schema)}.take_lease($1, $2, $3 * interval '1 ms', $4 * interval '1 ms', $5)`,
    [place, name, lastingMs, validityMs, String(LAYOUT)],
  )
  const { taken, token, feed_place, abandoned, holder, free_in_ms } = row
  if (taken !== true) return { kind: 'held', holder: String(holder), freeInMs: Number(free_in_ms) }
  return {
    kind: 'taken',
    token: Number(token),
    feedPlace: Number(feed_place),
    isAbandoned: abandoned === true,
    asked,
    commitMs: clock.monotonic() - asked.monotonic,
  }
}

export interface HeldLeaseOptions extends LeaseConnection, Pick<LeaseTerms, 'lastingMs'> {
  readonly taken: TakenLease
  readonly holder: string
  readonly timers: Timers
  /**
   * A connection whose commits wait for no other server. Without it, kill orders are not obeyed
   * here.
   */
  readonly kills?: Pick<PostgresConnection, 'query' | 'close'>
}

/**
 * The right to write, while it is renewed:
 *
 *     held ──renewed in time──► held ──given back──► over
 *       └──its term is over, or another machine has taken it──► lost, for ever
 */
export class HeldLease implements Omit<WriterLease, 'keep'> {
  readonly token: number
  readonly isAbandoned: boolean
  readonly #options: HeldLeaseOptions
  readonly #term: LeaseTerm
  #failure: Failure | undefined
  #onLost: ((failure: Failure) => void) | undefined
  #onHandover: (() => void) | undefined
  #onKill: Parameters<WriterLease['onKill']>[0] | undefined
  #kill: KillRequest | undefined
  readonly #member: FleetMember
  #news: FleetNews | undefined
  #showing: Promise<void> = Promise.resolve()
  #isHandoverAsked = false
  #lastTrouble: string | undefined
  #isOver = false
  #cancelTimers: readonly (() => void)[] = []

  constructor(options: HeldLeaseOptions) {
    this.#options = options
    this.token = options.taken.token
    this.isAbandoned = options.taken.isAbandoned
    const { connection, schema, holder, clock, lastingMs, taken } = options
    this.#member = new FleetMember({ connection, schema, holder, id: schema, kind: 'daemon' })
    this.#term = new LeaseTerm(clock, lastingMs, taken.asked)
    this.#waitToRenew()
  }

  objection(): string | undefined {
    if (this.#failure === undefined && !this.#isOver) {
      if (!this.#term.isOver) return undefined
      this.#lose('it was not renewed in time')
    }
    return 'the lease of the journal is over: another process may trade the account'
  }

  onLost(listener: (failure: Failure) => void): void {
    this.#onLost = listener
    if (this.#failure) listener(this.#failure)
  }

  onHandover(listener: () => void): void {
    this.#onHandover = listener
    if (this.#isHandoverAsked) listener()
  }

  get kill(): KillRequest | undefined {
    return this.#kill
  }

  onKill(listener: Parameters<WriterLease['onKill']>[0]): void {
    this.#onKill = listener
  }

  noteKill(kill: KillRequest | undefined): void {
    this.#kill = kill
  }

  show(news: FleetNews): void {
    this.#news = news
  }

  noteGone(): void {
    this.#lose('another has taken it')
  }

  /** After this another machine may take the lease at once, so no request may be on its way. */
  async giveBack(): Promise<void> {
    const { connection, schema } = this.#options
    // A proved kill must not stay unanswered.
    await this.answerKill()
    await this.#showNews()
    const isHeld = this.objection() === undefined
    this.#end()
    if (!isHeld) return
    await connection.query(
      `UPDATE ${quoteName(schema)}.lease SET released = true, expires_at = clock_timestamp() WHERE token = $1`,
      [this.token],
    )
  }

  /** The lease is left to expire. The last alerts are shown if that is possible in time. */
  async close(): Promise<void> {
    const { connection, kills, timers } = this.#options
    this.#end()
    const isOver = Promise.withResolvers<void>()
    const cancel = timers.after(LAST_WORD_MS, isOver.resolve)
    await Promise.race([this.#showNews(true), isOver.promise])
    cancel()
    await kills?.close()
    await connection.close()
  }

  #end(): void {
    this.#isOver = true
    for (const cancel of this.#cancelTimers) cancel()
  }

  #waitToRenew(hasFailed = false): void {
    const { timers } = this.#options
    for (const cancel of this.#cancelTimers) cancel()
    this.#cancelTimers = [
      timers.after(this.#term.renewInMs(hasFailed), () => void this.#renew()),
      // Notices the end of the term even if a renewal's query never returns.
      timers.after(this.#term.leftMs, () => void this.objection()),
    ]
  }

  async #renew(): Promise<void> {
    const { connection, schema, clock, lastingMs } = this.#options
    if (this.objection() !== undefined) return
    const asked = instantOf(clock)
    let hasFailed = false
    const stopLooking = this.#lookForKills()
    try {
      const [row] = await connection.query(
        `UPDATE ${quoteName(schema)}.lease SET expires_at = clock_timestamp() + $2 * interval '1 ms'
          WHERE ${STILL_HELD} RETURNING handover_at IS NOT NULL AS wanted, ${killRequestColumn(schema)}`,
        [this.token, lastingMs],
      )
      if (this.#isOver) return
      if (row === undefined) return this.noteGone()
      if (this.objection() !== undefined) return
      this.#term.extend(asked)
      this.#kill = parseKillRequest(row['kill'])
      if (row['wanted'] === true) this.#hearHandover()
    } catch (error) {
      // The next renewal tries again, until the term is over.
      this.#lastTrouble = messageOf(error)
      hasFailed = true
    } finally {
      stopLooking()
    }
    if (this.#isOver || this.#failure !== undefined) return
    this.#waitToRenew(hasFailed)
    await this.answerKill()
    await this.#showNews()
  }

  /** A slow renewal must not delay a kill. */
  #lookForKills(): () => void {
    const { kills, timers, schema } = this.#options
    if (kills === undefined) return () => undefined
    let isStopped = false
    let cancel = (): void => undefined
    const look = async (): Promise<void> => {
      try {
        const kill = await readKillRequest(kills, schema)
        if (!isStopped) this.#kill = kill
        await this.answerKill()
      } catch (error) {
        this.#lastTrouble = messageOf(error)
      }
      if (!isStopped) wait()
    }
    const wait = (): void => {
      cancel = timers.after(KILL_LOOK_MS, () => void look())
    }
    wait()
    return () => {
      isStopped = true
      cancel()
    }
  }

  /** Shows one at a time, so that news on its way is not sent twice. */
  #showNews(isLast = false): Promise<void> {
    this.#showing = this.#showing.then(() =>
      this.#showNow(!isLast && this.objection() === undefined),
    )
    return this.#showing
  }

  /**
   * A failure here does not concern the lease.
   * @param isHeld false if only alerts are shown
   */
  async #showNow(isHeld: boolean): Promise<void> {
    const news = this.#news
    if (news === undefined) return
    try {
      const { state, alerts } = news.news()
      if (!isHeld && alerts.length === 0) return
      await this.#member.show(isHeld ? state : undefined, alerts)
      news.onShown()
    } catch (error) {
      news.onShown(messageOf(error))
    }
  }

  async answerKill(): Promise<void> {
    const { connection, kills = connection, schema } = this.#options
    const kill = this.#kill
    if (kill === undefined || this.#isOver || this.objection() !== undefined) return
    const state = this.#onKill?.(kill)
    if (state === undefined || state === kill.state) return
    try {
      await answerKill(kills, schema, { token: this.token, number: kill.number, state })
      if (this.#kill === kill) this.#kill = { ...kill, state }
    } catch (error) {
      this.#lastTrouble = messageOf(error)
    }
  }

  #hearHandover(): void {
    if (this.#isHandoverAsked) return
    this.#isHandoverAsked = true
    this.#onHandover?.()
  }

  #lose(why: string): void {
    if (this.#failure !== undefined || this.#isOver) return
    for (const cancel of this.#cancelTimers) cancel()
    const trouble = this.#lastTrouble === undefined ? '' : `: ${this.#lastTrouble}`
    this.#failure = leaseLost(`${why}${trouble}`)
    this.#onLost?.(this.#failure)
  }
}

/** Renewals within a term, and tries within it after a failure. */
const RENEWALS = 4
const TRIES = 20
/** The term ends earlier by this share, because clocks drift. */
const MARGIN = 0.1

interface Instant {
  readonly monotonic: number
  readonly now: number
}

export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), now: clock.now() }
}

/**
 * A term is the time in which requests may be signed (docs/scaling-internals.md, "The lease"). The
 * deadline counts from before the query that granted the lease, so it is never later than the
 * server's. A term that is over stays over.
 */
export class LeaseTerm {
  readonly #clock: Clock
  readonly #lastingMs: number
  #deadline: Instant
  #isOver = false

  constructor(clock: Clock, lastingMs: number, asked: Instant) {
    this.#clock = clock
    this.#lastingMs = lastingMs
    this.#deadline = this.#deadlineFrom(asked)
  }

  get isOver(): boolean {
    const { monotonic, now } = instantOf(this.#clock)
    const isBefore = monotonic < this.#deadline.monotonic && now < this.#deadline.now
    this.#isOver ||= !isBefore
    return this.#isOver
  }

  get leftMs(): number {
    return Math.max(0, this.#deadline.monotonic - this.#clock.monotonic())
  }

  renewInMs(hasFailed: boolean): number {
    return Math.min(this.#lastingMs / (hasFailed ? TRIES : RENEWALS), this.leftMs)
  }

  /** A late answer does not revive a term that is over. */
  extend(asked: Instant): void {
    if (!this.isOver) this.#deadline = this.#deadlineFrom(asked)
  }

  #deadlineFrom({ monotonic, now }: Instant): Instant {
    const ms = this.#lastingMs * (1 - MARGIN)
    return { monotonic: monotonic + ms, now: now + ms }
  }
}
