import type { Engine } from '../engine/engine.ts'
import type { StopPolicy } from '../engine/event.ts'
import type { Account } from './account/account.ts'
import type { UnopenedAccount } from '../views/shown-account.ts'
import type { EmbeddedExchange } from './embedded/embedded-exchange.ts'
import type { OpenedControl } from './control/open-control.ts'
import type { MarketData } from './market-data/market-data.ts'
import type { ClosedTradeLog } from './reporting/closed-trade-log.ts'
import type { Watchdog } from './watchdog/watchdog.ts'
import { headlineOf } from '../lib/failure.ts'
import type { ReloadRecord } from '../domain/record.ts'
import { showCoin } from '../domain/coin-amount.ts'
import { viewEquity } from '../views/losses-view.ts'
import { viewProfit } from '../views/money-view.ts'
import type { RunSummary } from '../views/summary.ts'

export interface DaemonOptions {
  readonly market: MarketData
  readonly accounts: readonly Account[]
  readonly embedded: Pick<EmbeddedExchange, 'resume' | 'stop'> | undefined
  readonly controls?: readonly OpenedControl[]
  readonly watchdog?: Pick<Watchdog, 'start' | 'stop'>
  readonly off?: readonly UnopenedAccount[]
  readonly tradeLogs?: readonly Pick<ClosedTradeLog, 'finish'>[]
}

export interface DaemonEnd {
  readonly summaries: readonly RunSummary[]
  readonly fatals: readonly unknown[]
  readonly isBroken: boolean
}

/**
 * Accounts start together, once the clock is synchronised. One that breaks, or whose keys are
 * refused, is off; the others trade on.
 */
export class Daemon {
  readonly accounts: readonly Account[]
  readonly #market: MarketData
  readonly #embedded: DaemonOptions['embedded']
  readonly #controls: readonly OpenedControl[]
  readonly #off: readonly UnopenedAccount[]
  readonly #watchdog: DaemonOptions['watchdog']
  readonly #tradeLogs: NonNullable<DaemonOptions['tradeLogs']>
  readonly #quiet: Promise<void>
  /** Rejects if the end would wait for a loop that hangs. */
  readonly #givenUp = Promise.withResolvers<never>()

  constructor(options: DaemonOptions) {
    const {
      market,
      accounts,
      embedded,
      controls = [],
      watchdog,
      off = [],
      tradeLogs = [],
    } = options
    this.accounts = accounts
    this.#market = market
    this.#embedded = embedded
    this.#controls = controls
    this.#off = off
    this.#watchdog = watchdog
    this.#tradeLogs = tradeLogs
    this.#givenUp.promise.catch(() => undefined)
    this.#quiet = Promise.all(accounts.map(({ atRest }) => atRest)).then(() => market.stop())
  }

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

  /** Called before the stop, so that the journals say what ended the run. */
  noteReload(facts: Pick<ReloadRecord, 'changes' | 'reason' | 'by'>): void {
    for (const account of this.accounts) account.command({ kind: 'reload', ...facts })
  }

  stop(policy?: StopPolicy): void {
    for (const account of this.accounts) account.stop(policy)
  }

  hasToBegin(policy?: StopPolicy): boolean {
    return this.accounts.some((account) => account.hasToBegin(policy))
  }

  /**
   * A strategy's error harms only that strategy (STR1); any other breaks the run. False for a
   * strategy that a reload only loaded.
   */
  failBy(strategy: string | undefined, error: unknown): boolean {
    if (strategy !== undefined)
      return this.accounts.map((one) => one.failStrategy(strategy, error)).includes(true)
    this.fail(error)
    return true
  }

  /** A defect stops all accounts, and the run ends as fatal. */
  fail(error: unknown): void {
    for (const account of this.accounts) account.fail(error)
  }

  /**
   * @returns why an account does not trade; undefined if all do, on fresh data and consistent books
   */
  obstacle(): string | undefined {
    const [off] = this.#off
    if (off !== undefined) return `${off.config.name} is off: ${headlineOf(off.error)}`
    return this.accounts
      .map(({ health }) => health.obstacle())
      .find((reason) => reason !== undefined)
  }

  digest(): readonly string[] {
    return this.accounts.flatMap(({ health }) => health.digest())
  }

  equityOf(name: string | undefined): string | undefined {
    const account = this.accounts.find(
      ({ shown }) => (name ?? shown.config.name) === shown.config.name,
    )
    if (account === undefined) return undefined
    const { shown } = account
    const { equity } = viewEquity(shown, viewProfit(shown))
    const { marginCoin } = shown.config.account
    return equity === null ? undefined : `${showCoin(Number(equity), marginCoin)} ${marginCoin}`
  }

  /** Resolves when everything is at rest and closed. @throws Failure LOOP_HUNG */
  ended(): Promise<DaemonEnd> {
    return Promise.race([this.#closeAll(), this.#givenUp.promise])
  }

  async #closeAll(): Promise<DaemonEnd> {
    const [ends] = await Promise.all([
      Promise.all(this.accounts.map((account) => account.ended())),
      this.#quiet,
    ])
    await this.#market.close()
    // Summaries are read before the exchange stops, and after all that could still break.
    const summaries = this.accounts.map((account, index) => account.summary(ends[index]))
    await this.#embedded?.stop()
    await Promise.all(this.#tradeLogs.map((log) => log.finish()))
    for (const control of this.#controls) await control.stop()
    await this.#watchdog?.stop()
    return { summaries, fatals: this.#fatals, isBroken: this.#isBroken }
  }

  get isRecovered(): boolean {
    return this.accounts.every(
      ({ fatal, shown }) => fatal !== undefined || isRecovered(shown.engine),
    )
  }

  /** Grows twenty times a second, after the accounts have handled the passing of time. */
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
