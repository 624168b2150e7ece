import type { Engine } from '../engine/engine.ts'
import type { StopPolicy } from '../engine/event.ts'
import type { Account } from './account/account.ts'
import type { AccountOff } from '../views/shown-account.ts'
import type { EmbeddedExchange } from './embedded/embedded-exchange.ts'
import type { OpenedControl } from './control/open-control.ts'
import type { MarketData } from './market-data/market-data.ts'
import type { Watchdog } from './watchdog/watchdog.ts'
import { headlineOf } from '../lib/failure.ts'
import type { RunSummary } from '../views/summary.ts'

export interface DaemonOptions {
  readonly market: MarketData
  readonly accounts: readonly Account[]
  /** Where the exchange runs inside this process. */
  readonly embedded: Pick<EmbeddedExchange, 'resume' | 'stop'> | undefined
  /** By which others look at it and command it; absent where nobody does. */
  readonly controls?: readonly OpenedControl[]
  /** Ends the process when it hangs. */
  readonly watchdog?: Pick<Watchdog, 'start' | 'stop'>
  readonly off?: readonly AccountOff[]
}

/**
 * How a run ended. `fatals`: what broke an account or kept it out: its keys, its journal that could not be written, the
 * program.
 */
export interface DaemonEnd {
  /** One an account, in their order. */
  readonly summaries: readonly RunSummary[]
  /** One for each account that broke or was kept out; first those that ran. */
  readonly fatals: readonly unknown[]
  /** No account was left. */
  readonly isBroken: boolean
}

/**
 * Market data and the accounts that trade on it, in one process. They start together, once the clock is synchronised.
 * An account that breaks, or whose keys are refused, is off; the others trade on, and the end says so.
 */
export class Daemon {
  readonly accounts: readonly Account[]
  readonly #market: MarketData
  readonly #embedded: DaemonOptions['embedded']
  readonly #controls: readonly OpenedControl[]
  readonly #off: readonly AccountOff[]
  readonly #watchdog: DaemonOptions['watchdog']
  /** Every account is at rest, and the market is not read any more. */
  readonly #quiet: Promise<void>
  /** Rejected where a loop hangs that the end would wait for. */
  readonly #givenUp = Promise.withResolvers<never>()

  constructor({ market, accounts, embedded, controls = [], watchdog, off = [] }: DaemonOptions) {
    this.accounts = accounts
    this.#market = market
    this.#embedded = embedded
    this.#controls = controls
    this.#off = off
    this.#watchdog = watchdog
    this.#givenUp.promise.catch(() => undefined)
    this.#quiet = Promise.all(accounts.map(({ atRest }) => atRest)).then(() => market.stop())
  }

  /**
   * Measures the exchange's clock, which must succeed before anything else, and begins the run. False when
   * the daemon was stopped or broke before that.
   */
  async start(): Promise<boolean> {
    this.#watchdog?.start({
      loops: [this.#market, ...this.accounts].flatMap(({ loops }) => loops),
      onHung: (failure) => this.fail(failure),
      onGivenUp: (failure) => this.#givenUp.reject(failure),
    })
    try {
      for (const account of this.accounts) account.listen()
      for (const control of this.#controls) await control.start()
      if (!(await Promise.race([this.#market.synchronise(), this.#givenUp.promise]))) return false
      this.#embedded?.resume()
      await Promise.all(this.accounts.map((account) => this.#admit(account)))
      if (this.#isBroken) return false
      for (const account of this.accounts) account.begin()
      this.#market.start()
    } catch (error) {
      this.fail(error)
    }
    return !this.#isBroken
  }

  /** Ends the run in good order, without a policy as each account's `onStop` says; {@link ended} says when that is done. */
  stop(policy?: StopPolicy): void {
    for (const account of this.accounts) account.stop(policy)
  }

  /**
   * What nobody caught, and whose it is: a strategy's harms that strategy (STR1), anything else breaks the run. False
   * for code of a strategy that does not run here: a reload has looked at it.
   */
  failBy(strategy: string | undefined, error: unknown): boolean {
    if (strategy !== undefined)
      return this.accounts.map((one) => one.failStrategy(strategy, error)).includes(true)
    this.fail(error)
    return true
  }

  /** The program broke: no account performs anything any more, and the run ends as fatal. */
  fail(error: unknown): void {
    for (const account of this.accounts) account.fail(error)
  }

  /** Why an account does not trade; undefined when all do, on fresh data and books that agree. */
  obstacle(): string | undefined {
    const [off] = this.#off
    if (off !== undefined) return `${off.config.name} is off: ${headlineOf(off.error)}`
    return this.accounts
      .map(({ health }) => health.obstacle())
      .find((reason) => reason !== undefined)
  }

  /** What each account has done since the last digest, a line each. */
  digest(): readonly string[] {
    return this.accounts.flatMap(({ health }) => health.digest())
  }

  /**
   * Resolves when everything has come to rest and is closed.
   * @throws Failure LOOP_HUNG where a loop that hangs would be waited for.
   */
  ended(): Promise<DaemonEnd> {
    return Promise.race([this.#closeAll(), this.#givenUp.promise])
  }

  async #closeAll(): Promise<DaemonEnd> {
    const [ends] = await Promise.all([
      Promise.all(this.accounts.map((account) => account.ended())),
      this.#quiet,
    ])
    await this.#market.close()
    // The ledger is read while the exchange still has it, and after whatever could still break.
    const summaries = this.accounts.map((account, index) => account.summary(ends[index]))
    await this.#embedded?.stop()
    for (const control of this.#controls) await control.stop()
    await this.#watchdog?.stop()
    return { summaries, fatals: this.#fatals, isBroken: this.#isBroken }
  }

  /** No account still reads what the exchange holds, or proves what became of old orders, of any instrument. */
  get isRecovered(): boolean {
    return this.accounts.every(
      ({ fatal, shown }) => fatal !== undefined || isRecovered(shown.engine),
    )
  }

  /** Grows each time the accounts have dealt with the passing of time, twenty times a second. */
  get heartbeat(): number {
    return this.#market.timeSteps
  }

  get #fatals(): readonly unknown[] {
    const broken = this.accounts.flatMap(({ fatal }) => (fatal === undefined ? [] : [fatal]))
    return [...broken, ...this.#off.map(({ error }) => error)]
  }

  get #isBroken(): boolean {
    return this.accounts.every(({ fatal }) => fatal !== undefined)
  }

  async #admit(account: Account): Promise<void> {
    try {
      await account.admit()
    } catch (error) {
      account.fail(error)
    }
  }
}

function isRecovered({ phase, unproved }: Pick<Engine, 'phase' | 'unproved'>): boolean {
  return phase === 'running' ? unproved.length === 0 : phase !== 'starting'
}
