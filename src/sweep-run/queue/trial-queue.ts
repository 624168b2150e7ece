import pg from 'pg'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { z } from 'zod'
import { Connection, type PostgresPlace, withPassword } from '../../journal/postgres/connection.ts'
import { COUNT_CONNECTED, LOCK_MEMBER } from '../../journal/postgres/fleet-member.ts'
import { assertServerVersion } from '../../journal/postgres/server-tables.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { systemTimers } from '../../lib/timers.ts'
import { FILL_MODELS } from '../../simulator/matching/fill-model.ts'
import type { TrialOutcome } from '../../sweep/trial.ts'

/** Belongs to the package pg-boss only. */
const SCHEMA = 'intentd_sweeps'
const QUEUES = 'sweep-'
/** One asks, one settles, one maintains the queue. */
const CONNECTIONS_MAX = 3
/** Minimum of pg-boss. {@link LiveLocks} notices a closed connection sooner. */
const HEARTBEAT_SECONDS = 10
const SUPERVISE_SECONDS = 5
/** Workers are also killed by accident. */
export const TRIES_MAX = 5
/** From this try on the trial may kill its workers. */
export const TRY_ALONE = 2
/** Results wait this long for the sweep to continue, s. */
const KEPT_SECONDS = 7 * 86_400
/** Maximum of pg-boss. The worker ends a trial at its own limit. */
const EXPIRE_SECONDS = 86_400

/** Not trusted: any user of the database may have written it. */
const requestSchema = z.strictObject({
  format: z.literal(1),
  name: z.string(),
  recipe: z.string(),
  param: z.array(z.string()),
  periodMs: z.number().positive(),
  limitMs: z.number().positive(),
  config: z.string().optional(),
  options: z.strictObject({
    market: z.array(z.string()),
    feed: z.array(z.string()).optional(),
    universe: z.string().optional(),
    set: z.array(z.string()),
    param: z.array(z.string()),
    days: z.number().optional(),
    from: z.number().optional(),
    to: z.number().optional(),
    model: z.enum(FILL_MODELS).optional(),
    seed: z.number().optional(),
    balance: z.string().optional(),
  }),
})

export type TrialRequest = z.infer<typeof requestSchema>

/** Until settled, given back or lost. */
export interface TakenTrial {
  readonly queue: string
  readonly id: string
  /** From 0; identifies the claim, so that a worker considered lost changes nothing later. */
  readonly retryCount: number
  /** Unreadable requests come from another version. */
  readonly request: TrialRequest | { readonly unreadable: string }
}

/** `lost`: by its worker, each time. */
export type QueuedState = 'waiting' | 'lost' | { readonly outcome: TrialOutcome }

interface Row {
  readonly [column: string]: unknown
}

/** pg-boss would put a lost trial last, and its round waits for it. */
const PREFER_LOST = `UPDATE ${SCHEMA}.job SET priority = 1
  WHERE state = 'retry' AND priority = 0 AND name LIKE '${QUEUES}%'`

/**
 * Uses pg-boss: a queue a sweep, a job a trial. A job is
 *
 *   created ── taken ──► active ── settled ──► completed (for a week)
 *      ▲                   │  ╲
 *      └── given back ─────┘   ╲ its worker is lost ──► retry (taken again) ──► after five tries: failed
 */
export class TrialQueue {
  readonly #boss: PgBoss
  readonly #locks: LiveLocks
  /** Trials and tries without a lock at the last look. */
  readonly #unheld = new Set<string>()

  private constructor(boss: PgBoss, locks: LiveLocks) {
    this.#boss = boss
    this.#locks = locks
  }

  /**
   * @param worker id among the members of the database; undefined if it computes nothing
   * @throws Failure SWEEP_QUEUE_UNREACHABLE, JOURNAL_SERVER_OLD
   */
  static async open(
    url: string,
    password: Secret | undefined,
    worker?: string,
  ): Promise<TrialQueue> {
    const place = { url, password, schema: '' }
    await assertServer(place)
    const { PgBoss: Boss } = await import('pg-boss')
    const connectionString = withPassword(place)
    const boss = new Boss({
      connectionString,
      schema: SCHEMA,
      application_name: 'intentd sweep',
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      schedule: false,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
    })
    // Queries fail by themselves and are retried.
    boss.on('error', () => undefined)
    const locks = new LiveLocks(connectionString, worker)
    try {
      await boss.start()
      await locks.open()
      return new TrialQueue(boss, locks)
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => undefined)
      await locks.close()
      throw unreachableQueue(url, error)
    }
  }

  async close(): Promise<void> {
    await this.#locks.close()
    await this.#boss.stop({ graceful: false }).catch(() => undefined)
  }

  /** Concurrent callers are allowed. */
  async openQueue(name: string): Promise<void> {
    await this.#boss.createQueue(name, {
      retryLimit: TRIES_MAX - 1,
      retryDelay: 0,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: EXPIRE_SECONDS,
      deleteAfterSeconds: KEPT_SECONDS,
      retentionSeconds: KEPT_SECONDS,
    })
  }

  /** Empty, and unused for a day. */
  async dropOldQueues(): Promise<void> {
    const rows = await this.query(
      `SELECT q.name FROM ${SCHEMA}.queue q
        WHERE q.name LIKE '${QUEUES}%' AND q.created_on < now() - interval '1 day'
          AND NOT EXISTS (SELECT 1 FROM ${SCHEMA}.job j WHERE j.name = q.name)`,
    )
    for (const { name } of rows) await this.#boss.deleteQueue(String(name))
  }

  /** Existing trials stay as they are. */
  async put(queue: string, trials: ReadonlyMap<string, TrialRequest>): Promise<void> {
    if (trials.size === 0) return
    const jobs = [...trials].map(([id, request]) => ({
      id,
      data: { request: JSON.stringify(request) },
    }))
    await this.#boss.insert(queue, jobs)
  }

  /** Trials that are not in the queue are missing. */
  async look(queue: string, ids: readonly string[]): Promise<ReadonlyMap<string, QueuedState>> {
    const rows = await this.query(
      `SELECT id, state, output->>'outcome' AS outcome FROM ${SCHEMA}.job WHERE name = $1 AND id = ANY($2::uuid[])`,
      [queue, ids],
    )
    return new Map(rows.map((row) => [String(row['id']), stateOf(row)]))
  }

  async remove(queue: string, ids: readonly string[]): Promise<void> {
    await this.query(
      `DELETE FROM ${SCHEMA}.job WHERE name = $1 AND id = ANY($2::uuid[]) AND state <> 'active'`,
      [queue, ids],
    )
  }

  async countWorkers(): Promise<number> {
    const [row] = await this.query(COUNT_CONNECTED)
    return Number(row?.['connected'] ?? 0)
  }

  /** Takes from the oldest sweep that is not refused. */
  async take(refused: readonly string[]): Promise<TakenTrial | undefined> {
    const queues = await this.query(
      `SELECT q.name FROM ${SCHEMA}.queue q WHERE q.name LIKE '${QUEUES}%' AND q.name <> ALL($1::text[])
          AND EXISTS (SELECT 1 FROM ${SCHEMA}.job j WHERE j.name = q.name AND j.state < 'active')
        ORDER BY q.created_on, q.name`,
      [refused],
    )
    for (const { name } of queues) {
      const [job] = await this.#boss.fetch<unknown>(String(name), {
        includeMetadata: true,
        batchSize: 1,
      })
      if (job === undefined) continue
      this.#locks.hold(job.id)
      return toTaken(String(name), job)
    }
    return undefined
  }

  /** Sends heartbeats. @returns trials that no longer belong to this worker */
  async beat(taken: readonly TakenTrial[]): Promise<readonly TakenTrial[]> {
    const lost: TakenTrial[] = []
    for (const one of taken) {
      // Its types lack the answer.
      const answer = (await this.#boss.touch(one.queue, attemptOf(one))) as {
        readonly affected: number
      }
      if (answer.affected === 0) lost.push(one)
    }
    return lost
  }

  /** Does nothing if the trial no longer belongs to this worker. */
  async settle(taken: TakenTrial, outcome: TrialOutcome): Promise<void> {
    // As text, since jsonb would reorder its keys.
    await this.#boss.complete(taken.queue, attemptOf(taken), { outcome: JSON.stringify(outcome) })
    this.#locks.release(taken.id)
  }

  /** Does not count as a try. pg-boss does the same internally (`restoreJobs`). */
  async giveBack({ queue, id, retryCount }: TakenTrial): Promise<void> {
    await this.query(
      `UPDATE ${SCHEMA}.job SET state = CASE WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${SCHEMA}.job_state,
          started_on = NULL, heartbeat_on = NULL
        WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3`,
      [queue, id, retryCount],
    )
    this.#locks.release(id)
  }

  /** A lost trial must not appear alive. */
  drop({ id }: TakenTrial): void {
    this.#locks.release(id)
  }

  /**
   * Frees trials of workers whose connection closed. A lock must be missing in two looks, since a
   * briefly disconnected worker takes it again.
   */
  async freeLost(): Promise<number> {
    let rows: readonly Row[]
    try {
      rows = await this.query(LiveLocks.findUnheld(SCHEMA, QUEUES))
    } catch (error) {
      this.#unheld.clear()
      throw error
    }
    const seen = rows.map((row) => ({
      queue: String(row['name']),
      id: String(row['id']),
      retryCount: Number(row['retry_count']),
    }))
    const nameOf = ({ id, retryCount }: { id: string; retryCount: number }) => `${id} ${retryCount}`
    const lost = seen.filter((one) => this.#unheld.has(nameOf(one)))
    this.#unheld.clear()
    for (const one of seen) this.#unheld.add(nameOf(one))
    for (const one of lost)
      await this.#boss.fail(one.queue, attemptOf(one), { message: 'worker lost' })
    await this.query(PREFER_LOST)
    return lost.length
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#boss.getDb().executeSql(sql, [...values])).rows as Row[]
  }
}

/** Checked before anything is created there. */
async function assertServer(place: PostgresPlace): Promise<void> {
  const connection = new Connection(place, CONNECT_MS_MAX)
  try {
    await assertServerVersion(connection, place)
  } catch (error) {
    throw error instanceof Failure ? error : unreachableQueue(place.url, error)
  } finally {
    await connection.close()
  }
}

export function nameQueue(digest: string): string {
  return `${QUEUES}${digest.slice(0, 32)}`
}

function attemptOf({ id, retryCount }: Pick<TakenTrial, 'id' | 'retryCount'>) {
  return { id, retryCount }
}

function stateOf({ state, outcome }: Row): QueuedState {
  if (state === 'failed' || state === 'cancelled') return 'lost'
  if (state !== 'completed') return 'waiting'
  return { outcome: parseBoundedJson(String(outcome)) as TrialOutcome }
}

function toTaken(queue: string, { id, retryCount, data }: JobWithMetadata<unknown>): TakenTrial {
  return { queue, id, retryCount, request: readRequest(data) }
}

/** @returns the request, or why it is unreadable */
export function readRequest(data: unknown): TakenTrial['request'] {
  try {
    const { request } = z.object({ request: z.string() }).parse(data)
    return requestSchema.parse(parseBoundedJson(request))
  } catch {
    return { unreadable: 'another version of intentd has put its trials there' }
  }
}

function unreachableQueue(url: string, error: unknown): Failure {
  const { host, pathname } = new URL(url)
  return new Failure({
    code: 'SWEEP_QUEUE_UNREACHABLE',
    sentence: 'the queue of sweeps on PostgreSQL cannot be opened',
    facts: { server: `${host}${pathname}`, found: messageOf(error) },
    hint: 'check that the server runs, lets this machine and user in, and lets the user create a schema; the password is INTENTD_SWEEP_PASSWORD',
    cause: error,
  })
}

/** Namespace of our locks in the database: `swep`. */
const CLASS = 0x73_77_65_70
const AGAIN_MS = 500
const CONNECT_MS_MAX = 5000
/** A trial taken just now may have no lock yet. */
const TAKEN_SINCE = '1 second'

/** The first 32 bits of a trial's id. */
const keyOf = (column: string): string => `('x' || substr(${column}::text, 1, 8))::bit(32)`

const forEach = (act: string): string =>
  `SELECT ${act}(${CLASS}, ${keyOf('id')}::int) FROM unnest($1::text[]) AS id`
const LOCK = forEach('pg_advisory_lock_shared')
const UNLOCK = forEach('pg_advisory_unlock_shared')

/**
 * On a connection of its own, whose end releases the locks sooner than heartbeats show. Only a
 * hint: a worker that lost its connection takes them again.
 */
class LiveLocks {
  readonly #connectionString: string
  readonly #worker: string | undefined
  readonly #held = new Set<string>()
  #client: pg.Client | undefined
  #sent: Promise<unknown> = Promise.resolve()
  #isClosed = false

  /** @param worker id among the members of the database; undefined if it computes nothing */
  constructor(connectionString: string, worker: string | undefined) {
    this.#connectionString = connectionString
    this.#worker = worker
  }

  static findUnheld(schema: string, queues: string): string {
    return `SELECT name, id, retry_count FROM ${schema}.job
      WHERE state = 'active' AND name LIKE '${queues}%' AND started_on < now() - interval '${TAKEN_SINCE}'
        AND ${keyOf('id')}::bigint NOT IN (SELECT objid::bigint FROM pg_locks
          WHERE locktype = 'advisory' AND classid = ${CLASS} AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`
  }

  async open(): Promise<void> {
    if (this.#worker !== undefined) await this.#connect()
  }

  hold(id: string): void {
    this.#held.add(id)
    this.#send(LOCK, [id])
  }

  release(id: string): void {
    if (this.#held.delete(id)) this.#send(UNLOCK, [id])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => undefined)
  }

  /** Without a connection, the next one takes the locks. */
  #send(sql: string, ids: readonly string[]): void {
    const client = this.#client
    if (client === undefined) return
    this.#sent = this.#sent.then(() => client.query(sql, [ids])).catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
      application_name: 'intentd sweep worker',
    })
    // Errors appear at the queries, and a lost connection as its end.
    client.on('error', () => undefined)
    const known = new Set(this.#held)
    try {
      await client.connect()
      // A counted worker has its locks.
      await client.query(LOCK, [[...known]])
      await client.query(LOCK_MEMBER, [this.#worker])
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined
      this.#again()
    })
    this.#client = client
    this.#sent = Promise.resolve()
    const fresh = [...this.#held].filter((id) => !known.has(id))
    if (fresh.length > 0) this.#send(LOCK, fresh)
  }

  #again(): void {
    if (this.#isClosed) return
    systemTimers.after(AGAIN_MS, () => {
      if (!this.#isClosed) this.#connect().catch(() => this.#again())
    })
  }
}
