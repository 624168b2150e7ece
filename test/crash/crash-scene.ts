import { join } from 'node:path'
import { throwKillSwitch } from '../../src/assembly/state/kill-switch.ts'
import { postCommand } from '../../src/daemon/account/command-inbox.ts'
import { IntentdProcess } from '../daemon/intentd-process.ts'
import { Project } from '../daemon/project.ts'
import { type Differences } from '../support/invariants/book-comparison.ts'
import { compareBooks } from './compare-books.ts'
import { CONFIG_FILE, STATE, WAIT_MS_MAX, writeCrashConfig } from './crash-config.ts'
import { CrashExchange, type CrashExchangeOptions } from './crash-exchange.ts'
import { type Policies } from './scenario.ts'

export interface SceneOptions extends CrashExchangeOptions {
  readonly onRestart: Policies['onRestart']
}

/** An exchange, a project of a daemon that trades on it, and whoever compares their books. */
export class CrashScene {
  readonly exchange: CrashExchange
  readonly #project: Project
  readonly #options: SceneOptions
  readonly #runs: IntentdProcess[] = []
  #url: string
  #onStop: Policies['onStop'] = 'cancel'

  private constructor(options: SceneOptions, exchange: CrashExchange) {
    this.#options = options
    this.exchange = exchange
    this.#project = new Project()
    this.#url = exchange.url
    this.#writeConfig()
  }

  static async open(options: SceneOptions): Promise<CrashScene> {
    return new CrashScene(options, await CrashExchange.start(options))
  }

  /** From the next start on the daemon finds its exchange there. */
  tradeAt(url: string): void {
    this.#url = url
    this.#writeConfig()
  }

  /** From the next start on the daemon stops like that. The last run is compared only after `cancel`. */
  stopLike(onStop: Policies['onStop']): void {
    this.#onStop = onStop
    this.#writeConfig()
  }

  /** Starts the daemon. `preload`: the address of a module that is loaded before it. */
  start(env: Readonly<Record<string, string>> = {}, preload?: string): IntentdProcess {
    const cwd = this.#project.directory
    const run = new IntentdProcess(['run', '-c', CONFIG_FILE, '--summary', 'json'], {
      cwd,
      env: { ...this.exchange.credentials, HOME: cwd, ...env },
      preload,
      waitMsMax: WAIT_MS_MAX,
    })
    this.#runs.push(run)
    return run
  }

  /** As `intentd kill` does. */
  throwSwitch(): void {
    throwKillSwitch(this.path(STATE), { reason: 'drill', by: 'crash' })
  }

  /** As `intentd release` does. */
  releaseSwitch(): void {
    postCommand(this.path(STATE), { kind: 'release', reason: 'drill', by: 'crash' })
  }

  /** A file of the scene's own. */
  path(name: string): string {
    return join(this.#project.directory, name)
  }

  /** Of a daemon that has ended in good order. */
  compare({ summary }: IntentdProcess): Differences {
    return compareBooks({
      journalFile: this.path(join(STATE, 'journal.sqlite')),
      mode: this.#options.mode,
      summary,
      truth: this.exchange.truth,
      uid: '1',
    })
  }

  /** Orders whose fate was not known for a while, at an answer that did not come or at a start. */
  get unknowns(): number {
    const logged = this.#runs.flatMap((run) => run.events('order.unknown'))
    const found = this.#runs.flatMap((run) => run.events('recovery.started'))
    return (
      new Set(logged.map(({ clientOid }) => clientOid)).size +
      found.reduce((sum, { unknownOrders }) => sum + Number(unknownOrders), 0)
    )
  }

  #writeConfig(): void {
    const { mode, scenario, onRestart } = this.#options
    const { size, ladder } = scenario
    const policies = { onRestart, onStop: this.#onStop }
    writeCrashConfig(this.#project, { mode, url: this.#url, size, ladder, policies })
  }

  async close(): Promise<void> {
    await Promise.all(this.#runs.map((run) => run.stop('SIGKILL')))
    await this.exchange.stop()
    this.#project.remove()
  }
}
