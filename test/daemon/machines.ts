import { join } from 'node:path'
import { REPLICA_FILE } from '../../src/journal/journal-failures.ts'
import { PostgresConnection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { compareBooks } from '../crash/compare-books.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { CONFIG_FILE, STATE, writeCrashConfig } from '../crash/crash-config.ts'
import { CrashExchange } from '../crash/crash-exchange.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { type ExchangeTruth } from '../support/virtual/exchange-truth.ts'
import { IntentdProcess, type ProcessOptions } from './intentd-process.ts'
import { Project } from './project.ts'

export const MODE = 'one_way_mode'
/** No test waits for its end, however busy the machine is: see {@link Machines.passLease}. */
const LEASE_MS = 120_000

/** Nothing is lost on the way here: a request without an answer so far is one on a busy machine. */
const REQUEST_TIMEOUT_MS = 10_000

/** What machines stand on: a server for the journal, an exchange, and where each of them runs. */
export interface Ground {
  readonly place: PostgresPlace
  /** How the tests reach the same. */
  readonly asked: PostgresPlace
  readonly url: string
  readonly credentials: Readonly<Record<string, string>>
  readonly uid: string
  /** What else stands in the configuration, beside what it says of the same part. */
  readonly config?: Readonly<Record<string, object>>
  /** What stands before a command that runs on the machine, in the directory. */
  readonly within: (machine: string, directory: string) => readonly string[]
  readonly readTruth: () => Promise<ExchangeTruth>
  readonly close: () => Promise<void>
}

export interface HeldCommits {
  /** A commit waits. */
  underWay(): Promise<void>
  /** The server ends the connection of the one that waits. */
  cut(): Promise<void>
  release(): Promise<void>
}

type StartOptions = Partial<Pick<ProcessOptions, 'env' | 'preload'>>

/** Some machines that could trade one account, its journal on a server, and the exchange. */
export class Machines {
  readonly #ground: Ground
  readonly #leaseMs: number
  readonly #projects = new Map<string, Project>()
  readonly #runs: IntentdProcess[] = []

  constructor(ground: Ground, leaseMs: number) {
    this.#ground = ground
    this.#leaseMs = leaseMs
  }

  /** All on this machine. */
  static async open(place: PostgresPlace, leaseMs = LEASE_MS): Promise<Machines> {
    const given = { seed: 7, mode: MODE, reading: 'replay', scenario: SCENARIOS.normal } as const
    const exchange = await CrashExchange.start(given)
    const { url, credentials, truth } = exchange
    const ground: Ground = {
      place,
      asked: place,
      url,
      credentials,
      uid: '1',
      config: { exchange: { requestTimeoutMs: REQUEST_TIMEOUT_MS } },
      within: () => [],
      readTruth: () => Promise.resolve(truth),
      close: () => exchange.stop(),
    }
    return new Machines(ground, leaseMs)
  }

  /** Nobody trades any more: the exchange may have ended. */
  readTruth(): Promise<ExchangeTruth> {
    return this.#ground.readTruth()
  }

  /** @param env Beside the keys of the account. */
  start(
    machine: string,
    args: readonly string[],
    { env = {}, preload }: StartOptions = {},
  ): IntentdProcess {
    const cwd = this.#projectOf(machine).directory
    const [verb = '', ...rest] = args
    const run = new IntentdProcess([verb, '-c', CONFIG_FILE, ...rest], {
      cwd,
      env: { ...this.#ground.credentials, XDG_STATE_HOME: cwd, ...env },
      preload,
      within: this.#ground.within(machine, cwd),
      waitMsMax: 240_000,
    })
    this.#runs.push(run)
    return run
  }

  /** With what is said alone: no configuration. */
  command(machine: string, args: readonly string[]): IntentdProcess {
    const { directory } = this.#projectOf(machine)
    const run = new IntentdProcess(args, { cwd: directory, waitMsMax: 240_000 })
    this.#runs.push(run)
    return run
  }

  run(machine: string, more: StartOptions = {}): IntentdProcess {
    return this.start(machine, ['run', '--summary', 'json'], more)
  }

  standby(machine: string, more: StartOptions = {}): IntentdProcess {
    return this.start(machine, ['standby', '--summary', 'json'], more)
  }

  /** In the configuration of one machine: for its next start or reload. */
  changeLease(machine: string, leaseMs: number): void {
    const project = this.#projectOf(machine)
    const config = JSON.parse(project.read(CONFIG_FILE)) as Record<string, object>
    config['journal'] = { ...config['journal'], leaseMs }
    project.write(CONFIG_FILE, JSON.stringify(config))
  }

  /**
   * On the server, as if it had been over for a day. Only where its holder is dead, or its own clock is set as well: else
   * nobody's clock says so.
   */
  async passLease(): Promise<void> {
    await this.#ask(
      `UPDATE "${this.#ground.asked.schema}".lease SET expires_at = expires_at - interval '1 day'`,
    )
  }

  /** The server ends the connection of the writer while a commit of it is under way. */
  async cutCommit(): Promise<void> {
    const held = await this.stopCommits()
    await held.cut()
    await held.release()
  }

  /** For so long no commit of the writer comes to its end. */
  async holdCommits(ms: number): Promise<void> {
    const held = await this.stopCommits()
    await new Promise<void>((resolve) => systemTimers.after(ms, resolve))
    await held.release()
  }

  /** No commit of the writer comes to its end from now on. */
  async stopCommits(): Promise<HeldCommits> {
    const { asked } = this.#ground
    const connection = new PostgresConnection(asked)
    const underWay = `FROM pg_stat_activity
      WHERE query LIKE '%"${asked.schema}".write_changes%' AND wait_event_type = 'Lock'`
    const untilCount = async (what: string): Promise<void> => {
      for (let count = 0; count === 0;) {
        const [row] = await connection.query(`SELECT count(${what}) AS count ${underWay}`)
        count = Number(row?.['count'])
      }
    }
    await connection.query('BEGIN')
    await connection.query(`LOCK TABLE "${asked.schema}".records IN ACCESS EXCLUSIVE MODE`)
    return {
      underWay: () => untilCount('pid'),
      cut: () => untilCount('pg_terminate_backend(pid)'),
      async release() {
        await connection.query('ROLLBACK')
        await connection.close()
      },
    }
  }

  /** Until something was filled and something rests after it: then a stop has something to take away. */
  static async trades(run: IntentdProcess): Promise<void> {
    await run.untilEvent('daemon.running')
    await run.until('3 batches answered', () => run.events('batch.answered').length >= 3)
  }

  /** Of one that has ended in good order: its journal, what it said at the end, and the exchange's ledger. */
  async compare(machine: string, { summary }: IntentdProcess): Promise<Differences> {
    const truth = await this.readTruth()
    return compareBooks({
      journalFile: this.journalFile(machine),
      mode: MODE,
      summary,
      truth,
      uid: this.#ground.uid,
    })
  }

  /** For whoever else starts something there: where, and with which keys. */
  placeOf(machine: string): {
    readonly directory: string
    readonly keys: Readonly<Record<string, string>>
  } {
    return { directory: this.#projectOf(machine).directory, keys: this.#ground.credentials }
  }

  /** What that machine has of the journal. */
  journalFile(machine: string): string {
    return join(this.#projectOf(machine).directory, STATE, REPLICA_FILE)
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.stop('SIGKILL')))
    await this.#ground.close()
    for (const project of this.#projects.values()) project.remove()
  }

  async #ask(sql: string): Promise<void> {
    const connection = new PostgresConnection(this.#ground.asked)
    await connection.query(sql)
    await connection.close()
  }

  #projectOf(machine: string): Project {
    const found = this.#projects.get(machine)
    if (found) return found
    const project = new Project()
    const policies = { onRestart: 'adopt', onStop: 'cancel' } as const
    const { url, config: more = {}, place } = this.#ground
    writeCrashConfig(project, { mode: MODE, url, size: SCENARIOS.normal.size, policies })
    const config = JSON.parse(project.read(CONFIG_FILE)) as Record<string, object>
    const journal = {
      url: place.url,
      schema: place.schema,
      leaseMs: this.#leaseMs,
      withoutTls: true,
    }
    for (const [part, settings] of Object.entries({ journal, ...more }))
      config[part] = { ...config[part], ...settings }
    project.write(CONFIG_FILE, JSON.stringify(config))
    this.#projects.set(machine, project)
    return project
  }
}
