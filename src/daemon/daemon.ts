import { type DaemonConfig } from '../config/load-config.ts'
import { type Book } from '../engine/book.ts'
import { bookToJson } from '../engine/book-json.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import { type StopPolicy } from '../engine/event.ts'
import { type EngineSettings } from '../engine/settings.ts'
import { ClockOffset } from '../exchange/clock-offset.ts'
import { ExchangeClient } from '../exchange/exchange-client.ts'
import { Limiter } from '../exchange/limiter.ts'
import { type Journal } from '../journal/journal.ts'
import { type Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/failure.ts'
import { type Timers } from '../lib/timers.ts'
import { AccountReader } from './account-reader.ts'
import { type EmbeddedExchange } from './embedded-exchange.ts'
import { type ExchangeAccess } from './exchange-access.ts'
import { type DaemonLogger } from './logger.ts'
import { OrderDoor } from './order-door.ts'
import { Pollers } from './pollers.ts'
import { Shell } from './shell.ts'
import { createRunners, type LoadedStrategy } from './strategies.ts'
import { buildSummary, type RunSummary } from './summary.ts'
import { Tally } from './tally.ts'

/** How long to wait before the exchange is asked for its time again. */
const CLOCK_RETRY_MS = 1000

export interface DaemonOptions {
  readonly config: DaemonConfig
  readonly settings: EngineSettings
  readonly strategies: readonly LoadedStrategy[]
  readonly journal: Journal
  /** Rebuilt from the journal. */
  readonly book: Book
  readonly access: ExchangeAccess
  /** Where the exchange lives inside this process. */
  readonly embedded: EmbeddedExchange | undefined
  readonly logger: DaemonLogger
  readonly clock: Clock
  readonly timers: Timers
}

/** How a run ended. `fatal`: the journal could not be written, or the program broke. */
export interface DaemonEnd {
  readonly summary: RunSummary
  readonly fatal: unknown
}

/**
 * One account's daemon in real time.
 *
 *     new ──start()──► syncing the clock ──► recovering, running (the core's modes) ──stop()──► stopping ──► ended
 *                                                └──────────── a broken journal or program ──────────────────┘
 */
export class Daemon {
  readonly #options: DaemonOptions
  readonly #engine: Engine
  readonly #tally = new Tally()
  readonly #client: ExchangeClient
  readonly #limiter: Limiter
  readonly #reader: AccountReader
  readonly #door: OrderDoor
  readonly #shell: Shell
  readonly #pollers: Pollers
  readonly #startedAt: number
  readonly #ended = Promise.withResolvers<{ clean: boolean; fatal: unknown }>()
  #tickersReadAt: number | undefined
  #hasBegun = false

  constructor(options: DaemonOptions) {
    const { config, settings, book, access, clock, timers, logger } = options
    this.#options = options
    this.#startedAt = clock.now()
    this.#engine = createEngine(settings, book)
    this.#tally.adopt(book)
    const offset = new ClockOffset({
      onJump: (jump) => logger.log.error({ ...jump }, 'clock.jumped'),
    })
    this.#limiter = new Limiter({ clock, timers, offset, use: config.exchange.limitsUse })
    this.#client = new ExchangeClient({
      baseUrl: access.baseUrl,
      credentials: access.credentials,
      positionMode: settings.positionMode,
      clock,
      timers,
      offset,
      limiter: this.#limiter,
      requestTimeoutMs: config.exchange.requestTimeoutMs,
      answerBytesMax: config.exchange.answerBytesMax,
      locale: config.exchange.locale,
    })
    const onBroken = (error: unknown) => this.#die(error)
    const dispatch = this.#dispatch
    const { productType, positionMode, instruments } = settings
    this.#reader = new AccountReader({
      client: this.#client,
      productType,
      positionMode,
      instruments,
      dispatch,
      onBroken,
    })
    this.#door = new OrderDoor({
      client: this.#client,
      limiter: this.#limiter,
      clock,
      dispatch,
      tickersReadAt: () => this.#tickersReadAt,
      onWrite: (_, causedAt) => {
        if (causedAt !== undefined) this.#tally.decisionLatency.record(clock.monotonic() - causedAt)
      },
      onBroken,
    })
    this.#shell = this.#createShell()
    this.#pollers = new Pollers({
      config,
      client: this.#client,
      offset,
      clock,
      timers,
      dispatch,
      onTickers: (readAt) => {
        this.#tickersReadAt = readAt
        this.#tally.snapshots += 1
      },
      onHandled: () => {
        this.#tickersReadAt = undefined
      },
      onDayRoll: () => logger.log.info({ ...this.summary(true).account }, 'day.rolled'),
      onError: (what, reason) => logger.log.error({ what, reason }, 'poll.failed'),
    })
  }

  /** Measures the exchange's clock, which must succeed before anything else, and begins the life. */
  async start(): Promise<void> {
    while (!(await this.#pollers.readTickers())) {
      if (this.#hasBegun) return
      await new Promise<void>((resolve) => this.#options.timers.after(CLOCK_RETRY_MS, resolve))
    }
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#dispatch({ kind: 'started' })
    this.#pollers.start()
  }

  /** Ends the run in good order; the end is told by {@link ended}. */
  stop(policy: StopPolicy): void {
    if (this.#hasBegun) this.#dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
    else this.#ended.resolve({ clean: true, fatal: undefined })
    this.#hasBegun = true
  }

  /** Resolves when everything has come to rest and is closed. */
  async ended(): Promise<DaemonEnd> {
    const { clean, fatal } = await this.#ended.promise
    await this.#pollers.stop()
    await Promise.all([this.#door.idle(), this.#reader.idle()])
    this.#shell.close()
    const summary = this.summary(clean)
    await this.#client.close()
    await this.#limiter.stop()
    this.#closeJournal(fatal)
    await this.#options.embedded?.stop()
    return { summary, fatal }
  }

  /** The run so far. */
  summary(clean: boolean): RunSummary {
    const { settings, book, clock, embedded } = this.#options
    return buildSummary({
      settings,
      book,
      tally: this.#tally,
      denied: this.#engine.denied,
      clean,
      durationMs: clock.now() - this.#startedAt,
      polls: this.#pollers.stats,
      limiter: this.#limiter.statistics(),
      positions: this.#reader.positions,
      exchange: embedded?.ledger(),
    })
  }

  readonly #dispatch: Shell['dispatch'] = (event) => this.#shell.dispatch(event)

  #createShell(): Shell {
    const { journal, book, strategies, clock, logger, embedded } = this.#options
    return new Shell({
      engine: this.#engine,
      journal,
      runners: createRunners(strategies, book.strategyStates, clock),
      door: this.#door,
      reader: this.#reader,
      tally: this.#tally,
      clock,
      announce: (announcement) => logger.announce(announcement),
      onQuiesced: () => embedded?.pause(),
      onStopped: (clean) => this.#ended.resolve({ clean, fatal: undefined }),
      onFatal: (error) => this.#die(error),
    })
  }

  #die(error: unknown): void {
    this.#shell.close()
    this.#options.logger.log.fatal({ reason: messageOf(error) }, 'daemon.broken')
    this.#ended.resolve({ clean: false, fatal: error })
  }

  /** A journal that could not be written is left as it is: recovery reads what reached the disk. */
  #closeJournal(fatal: unknown): void {
    const { journal, book } = this.#options
    try {
      if (fatal === undefined) journal.saveCheckpoint(bookToJson(book))
      journal.close()
    } catch (error) {
      this.#options.logger.log.error({ reason: messageOf(error) }, 'journal.notClosed')
    }
  }
}
