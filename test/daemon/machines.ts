import { join } from 'node:path'
import { REPLICA_FILE } from '../../src/daemon/state/state-place.ts'
import { Connection, type PostgresPlace } from '../../src/journal/postgres/connection.ts'
import { compareBooks } from '../crash/compare-books.ts'
import { CONFIG_FILE, STATE, writeCrashConfig } from '../crash/crash-config.ts'
import { CrashExchange } from '../crash/crash-exchange.ts'
import { SCENARIOS } from '../crash/scenario.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { IntentdProcess } from './intentd-process.ts'
import { Project } from './project.ts'

const MODE = 'one_way_mode'
/** No test waits for its end, however busy the machine is: see {@link Machines.passLease}. */
const LEASE_MS = 120_000

/** Some machines that could trade one account, its journal on a server, and the exchange. */
export class Machines {
  readonly exchange: CrashExchange
  readonly #place: PostgresPlace
  readonly #leaseMs: number
  readonly #projects = new Map<string, Project>()
  readonly #runs: IntentdProcess[] = []

  private constructor(exchange: CrashExchange, place: PostgresPlace, leaseMs: number) {
    this.exchange = exchange
    this.#leaseMs = leaseMs
    this.#place = place
  }

  static async open(place: PostgresPlace, leaseMs = LEASE_MS): Promise<Machines> {
    const given = { seed: 7, mode: MODE, reading: 'replay', scenario: SCENARIOS.normal } as const
    return new Machines(await CrashExchange.start(given), place, leaseMs)
  }

  /** @param env Beside the keys of the account. */
  start(
    machine: string,
    args: readonly string[],
    { env = {}, preload }: { readonly env?: Record<string, string>; readonly preload?: string } = {},
  ): IntentdProcess {
    const cwd = this.#projectOf(machine).directory
    const [verb = '', ...rest] = args
    const run = new IntentdProcess([verb, '-c', CONFIG_FILE, ...rest], {
      cwd,
      env: { ...this.exchange.credentials, XDG_STATE_HOME: cwd, ...env },
      preload,
      waitMsMax: 120_000,
    })
    this.#runs.push(run)
    return run
  }

  /** With what is said alone: no configuration. */
  command(machine: string, args: readonly string[]): IntentdProcess {
    const { directory } = this.#projectOf(machine)
    const run = new IntentdProcess(args, { cwd: directory, waitMsMax: 120_000 })
    this.#runs.push(run)
    return run
  }

  run(machine: string, more: Parameters<Machines['start']>[2] = {}): IntentdProcess {
    return this.start(machine, ['run', '--summary', 'json'], more)
  }

  standby(machine: string, more: Parameters<Machines['start']>[2] = {}): IntentdProcess {
    return this.start(machine, ['standby', '--summary', 'json'], more)
  }

  /** On the server, as if it had been over for a day. Only where its holder is dead: nobody's clock says so. */
  async passLease(): Promise<void> {
    await this.#ask(`UPDATE "${this.#place.schema}".lease SET expires_at = expires_at - interval '1 day'`)
  }

  /** The server ends the connection of the writer while a commit of it is under way. */
  async cutCommit(): Promise<void> {
    const connection = new Connection(this.#place)
    const underWay = `FROM pg_stat_activity
      WHERE query LIKE '%"${this.#place.schema}".write_changes%' AND wait_event_type = 'Lock'`
    await connection.query('BEGIN')
    await connection.query(`LOCK TABLE "${this.#place.schema}".records IN ACCESS EXCLUSIVE MODE`)
    for (let cut = 0; cut === 0;) {
      const [row] = await connection.query(`SELECT count(pg_terminate_backend(pid)) AS cut ${underWay}`)
      cut = Number(row?.['cut'])
    }
    await connection.query('ROLLBACK')
    await connection.close()
  }

  /** Until something was filled and something rests after it: then a stop has something to take away. */
  static async trades(run: IntentdProcess): Promise<void> {
    await run.untilEvent('daemon.running')
    await run.until('3 batches answered', () => run.events('batch.answered').length >= 3)
  }

  /** Of one that has ended in good order: its journal, what it said at the end, and the exchange's ledger. */
  compare(machine: string, { summary }: IntentdProcess): Differences {
    const directory = this.#projectOf(machine).directory
    return compareBooks({
      journalFile: join(directory, STATE, REPLICA_FILE),
      ...{ mode: MODE, summary, truth: this.exchange.truth, uid: '1' },
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.stop('SIGKILL')))
    await this.exchange.stop()
    for (const project of this.#projects.values()) project.remove()
  }

  async #ask(sql: string): Promise<void> {
    const connection = new Connection(this.#place)
    await connection.query(sql)
    await connection.close()
  }

  #projectOf(machine: string): Project {
    const found = this.#projects.get(machine)
    if (found) return found
    const project = new Project()
    const policies = { onRestart: 'adopt', onStop: 'cancel' } as const
    writeCrashConfig(project, { mode: MODE, url: this.exchange.url, size: SCENARIOS.normal.size, policies })
    const { url, schema } = this.#place
    const config = JSON.parse(project.read(CONFIG_FILE)) as object
    project.write(
      CONFIG_FILE,
      JSON.stringify({ ...config, journal: { url, schema, leaseMs: this.#leaseMs } }),
    )
    this.#projects.set(machine, project)
    return project
  }
}
