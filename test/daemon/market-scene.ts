import { AlertRules } from '../../src/alerts/rules/alert-rules.ts'
import { type LogFacts } from '../../src/alerts/rules/facts.ts'
import { MarketData } from '../../src/daemon/market-data/market-data.ts'
import { EventLog } from '../../src/daemon/reporting/event-log.ts'
import { Health } from '../../src/daemon/reporting/health.ts'
import { RunStatistics } from '../../src/views/run-statistics.ts'
import { type Intent } from '../../src/domain/intent.ts'
import { type LogEvent } from '../../src/domain/log-events.ts'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { type ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { EngineBench, SYMBOL, TIMED_OUT } from '../engine/engine-bench.ts'
import { ManualTime } from '../support/manual-time.ts'

export const POLL_MS = 250
export const LASTING_MS = 60_000

/**
 * Clocks, market data, core, log, health and alerts as in a daemon that trades, in time that a test moves, on an
 * exchange whose clock is right at first and that answers.
 */
export class MarketScene {
  readonly bench = new EngineBench().start()
  readonly startAt = this.bench.now
  readonly time = new ManualTime(this.startAt)
  readonly trusted = new TrustedClock(this.time)
  readonly exchange = { aheadMs: 0, answers: true }
  /** What the strategy answers to each snapshot. */
  readonly wanted: Intent[] = []
  readonly logged: string[] = []
  readonly alerts: string[] = []
  readonly #follows: (event: LogEvent) => boolean
  readonly #rules = new AlertRules({ repeatMs: 600_000, lastingMs: LASTING_MS, repeatsMin: 3 })
  readonly #log = (event: LogEvent, facts: LogFacts = {}): void => {
    if (!this.#follows(event)) return
    this.logged.push(event)
    for (const { urgency } of this.#rules.hear(event, facts, this.time.monotonic()))
      this.alerts.push(`${urgency}: ${event}`)
  }
  readonly #eventLog = new EventLog({
    clock: this.trusted.clock,
    grids: new Map(),
    logger: {
      log: (_level: string, event: LogEvent, facts?: LogFacts) => this.#log(event, facts),
    } as never,
  })
  readonly #health = new Health({
    settings: this.bench.settings,
    engine: this.bench.engine,
    clock: this.trusted.clock,
    heartbeatMs: 0,
    statistics: new RunStatistics(),
    positions: new Map(),
    fatal: () => undefined,
    paused: () => new Map(),
    pace: {
      look: () => undefined,
      late: undefined,
    },
    rounds: {
      fillsMs: 500,
      positionsMs: 1e3,
    },
    summary: () => ({}) as never,
    logger: { log: (_, event, facts) => this.#log(event, facts) },
  })
  readonly #marketData = new MarketData({
    config: {
      polling: {
        tickersMs: POLL_MS,
        fillsMs: 500,
        positionsMs: 1e3,
      },
      calendar: {
        funding: '0 0 0 * * *',
        dayRoll: '0 0 0 * * *',
        timezone: 'UTC',
      },
    },
    client: { readTickers: (table: TickerTable) => this.#readTickers(table) } as never,
    limiter: new Limiter({
      clock: this.time,
      timers: this.time,
    }),
    feeds: [],
    products: [
      {
        productType: 'USDT-FUTURES',
        symbols: [],
      },
    ],
    trusted: this.trusted,
    timers: this.time,
    logger: { log: (_, event, facts) => this.#log(event, facts) },
  })
  readonly #market = this.#marketData.of('USDT-FUTURES')

  /** @param follows Which lines of the log are looked at. */
  constructor(follows: (event: LogEvent) => boolean = () => true) {
    this.#follows = follows
    this.bench.take('announce')
    this.#market.listen({ hear: (event) => this.#hear(event), rollDay: () => undefined })
  }

  elapsedMs(): number {
    return this.trusted.clock.now() - this.startAt
  }

  async poll(): Promise<void> {
    await this.time.pass(POLL_MS)
    await this.#market.readTickers()
    await this.time.pass(0)
  }

  /** Polls for so long, looks at its health once a second, and has alerts come due. */
  async pollFor(ms: number): Promise<void> {
    for (const endAt = this.elapsedMs() + ms; this.elapsedMs() < endAt;) {
      await this.poll()
      if (this.elapsedMs() % 1000 === 0) this.#health.look()
      this.alerts.push(...this.lasting())
    }
  }

  asksToPlace(): boolean {
    return this.bench.take('askGrant').some(({ endpoint }) => endpoint === 'batchPlaceOrder')
  }

  /** Alerts of what lasts for long enough now. */
  lasting(): readonly string[] {
    return this.#rules
      .due(this.time.monotonic())
      .map(({ urgency, title }) => `${urgency}: ${title}`)
  }

  #hear(event: EngineEvent): void {
    const { bench } = this
    bench.now = this.trusted.clock.now()
    this.#health.hear(event)
    this.#eventLog.hear(event)
    bench.step(event)
    if (bench.take('decide').length > 0) bench.decide(...this.wanted)
    for (const announced of bench.take('announce')) this.#eventLog.announce(announced)
  }

  #readTickers(table: TickerTable): ReturnType<ExchangeClient['readTickers']> {
    const { trusted, exchange } = this
    if (!exchange.answers) return Promise.resolve(TIMED_OUT)
    const sentAt = trusted.clock.now()
    table.requestTime = this.startAt + this.time.monotonic() + exchange.aheadMs
    const row = table.claimRow(SYMBOL)
    const values = {
      bidPr: 10_000,
      askPr: 10_000.1,
      lastPr: 10_000,
      ts: table.requestTime,
    } as const
    for (const [column, value] of Object.entries(values))
      table.columns[column as 'bidPr'][row] = value
    table.readAt = sentAt
    // Something of the account is read as often.
    for (const origin of ['signed', 'public'] as const)
      trusted.offset.observe({ requestTime: table.requestTime, sentAt, receivedAt: sentAt }, origin)
    return Promise.resolve({ kind: 'accepted', data: table, receivedAt: sentAt })
  }
}
