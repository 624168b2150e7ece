import { type DaemonConfig } from '../../config/load-config.ts'
import { type TickerTable } from '../../domain/ticker-table.ts'
import { type EngineEvent } from '../../engine/event.ts'
import { type ExchangeClient } from '../../exchange/exchange-client.ts'
import { type TrustedClock } from '../../exchange/clock/trusted-clock.ts'
import { type Limiter } from '../../exchange/limiter/limiter.ts'
import { messageOf } from '../../lib/failure.ts'
import { type Timers } from '../../lib/timers.ts'
import { Calendar } from '../../market/calendar.ts'
import { type PollGrid, type PollGridStats } from '../../market/poll-grid.ts'
import { PollGrids } from '../../market/poll-grids.ts'
import { TickerBuffers } from '../../market/ticker-buffers.ts'
import { type DaemonLogger } from '../reporting/logger.ts'
import { type WatchedLoop } from '../watchdog/loop-deadlines.ts'
import { type Feed } from './feed-plan.ts'
import { Feeds } from './feeds.ts'

/** How often the core gets an event that time has passed, in ms: every wait that it counts is rounded to this. */
const TIME_STEP_MS = 50
/** How long to wait before the exchange is asked for its time again. */
const CLOCK_RETRY_MS = 1000

/** An instrument whose ticker stays unreadable is logged this often, in ms. */
const UNREADABLE_LOGGED_EVERY_MS = 3_600_000

/** Whoever trades on these prices. */
export interface MarketListener {
  /** What it hears it has dealt with when this returns. `readAt`: with tickers, when they were read, monotonic ms. */
  hear(event: EngineEvent, readAt?: number): void
  rollDay(): void
}

export interface MarketDataOptions {
  readonly config: Pick<DaemonConfig, 'account' | 'instruments' | 'polling' | 'calendar'>
  /** For public endpoints; closed with the market data. */
  readonly client: Pick<ExchangeClient, 'send' | 'readTickers' | 'close' | 'oldestCall'>
  /** Of the address: those of the accounts share it. */
  readonly limiter: Limiter
  /** Public ones that any strategy asked for. */
  readonly feeds: readonly Feed[]
  /** Never jumps; with the exchange's, and whether both are synchronised. */
  readonly trusted: TrustedClock
  readonly timers: Timers
  readonly logger: Pick<DaemonLogger, 'log'>
}

/**
 * What is the same for all accounts: tickers, public feeds, the exchange's clock, the calendar and the passing of
 * time. Each is read once and heard by all, in one turn: a ticker table is filled again later.
 *
 *     new ──synchronise()──► synchronised ──start()──► polling ──stop()──► stopped ──close()──► closed
 *                └────────────────────────stop()───────────────────────────┘
 */
export class MarketData {
  readonly limiter: Limiter
  readonly #options: MarketDataOptions
  readonly #listeners: MarketListener[] = []
  readonly #buffers = new TickerBuffers()
  readonly #grids: PollGrids
  readonly #tickers: PollGrid
  readonly #feeds: Feeds
  readonly #calendar: Calendar
  /** When the unreadable ticker of an instrument was logged, monotonic ms. */
  readonly #unreadableLoggedAt = new Map<string, number>()
  #timeSteps = 0
  #isStopped = false
  #wake = (): void => undefined

  constructor(options: MarketDataOptions) {
    const { config, client, limiter, feeds, trusted, timers } = options
    const { clock } = trusted
    const onError = (what: string, reason: string) => this.#reportDefect(what, reason)
    this.limiter = limiter
    this.#options = options
    this.#grids = new PollGrids({ clock, timers, onError })
    this.#tickers = this.#grids.add('tickers', config.polling.tickersMs, () => this.readTickers())
    this.#grids.add('time', TIME_STEP_MS, () => this.#passTime())
    const dispatch = (event: EngineEvent) => this.#publish(event)
    this.#feeds = new Feeds({ feeds, client, clock, timers, dispatch, onError })
    this.#calendar = this.#createCalendar()
    this.#listenToClock()
  }

  /** From now on it hears everything. */
  listen(listener: MarketListener): void {
    this.#listeners.push(listener)
  }

  /** Measures the exchange's clock, which must succeed before anything else. False: stopped before that. */
  async synchronise(): Promise<boolean> {
    const { trusted } = this.#options
    while (!this.#isStopped && !trusted.isSynchronised) {
      if (!(await this.readTickers())) await this.#waitForExchange()
    }
    return !this.#isStopped
  }

  start(): void {
    if (this.#isStopped) return
    this.#grids.start()
    this.#calendar.start()
    this.#feeds.start()
  }

  /** Resolves when nothing is read any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await Promise.all([this.#calendar.stop(), this.#grids.stop(), this.#feeds.stop()])
  }

  /** No account calls from this address any more. */
  async close(): Promise<void> {
    await this.#options.client.close()
    await this.limiter.stop()
  }

  /** How often everybody has heard that time has passed. */
  get timeSteps(): number {
    return this.#timeSteps
  }

  /** Of the ticker grid, which wakes the strategies. */
  get polls(): PollGridStats {
    return this.#tickers.stats
  }

  /** What has to go on for prices and time to reach the accounts. */
  get loops(): readonly WatchedLoop[] {
    const { client } = this.#options
    return [
      ...this.#grids.loops.map((loop) => ({ ...loop, isCalling: loop.name === 'tickers' })),
      ...this.#feeds.loops,
      { name: 'calls', intervalMs: 0, isCalling: true, turn: () => client.oldestCall },
    ]
  }

  /** The newest tickers; undefined before the first. */
  get tickers(): TickerTable | undefined {
    return this.#buffers.current
  }

  #passTime(): void {
    this.#publish({ kind: 'timePassed' })
    this.#timeSteps++
  }

  /** Reads all tickers once into the spare table; everybody hears of the clock first, then of the prices. */
  async readTickers(): Promise<boolean> {
    const { client, config, trusted } = this.#options
    const table = this.#buffers.spare()
    const answer = await client.readTickers(table, config.account.productType)
    if (answer.kind !== 'accepted') {
      const reason = `${answer.kind} ${answer.code}: ${answer.message}`
      this.#publish({ kind: 'readFailed', what: 'tickers', reason, status: answer.status })
      return false
    }
    const readAt = trusted.clock.monotonic()
    this.#publishClock(readAt)
    // The cores go on looking at a later answer: to publish this one would have that table filled again.
    if (table.requestTime >= (this.#buffers.current?.requestTime ?? 0)) {
      this.#buffers.publish(table)
      this.#logUnreadable(table, readAt)
      this.#publish({ kind: 'snapshotTaken', tickers: table }, readAt)
    }
    return true
  }

  /** MKT4: an instrument of ours has no prices, others have theirs. */
  #logUnreadable({ unreadable }: TickerTable, now: number): void {
    if (unreadable.size === 0) return
    for (const symbol of Object.keys(this.#options.config.instruments)) {
      const reason = unreadable.get(symbol)
      const loggedAt = this.#unreadableLoggedAt.get(symbol) ?? Number.NEGATIVE_INFINITY
      if (reason === undefined || now - loggedAt < UNREADABLE_LOGGED_EVERY_MS) continue
      this.#unreadableLoggedAt.set(symbol, now)
      this.#options.logger.log('warn', 'ticker.unreadable', { symbol, reason })
    }
  }

  #publish(event: EngineEvent, readAt?: number): void {
    for (const listener of this.#listeners) listener.hear(event, readAt)
  }

  #publishClock(readAt: number): void {
    const { trusted } = this.#options
    if (trusted.isSynchronised) {
      return this.#publish({ kind: 'clockSynchronised', offsetMs: trusted.offset.offsetMs }, readAt)
    }
    this.#publish({ kind: 'clockUnsynchronised', reason: "the exchange's time is not confirmed yet" }, readAt)
  }

  /** Until it is time to ask again, or nobody wants to know any more. */
  #waitForExchange(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve()
      const cancel = this.#options.timers.after(CLOCK_RETRY_MS, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  /** That the clock is not synchronised any more is heard at once; that it is again, with the next tickers. */
  #listenToClock(): void {
    const { trusted, logger } = this.#options
    trusted.listen({
      onUnsynchronised: (movedMs) => {
        logger.log('warn', 'clock.moved', { movedMs })
        this.#publish({
          kind: 'clockUnsynchronised',
          reason: `this machine's clock moved by ${movedMs} ms`,
        })
      },
      onSettled: (verdict, jump) => logger.log('warn', `clock.${verdict}`, { ...jump }),
      onJump: (jump) => logger.log('error', 'clock.jumped', { ...jump }),
    })
  }

  /** Funding changes positions' counters at known times; the day rolls. */
  #createCalendar(): Calendar {
    const { funding, dayRoll, timezone: timeZone } = this.#options.config.calendar
    const job = (name: string, pattern: string, run: () => void) => ({
      ...{ name, pattern, timeZone, run },
      onError: (error: unknown) => this.#reportDefect(`calendar ${name}`, messageOf(error)),
    })
    return new Calendar([
      job('funding', funding, () => this.#publish({ kind: 'pollDue', what: 'positions' })),
      job('dayRoll', dayRoll, () => {
        for (const listener of this.#listeners) listener.rollDay()
      }),
    ])
  }

  #reportDefect(what: string, reason: string): void {
    this.#options.logger.log('error', 'poll.failed', { what, reason })
  }
}
