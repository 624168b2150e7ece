import { type DaemonConfig } from '../config/load-config.ts'
import { type Book, killOf } from '../engine/book/book.ts'
import { bookToJson } from '../engine/book/book-json.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import { type EngineCommand, type EngineEvent, type StopPolicy } from '../engine/event.ts'
import { type EngineSettings } from '../engine/settings.ts'
import { type ExchangeClient } from '../exchange/exchange-client.ts'
import { type Limiter } from '../exchange/limiter/limiter.ts'
import { type TrustedClock } from '../exchange/clock/trusted-clock.ts'
import { type Journal } from '../journal/journal.ts'
import { type Clock } from '../lib/clock.ts'
import { Failure, messageOf } from '../lib/failure.ts'
import { type Timers } from '../lib/timers.ts'
import { Interpreter } from '../interpreter/interpreter.ts'
import { type Ports } from '../interpreter/ports.ts'
import { promptJournal } from '../interpreter/prompt-journal.ts'
import { Retreat } from '../interpreter/retreat.ts'
import { ClientExchange } from './account/client-exchange.ts'
import { type EmbeddedExchange } from './embedded/embedded-exchange.ts'
import { type ExchangeAccess } from '../exchange/client/exchange-access.ts'
import { mergeFeeds } from './market-data/feed-plan.ts'
import { Feeds } from './market-data/feeds.ts'
import { KillSwitch } from './account/kill-switch.ts'
import { DiskSpace } from './state/disk-space.ts'
import { createRecorder } from './recording/create-recorder.ts'
import { type FlightRecorder } from './recording/flight-recorder.ts'
import { createClient, createLimiter } from './account/exchange-calls.ts'
import { type DaemonLogger } from './reporting/logger.ts'
import { EventLog } from './reporting/event-log.ts'
import { type ControlCommand, CommandInbox } from './account/command-inbox.ts'
import { Pollers } from './market-data/pollers.ts'
import { forgetRetreat, retreatNote } from './account/retreat-note.ts'
import { createRunners, type LoadedStrategy } from './strategies/strategies.ts'
import { buildSummary, type RunSummary } from './reporting/summary.ts'
import { RunStatistics } from './reporting/run-statistics.ts'

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
  /** Where the exchange runs inside this process. */
  readonly embedded: EmbeddedExchange | undefined
  readonly logger: DaemonLogger
  /** Never jumps; the daemon's own. */
  readonly clock: Clock
  /** The same, with the exchange's, and whether both are sure. */
  readonly trusted: TrustedClock
  readonly timers: Timers
  /** The journal is closed: another daemon may take the state over. */
  readonly onClosed: () => void
  /** Of this state: where the journal is. */
  readonly directory: string
}

/** How a run ended. `fatal`: what broke it, the journal that could not be written or the program. */
export interface DaemonEnd {
  readonly summary: RunSummary
  readonly fatal: unknown
}

/**
 * One account's daemon in real time.
 *
 *     new ──start()──► syncing the clock ──► recovering, running (the core's modes) ──stop()──► stopping ──► ended
 *                            └──stop()──┐            └───────── a broken journal or program ────────────────┐  ▲
 *                                       └──────────────────────────────────────────────────────────────────┴──┘
 */
export class Daemon {
  readonly #options: DaemonOptions
  readonly #engine: Engine
  readonly #statistics = new RunStatistics()
  readonly #client: ExchangeClient
  readonly #limiter: Limiter
  readonly #exchange: ClientExchange
  readonly #ports: Ports
  readonly #interpreter: Interpreter
  readonly #pollers: Pollers
  readonly #feeds: Feeds
  readonly #eventLog: EventLog
  readonly #killSwitch: KillSwitch
  readonly #inbox: CommandInbox
  readonly #space: DiskSpace
  readonly #recorder: FlightRecorder | undefined
  readonly #startedAt: number
  readonly #ended = Promise.withResolvers<boolean>()
  #tickersReadAt: number | undefined
  #state: 'new' | 'syncing' | 'begun' | 'over' = 'new'
  #wasBegun = false
  #wake = (): void => undefined
  #fatal: unknown

  constructor(options: DaemonOptions) {
    const { config, settings, book, clock, trusted, timers, logger } = options
    this.#options = options
    this.#startedAt = clock.now()
    this.#engine = createEngine(settings, book)
    this.#statistics.adopt(book)
    this.#eventLog = new EventLog({ logger, instruments: settings.instruments, clock, timers })
    this.#listenToClock()
    this.#limiter = createLimiter(options)
    this.#client = createClient(options, this.#limiter)
    this.#killSwitch = this.#createKillSwitch()
    this.#inbox = this.#createInbox()
    this.#space = this.#createDiskSpace()
    this.#recorder = createRecorder(options, this.#engine)
    this.#exchange = this.#createExchange()
    this.#ports = this.#createPorts()
    this.#interpreter = new Interpreter(this.#engine, this.#ports)
    const dispatch = this.#dispatch
    const onRead = (what: string) => this.#eventLog.noteRead(what)
    const onError = (what: string, reason: string) => logger.log('error', 'poll.failed', { what, reason })
    const feeds = mergeFeeds(options.strategies.flatMap((strategy) => strategy.feeds))
    this.#feeds = new Feeds({ feeds, client: this.#client, clock, timers, dispatch, onRead, onError })
    this.#pollers = new Pollers({
      config,
      client: this.#client,
      trusted,
      timers,
      dispatch,
      onTickers: (readAt) => {
        this.#tickersReadAt = readAt
        this.#statistics.snapshots += 1
      },
      onHandled: () => {
        this.#tickersReadAt = undefined
      },
      onRead,
      onTime: () => void this.#killSwitch.isThrown(),
      onOperator: () => this.#inbox.empty(),
      onDayRoll: () => logger.log('info', 'day.rolled', { ...this.summary(true).account }),
      onError,
    })
  }

  /**
   * Measures the exchange's clock, which must succeed before anything else, and begins the run. False when
   * the daemon was stopped or broke before that.
   */
  async start(): Promise<boolean> {
    if (this.#state !== 'new') return false
    this.#state = 'syncing'
    this.#recorder?.start()
    try {
      while (this.#isSyncing() && !this.#options.trusted.isSynchronised) {
        if (!(await this.#pollers.readTickers())) await this.#waitForExchange()
      }
      if (!this.#isSyncing()) return false
      this.#state = 'begun'
      this.#wasBegun = true
      this.#options.embedded?.resume()
      this.#dispatch({ kind: 'started' })
      this.#killSwitch.isThrown()
      this.#space.start()
      this.#pollers.start()
      this.#feeds.start()
    } catch (error) {
      this.fail(error)
    }
    return this.#fatal === undefined
  }

  /** Ends the run in good order; {@link ended} says when that is done. */
  stop(policy: StopPolicy): void {
    if (this.#state === 'begun') this.#command({ kind: 'stop', policy })
    else this.#end(true)
  }

  /** Something broke that must not: nothing is performed any more, and the run ends as fatal. */
  fail(error: unknown): void {
    this.#interpreter.close()
    this.#eventLog.flush()
    this.#options.logger.log('fatal', 'daemon.broken', { reason: messageOf(error), ...placeOf(error) })
    this.#fatal ??= error
    if (isPoisoned(error)) this.#space.giveBallast()
    this.#end(false)
  }

  /** Resolves when everything has come to rest and is closed. */
  async ended(): Promise<DaemonEnd> {
    const clean = await this.#ended.promise
    this.#space.stop()
    const retreated = this.#retreat()
    await Promise.all([this.#pollers.stop(), this.#feeds.stop()])
    await Promise.all([this.#exchange.idle(), retreated])
    this.#interpreter.close()
    this.#eventLog.flush()
    await this.#client.close()
    await this.#limiter.stop()
    this.#closeJournal()
    await this.#recorder?.close()
    // The ledger is read while the exchange still has it, and after whatever could still break.
    const summary = this.summary(clean && this.#fatal === undefined)
    await this.#options.embedded?.stop()
    return { summary, fatal: this.#fatal }
  }

  /** The run so far. */
  summary(clean: boolean): RunSummary {
    const { settings, book, clock, embedded } = this.#options
    return buildSummary({
      settings,
      book,
      statistics: this.#statistics,
      denied: this.#engine.denied,
      clean,
      durationMs: clock.now() - this.#startedAt,
      polls: this.#pollers.stats,
      limiter: this.#limiter.statistics(),
      positions: this.#exchange.positions,
      exchange: embedded?.ledger(),
    })
  }

  /** Without its journal the daemon places nothing, and takes away what it may (order protocol, 3). */
  async #retreat(): Promise<void> {
    if (!isPoisoned(this.#fatal) || !this.#wasBegun) return
    const { config, settings, book } = this.#options
    await new Promise<unknown>((resolve) =>
      new Retreat({
        ports: this.#ports,
        // A kill whose record did not reach the disk is a kill.
        policy: killOf(book) !== undefined || this.#killSwitch.isThrown() ? 'cancel' : config.onStop,
        onRestart: config.onRestart,
        instruments: [...settings.instruments.values()],
        isSending: () => this.#interpreter.isSending,
        patienceMs: settings.execution.stopTimeoutMs,
        onEnd: resolve,
      }).start(),
    )
  }

  readonly #dispatch = (event: EngineEvent): void => this.#interpreter.dispatch(event)

  #isSyncing(): boolean {
    return this.#state === 'syncing'
  }

  /** Until it is time to ask again, or nobody wants to know any more. */
  #waitForExchange(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.timers.after(CLOCK_RETRY_MS, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }

  /** The core hears at once that the clock is not synchronised any more; that it is again, with the next tickers. */
  #listenToClock(): void {
    const { trusted, logger } = this.#options
    trusted.listen({
      onUnsynchronised: (movedMs) => {
        logger.log('warn', 'clock.moved', { movedMs })
        this.#dispatch({ kind: 'clockUnsynchronised', reason: `this machine's clock moved by ${movedMs} ms` })
      },
      onSettled: (verdict, jump) => logger.log('warn', `clock.${verdict}`, { ...jump }),
      onJump: (jump) => logger.log('error', 'clock.jumped', { ...jump }),
    })
  }

  #createKillSwitch(): KillSwitch {
    const { config, clock, timers, logger } = this.#options
    return new KillSwitch({
      directory: config.state.directory,
      clock,
      // Seen in the middle of a write: the core hears of it after that.
      onThrown: (note) => timers.after(0, () => this.#command({ kind: 'kill', ...note })),
      onTrouble: (reason) => logger.log('error', 'kill.notWrittenDown', { reason }),
    })
  }

  #createDiskSpace(): DiskSpace {
    const { config, directory, timers, logger } = this.#options
    return new DiskSpace({
      directory,
      freeBytesMin: config.state.freeBytesMin,
      timers,
      onChange: (isLow, freeBytes) => this.#dispatch({ kind: 'spaceMeasured', isLow, freeBytes }),
      onTrouble: (reason) => logger.log('warn', 'disk.notMeasured', { reason }),
    })
  }

  #createInbox(): CommandInbox {
    const { config, logger } = this.#options
    return new CommandInbox({
      directory: config.state.directory,
      onCommand: (command) => this.#obey(command),
      onUnreadable: (file, reason) => logger.log('warn', 'operator.unreadable', { file, reason }),
    })
  }

  #obey({ scope, reason, by }: ControlCommand): void {
    if (scope === undefined) return this.#command({ kind: 'releaseKill', reason, by })
    return this.#command({ kind: 'release', scope, reason, by })
  }

  #command(command: EngineCommand): void {
    if (this.#state === 'begun') this.#dispatch({ kind: 'commanded', command })
  }

  #createExchange(): ClientExchange {
    const { settings, clock } = this.#options
    return new ClientExchange({
      client: this.#client,
      settings,
      onRead: (what) => this.#eventLog.noteRead(what),
      onBatch: () => {
        const causedAt = this.#tickersReadAt
        return () => {
          if (causedAt !== undefined) this.#statistics.decisionLatency.record(clock.monotonic() - causedAt)
        }
      },
      onBroken: (error) => this.fail(error),
    })
  }

  #createPorts(): Ports {
    const { journal, book, strategies, directory, clock, trusted, timers, embedded, logger } = this.#options
    return {
      clock,
      timers,
      journal: promptJournal(journal),
      grants: this.#limiter,
      exchange: this.#exchange,
      safety: {
        isClockSynchronised: () => trusted.isSynchronised,
        isKilled: () => this.#killSwitch.isThrown(),
      },
      strategies: createRunners(strategies, book.strategyStates, clock),
      announcements: {
        announce: (announcement) => this.#eventLog.announce(announcement),
        killState: (state) => this.#killSwitch.note(state),
        quiesced: () => embedded?.pause(),
        stopped: (clean) => this.#end(clean),
        broken: (error) => this.fail(error),
      },
      note: retreatNote(directory, logger),
      listener: {
        stepped: (step) => this.#recorder?.keep(step),
        recorded: (record) => {
          this.#statistics.observe(record, book)
          this.#eventLog.observe(record)
        },
        decided: (intents) => this.#statistics.countIntents(intents),
      },
    }
  }

  #end(clean: boolean): void {
    this.#state = 'over'
    this.#wake()
    this.#ended.resolve(clean)
  }

  /** A journal that could not be written is left as it is: recovery reads what reached the disk. */
  #closeJournal(): void {
    const { journal, book, directory, logger } = this.#options
    try {
      if (this.#fatal === undefined) {
        journal.saveCheckpoint(bookToJson(book))
        forgetRetreat(directory)
      }
    } catch (error) {
      this.fail(error)
    }
    try {
      journal.close()
    } catch (error) {
      logger.log('error', 'journal.notClosed', { reason: messageOf(error) })
    }
    this.#options.onClosed()
  }
}

/** The journal could not be written. */
function isPoisoned(error: unknown): boolean {
  return error instanceof Failure && error.code === 'JOURNAL_POISONED'
}

/** Where a defect showed; a failure explains itself. */
function placeOf(error: unknown): { readonly stack?: string } {
  if (error instanceof Failure || !(error instanceof Error) || error.stack === undefined) return {}
  return { stack: error.stack }
}
