import type { JobWithMetadata, PgBoss } from 'pg-boss'
import { z } from 'zod'
import {
  PostgresConnection,
  type PostgresPlace,
  withPassword,
} from '../../journal/postgres/connection.ts'
import { assertServerVersion } from '../../journal/postgres/server-tables.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { FILL_MODELS } from '../../simulator/matching/fill-model.ts'
import type { TrialOutcome } from '../../sweep/trial.ts'

/** Belongs to the package pg-boss only. */
const SCHEMA = 'intentd_sweeps'
const QUEUES = 'sweep-'
/** One asks, one settles, one maintains the queue. */
const CONNECTIONS_MAX = 3
const CONNECT_MS_MAX = 5000
/** Minimum of pg-boss, which takes a silent worker's trial away after it. */
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

/**
 * Uses pg-boss: a queue a sweep, a job a trial. A job is
 *
 *   created ── taken ──► active ── settled ──► completed (for a week)
 *      ▲                   │  ╲
 *      └── given back ─────┘   ╲ no heartbeat ──► retry (taken again) ──► after five tries: failed
 */
export class TrialQueue {
  readonly #boss: PgBoss

  private constructor(boss: PgBoss) {
    this.#boss = boss
  }

  /** @throws Failure SWEEP_QUEUE_UNREACHABLE, JOURNAL_SERVER_OLD */
  static async open(
    url: string,
    password: Secret | undefined,
    role: 'sweep' | 'worker',
  ): Promise<TrialQueue> {
    const place = { url, password, schema: '' }
    await assertServer(place)
    const { PgBoss: Boss } = await import('pg-boss')
    const boss = new Boss({
      connectionString: withPassword(place),
      schema: SCHEMA,
      application_name: 'intentd sweep',
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      schedule: false,
      instanceName: role,
      instanceHeartbeatSeconds: HEARTBEAT_SECONDS,
      superviseIntervalSeconds: SUPERVISE_SECONDS,
      monitorIntervalSeconds: SUPERVISE_SECONDS,
    })
    // Queries fail by themselves and are retried.
    boss.on('error', () => undefined)
    try {
      await boss.start()
      return new TrialQueue(boss)
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => undefined)
      throw unreachableQueue(url, error)
    }
  }

  async close(): Promise<void> {
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
    await this.#boss.deleteJob(queue, [...ids])
  }

  /** All that no worker has taken. */
  async withdraw(queue: string): Promise<void> {
    await this.#boss.deleteQueuedJobs(queue)
  }

  /** One that was killed counts for three heartbeats. */
  async countWorkers(): Promise<number> {
    const instances = await this.#boss.getInstances()
    return instances.filter(({ name, live }) => live && name === 'worker').length
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
      if (job !== undefined) return toTaken(String(name), job)
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
  }

  /** Does not count as a try. pg-boss does the same internally (`restoreJobs`). */
  async giveBack({ queue, id, retryCount }: TakenTrial): Promise<void> {
    await this.query(
      `UPDATE ${SCHEMA}.job SET state = CASE WHEN retry_count = 0 THEN 'created' ELSE 'retry' END::${SCHEMA}.job_state,
          started_on = NULL, heartbeat_on = NULL
        WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3`,
      [queue, id, retryCount],
    )
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#boss.getDb().executeSql(sql, [...values])).rows as Row[]
  }
}

/** Checked before anything is created there. */
async function assertServer(place: PostgresPlace): Promise<void> {
  const connection = new PostgresConnection(place, CONNECT_MS_MAX)
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
