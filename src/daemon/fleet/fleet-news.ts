import type { Alert } from '../../alerts/alert.ts'
import { AlertRules } from '../../alerts/rules/alert-rules.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { FleetAlert, FleetNews, FleetState } from '../../journal/journal.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Account } from '../account/account.ts'
import { viewAccount } from '../../views/account-view.ts'
import type { DaemonLogger } from '../../logging/logger.ts'

const WAITING_MAX = 100
/** Keeps a row at a few hundred bytes; the daemon itself shows the rest. */
const LISTED_MAX = 20
const RULES = { repeatMs: 600_000, lastingMs: 60_000, repeatsMin: 5 }

interface ShowingOptions {
  readonly config: Pick<DaemonConfig, 'alerts'>
  readonly version: string
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Pick<DaemonLogger, 'log' | 'listen'>
}

/** Failures are logged once, and affect nothing else. */
export class ServerNews implements FleetNews {
  readonly #options: ShowingOptions
  readonly #rules: AlertRules
  #waiting: FleetAlert[] = []
  #taken = 0
  #account: Pick<Account, 'shown'> | undefined
  #isUnable = false
  #isOver = false

  constructor(options: ShowingOptions) {
    this.#options = options
    this.#rules = new AlertRules(options.config.alerts ?? RULES)
    options.logger.listen(({ event, fields }) => {
      if (this.#isOver) return
      try {
        this.#add(this.#rules.hear(event, fields, options.clock.now()))
      } catch (error) {
        // A defect of alerts must not harm the caller.
        this.#isOver = true
        this.onShown(messageOf(error))
      }
    })
  }

  watch(account: Pick<Account, 'shown'>): void {
    this.#account = account
  }

  end(): void {
    this.#isOver = true
  }

  news(): ReturnType<FleetNews['news']> {
    this.#add(this.#rules.due(this.#options.clock.now()))
    this.#taken = this.#waiting.length
    return { state: this.#state(), alerts: [...this.#waiting] }
  }

  onShown(trouble?: string): void {
    const { logger } = this.#options
    if (trouble === undefined) this.#waiting.splice(0, this.#taken)
    if (this.#isUnable === (trouble !== undefined)) return
    this.#isUnable = trouble !== undefined
    if (trouble === undefined) logger.log('info', 'fleet.shown')
    else logger.log('warn', 'fleet.unable', { reason: trouble })
  }

  #state(): FleetState {
    const { version } = this.#options
    if (this.#account === undefined) return { version }
    const view = viewAccount(this.#account.shown, '')
    return {
      version,
      phase: view.phase,
      mode: view.mode,
      equity: view.equity,
      coin: view.coin,
      held: view.restrictions
        .slice(0, LISTED_MAX)
        .map(({ scope, mode, code, reason }) => `${scope} ${mode} (${code}): ${reason}`),
      openOrders: Object.values(view.openOrders).reduce((sum, count) => sum + count, 0),
      positions: view.positions
        .slice(0, LISTED_MAX)
        .map(({ symbol, side, size }) => `${symbol} ${side} ${size}`),
    }
  }

  #add(alerts: readonly Alert[]): void {
    for (const { urgency, event, title, lines } of alerts)
      this.#waiting.push({ urgency, event, title, lines })
    const above = this.#waiting.length - WAITING_MAX
    if (above <= 0) return
    this.#waiting.splice(0, above)
    this.#taken = Math.max(0, this.#taken - above)
  }
}
