import { refusesKeys } from '../../domain/answer.ts'
import { killOf } from '../../engine/book/book.ts'
import { createEngine, type Engine } from '../../engine/engine.ts'
import type { InstrumentSteps } from '../../domain/instrument.ts'
import {
  type EngineCommand,
  type EngineEvent,
  isByHand,
  type StopPolicy,
} from '../../engine/event.ts'
import { describeDropped } from '../../engine/lifecycle/flatten.ts'
import { Interpreter } from '../../interpreter/interpreter.ts'
import type { Ports } from '../../interpreter/ports.ts'
import { Retreat, type RetreatEnd } from '../../interpreter/retreat.ts'
import { Pollers, type WatchedLoop } from '../../lib/poller.ts'
import { SignalInbox } from './signal-inbox.ts'
import { WrittenRecords } from './written-records.ts'
import type { SignalOutcome } from '../../control/signals/signal-gate.ts'
import type { Signal } from '../../domain/signal.ts'
import {
  closeRunners,
  closingThreadsOf,
  feedsOf,
  pausedOf,
} from '../../assembly/strategies/strategies.ts'
import { CandleFetcher } from '../market-data/candle-fetcher.ts'
import { type ContractsFetcher, openContractsFetcher } from '../market-data/contracts-fetcher.ts'
import { Feeds } from '../market-data/feeds.ts'
import type { MarketListener } from '../market-data/market-data.ts'
import { createRecorder, createUniverseKeeper } from '../recording/create-recorder.ts'
import type { FlightRecorder } from '../recording/flight-recorder.ts'
import type { UniverseKeeper } from '../recording/universe-keeper.ts'
import { AccountCurve, AccountMarks, PlotLog } from '../reporting/account-curves.ts'
import { EventLog } from '../reporting/event-log.ts'
import { Health } from '../reporting/health.ts'
import { type MarginWatch, openMarginWatch } from '../reporting/margin-watch.ts'
import { type AccountOptions, ObserverQueue, createPorts } from './account-ports.ts'
import { HttpExchangePort } from './http-exchange-port.ts'
import { RecentActivity } from '../../views/recent-activity.ts'
import { RunStatistics } from '../../views/run-statistics.ts'
import { buildSummary, type RunSummary } from '../../views/summary.ts'
import { listUnattended, type UnattendedPosition } from '../../views/unattended.ts'
import { JournalPace } from '../../views/journal-pace.ts'
import { WishTimes } from '../../views/wishes.ts'
import { DiskSpace } from './disk-space.ts'
import { ownWriter } from '../../assembly/account/own-writer.ts'
import { keepGrids } from '../../assembly/state/known-grids.ts'
import type { KillNote } from '../../assembly/state/kill-switch.ts'
import { haltHungStrategy } from '../watchdog/hang-note.ts'
import { codeNameOf } from '../../strategy/load-strategy.ts'
import { keysRefused, noteOwnState, toRefusal } from '../../assembly/account/account-keys.ts'
import { isWriteFailure } from '../../journal/journal-failures.ts'
import { isBarred, logFatal, retreatPolicy, closeJournal } from './breakdown.ts'
import type { CommandAnswer } from './command-inbox.ts'
import { type EarlyStop, logEarlyEnd, needsBegin } from './early-stop.ts'
import {
  judgeRelease,
  judgeScope,
  listenToOperator,
  type Operator,
  withUsedKey,
} from './listen-to-operator.ts'
import { readRoundsOf } from '../../assembly/settings/read-pace.ts'
import type { ShownAccount } from '../../views/shown-account.ts'
import { viewEquity } from '../../views/losses-view.ts'
import { viewProfit } from '../../views/money-view.ts'

const HEALTH_STEP_MS = 1000
const OPERATOR_STEP_MS = 250

/**
 * One account (ARCHITECTURE.md, "Accounts"):
 *
 *     new ──listen()──► listening ──begin()──► begun: recovering, running (the core's modes) ──stop()──► at rest
 *                           └──stop()──┐           └───────── a broken journal or program ────────────────┐  ▲
 *                                      └──────────────────────────────────────────────────────────────────┴──┘
 */
export class Account implements MarketListener {
  readonly #options: AccountOptions
  readonly #engine: Engine
  readonly #observers: ObserverQueue
  readonly #health: Health
  readonly #statistics = new RunStatistics()
  readonly #pace: JournalPace
  readonly #exchange: HttpExchangePort
  readonly #ports: Ports
  readonly #interpreter: Interpreter
  readonly #polls: Pollers
  readonly #feeds: Feeds
  readonly #candles: CandleFetcher
  readonly #contracts: ContractsFetcher | undefined
  readonly #margin: MarginWatch | undefined
  readonly #eventLog: EventLog
  readonly #operator: Operator
  readonly #space: DiskSpace
  readonly #recorder: FlightRecorder | undefined
  readonly #universeKeeper: UniverseKeeper | undefined
  readonly #startedAt: number
  readonly #grids: Map<string, InstrumentSteps>
  readonly #recent: RecentActivity
  readonly #curve: AccountCurve
  readonly #marks: AccountMarks
  readonly #wishes = new WishTimes()
  readonly #plots: PlotLog
  readonly #signals: SignalInbox
  readonly #written: WrittenRecords
  readonly #rest = Promise.withResolvers<boolean>()
  #state: 'new' | 'begun' | 'atRest' = 'new'
  #hasBegun = false
  #fatal: unknown
  #retreatEnd: RetreatEnd | undefined

  constructor(options: AccountOptions) {
    const { settings, book, calls, logger, timers } = options
    const { clock } = options.trusted
    this.#options = options
    this.#startedAt = clock.now()
    this.#observers = new ObserverQueue(timers, (error) => this.fail(error))
    this.#pace = new JournalPace({ clock, logger })
    this.#engine = createEngine(settings, book)
    this.#statistics.adopt(book)
    this.#grids = new Map(keepGrids(options.directory, settings.instruments))
    this.#recent = this.#createRecent()
    this.#curve = this.#createCurve()
    this.#marks = new AccountMarks({ ...options, shown: () => this.shown })
    this.#plots = new PlotLog({ ...options, clock, settings: this.#engine.settings })
    const { dryRun } = options.config
    this.#eventLog = new EventLog({ logger, grids: this.#grids, clock, isDry: dryRun })
    this.#written = new WrittenRecords(options.journal, (error) => this.fail(error))
    this.#operator = listenToOperator(options, {
      onCommand: (command) => this.command(command),
      whenWritten: (done) => this.#written.when(done),
      killedAt: () => killOf(this.#engine.book)?.at,
    })
    this.#space = this.#createDiskSpace()
    this.#recorder = createRecorder({ ...options, clock }, this.#engine)
    this.#universeKeeper = createUniverseKeeper({ ...options, clock })
    this.#exchange = this.#createExchange()
    this.#health = this.#createHealth()
    this.#signals = new SignalInbox((event) => this.#dispatch(event), timers)
    this.#ports = createPorts({
      ...options,
      limiter: calls.limiter,
      exchange: this.#exchange,
      killSwitch: this.#operator.killSwitch,
      observers: this.#observers,
      eventLog: this.#eventLog,
      statistics: this.#statistics,
      pace: this.#pace,
      recent: this.#recent,
      wishes: this.#wishes,
      plots: this.#plots,
      health: this.#health,
      signals: this.#signals,
      recorder: this.#recorder,
      joined: () => this.#followRoster(),
      quiesced: () => options.onQuiesced?.(),
      stopped: (clean) => this.#comeToRest(clean),
      broken: (error) => this.fail(error),
    })
    this.#interpreter = new Interpreter(this.#engine, this.#ports)
    const onError = (what: string, reason: string) =>
      logger.log('error', 'poll.failed', { what, reason })
    this.#polls = this.#addPolls(new Pollers({ clock, timers, onError }))
    this.#candles = this.#createCandleFetcher()
    this.#contracts = openContractsFetcher({
      ...options,
      isKept: this.#universeKeeper !== undefined,
      dispatch: (event) => this.#hearContracts(event),
    })
    this.#margin = openMarginWatch(options)
    const feeds = feedsOf(options.strategies, 'private')
    this.#feeds = new Feeds({
      feeds,
      client: calls.client,
      clock,
      timers,
      dispatch: this.#dispatch,
      onError,
    })
  }

  get atRest(): Promise<boolean> {
    return this.#rest.promise
  }

  get fatal(): unknown {
    return this.#fatal
  }

  get health(): Health {
    this.#observers.flush()
    return this.#health
  }

  get loops(): readonly WatchedLoop[] {
    const { calls, runners } = this.#options
    return [
      ...this.#polls.loops.map((loop) => ({ ...loop, isCalling: false })),
      ...this.#feeds.loops,
      ...closingThreadsOf(runners),
      {
        name: 'account calls',
        intervalMs: 0,
        isCalling: true,
        turn: () => calls.client.oldestCall,
      },
    ]
  }

  listen(): void {
    this.#recorder?.start()
    this.#universeKeeper?.start()
    this.#options.market.listen(this)
  }

  /**
   * Refused keys, or those of another account, end the run before anything is recorded. If the
   * exchange does not answer, nothing is proved.
   * @throws Failure CREDENTIALS_REFUSED, STATE_OF_OTHER_KEYS
   */
  async admit(): Promise<void> {
    const { config, settings, calls, directory, access, ledger, journal, trusted } = this.#options
    const [instrument] = settings.instruments.values()
    if (this.#state !== 'new' || instrument === undefined || ledger !== undefined) return
    const answer = await calls.client.readPosition({ instrument })
    if (refusesKeys(answer)) throw keysRefused(answer, config.account.keys)
    const own = ownWriter(config, { directory, access, now: trusted.clock.now() })
    await noteOwnState(journal, own, { directory, isAccepted: answer.kind === 'accepted' })
  }

  begin(): void {
    const { directory, logger, timers } = this.#options
    if (this.#state !== 'new') return
    this.#state = 'begun'
    this.#hasBegun = true
    this.#sayUnattended()
    this.#dispatch({ kind: 'started' })
    this.#operator.killSwitch.check()
    // A thrown kill switch comes before commands that were given before the start, and these before
    // the first order.
    timers.after(0, () => {
      this.#operator.inbox.empty()
      haltHungStrategy(directory, logger, (halt, onRecorded) => {
        if (this.command(halt)) this.#written.when((isWritten) => isWritten && onRecorded())
      })
    })
    this.#space.start()
    this.#polls.start()
    this.#feeds.start()
    this.#candles.start()
    this.#contracts?.start()
    this.#margin?.start()
  }

  hear(event: EngineEvent, readAt?: number): void {
    if (this.#state === 'atRest') return
    if (event.kind === 'timePassed') this.#operator.killSwitch.check()
    if (event.kind === 'snapshotTaken') this.#statistics.snapshots += 1
    this.#interpreter.dispatch(event, readAt)
    this.#universeKeeper?.hear(event)
  }

  rollDay(): void {
    if (this.#state === 'begun')
      this.#options.logger.log('info', 'day.rolled', { allRuns: this.summary().allRuns })
    this.health.rollDay()
  }

  /** In each state of a run. @returns the file; undefined if it could not be written */
  throwKill(note: KillNote): string | undefined {
    return this.#operator.killSwitch.throw(note)
  }

  /** False: the run broke down first, so the journal may have the last commands or not. */
  untilWritten(): Promise<boolean> {
    if (this.#state !== 'begun') return Promise.resolve(this.#fatal === undefined)
    return new Promise((resolve) => this.#written.when(resolve))
  }

  /**
   * Takes all commands, which act in memory at once: {@link untilWritten}. Undefined: the command
   * was not carried out, because the run has not begun, has ended, or could not write the journal.
   */
  command(given: EngineCommand): CommandAnswer | undefined {
    if (this.#state !== 'begun') return undefined
    const { settings, book, trusted, journal } = this.#options
    const command = withUsedKey(given, journal)
    const { restrictions } = book
    const before = [...restrictions]
    const { killSwitch } = this.#operator
    const isKilled = killOf(book) !== undefined
    const isThrown = killSwitch.check()
    // The core must get a kill that was just seen before the release of it.
    if (command.kind === 'releaseKill' && isThrown && !isKilled) return undefined
    const refusal = command.kind === 'adopt' ? this.#engine.objectToAdoption(command) : undefined
    const plan = isByHand(command) ? this.#engine.planByHand(command) : undefined
    const release = command.kind === 'release' ? judgeRelease(this.#engine, command) : undefined
    // The core judges later: what is too early for it is too early here.
    const now = trusted.clock.now()
    this.#dispatch({ kind: 'commanded', command })
    if (this.#fatal !== undefined) return undefined
    const lifted = before
      .filter(([key]) => !restrictions.has(key))
      .map(([, restriction]) => restriction)
    const judged = judgeScope(command, { book, settings, now })
    if (lifted.length > 0)
      this.#sayUnattended(({ symbol }) => judged.unclaimed?.[symbol] !== undefined)
    return {
      held: [...restrictions.values()],
      lifted,
      stillHeld: describeDropped({ book, settings }, lifted),
      ...(this.#engine.phase === 'starting' && { isStarting: true }),
      ...(refusal !== undefined && { refusal }),
      ...(plan?.refusal !== undefined && { refusal: plan.refusal }),
      ...(plan?.detail !== undefined && { detail: plan.detail }),
      ...(plan?.holds !== undefined && { holds: plan.holds }),
      killFiles: isKilled || isThrown ? killSwitch.files : [],
      ...(judged.coolsDownUntil === undefined && release),
      ...judged,
    }
  }

  /** Undefined before the run has begun, after its end, or if the signal is not durable in time. */
  takeSignal(signal: Signal): Promise<SignalOutcome> {
    return this.#state === 'begun' ? this.#signals.take(signal) : Promise.resolve(undefined)
  }

  stop(policy: StopPolicy = this.#options.config.onStop): void {
    if (this.#state === 'begun') this.command({ kind: 'stop', policy })
    else if (this.#state === 'new')
      this.#comeToRest(logEarlyEnd(this.#earlyStop(policy), this.#options.logger))
  }

  /** True where a stop has to wait for the begin, to cancel or close what the last run left. */
  hasToBegin(policy: StopPolicy = this.#options.config.onStop): boolean {
    return this.#state === 'new' && needsBegin(this.#earlyStop(policy))
  }

  /**
   * @param name the strategy's id, name or loaded code @returns false if this account has none such
   */
  failStrategy(name: string, error: unknown): boolean {
    const failed = this.#options.strategies.filter(
      (one) =>
        one.id === name || one.name === name || (one.strategy && codeNameOf(one.strategy)) === name,
    )
    for (const { id } of failed) this.#options.runners.get(id)?.breakDown(error)
    return failed.length > 0
  }

  fail(error: unknown): void {
    this.#interpreter.close()
    this.#fatal ??= error
    try {
      this.#observers.flush()
      logFatal(this.#options.logger, error)
    } finally {
      if (isWriteFailure(error)) this.#space.giveBallast()
      this.#comeToRest(false)
      this.#written.fail()
    }
  }

  async ended(): Promise<boolean> {
    const { client, limiter } = this.#options.calls
    const isClean = await this.#rest.promise
    this.#observers.flush()
    this.#signals.close()
    this.#space.stop()
    const retreated = this.#retreat()
    await Promise.all([
      this.#polls.stop(),
      this.#feeds.stop(),
      this.#candles.stop(),
      this.#contracts?.stop(),
      this.#margin?.stop(),
    ])
    await Promise.all([this.#exchange.idle(), retreated])
    this.#interpreter.close()
    this.#observers.flush()
    await client.close()
    await limiter.stop()
    await closeRunners(this.#options.runners)
    await closeJournal({
      ...this.#options,
      isWhole: this.#fatal === undefined,
      onBroken: (error) => this.fail(error),
    })
    this.#options.onClosed()
    await this.#recorder?.close()
    await this.#universeKeeper?.close()
    return isClean && this.#fatal === undefined
  }

  get shown(): ShownAccount {
    const { config, settings, book, trusted, market, calls, runners } = this.#options
    this.#observers.flush()
    return {
      config,
      settings,
      book,
      sequence: this.#options.journal.lastSequence,
      trusted,
      grids: this.#grids,
      engine: this.#engine,
      state: this.#state,
      openedAt: this.#startedAt,
      fatal: this.#fatal,
      retreat: this.#retreatEnd,
      killFile: this.#state === 'atRest' ? this.#operator.killSwitch.standingFile : undefined,
      paused: pausedOf(runners),
      tickers: market.tickers,
      vanished: this.#health.vanished,
      late: this.#health.late,
      failingReads: this.#eventLog.failingReads,
      positions: this.#exchange.positions,
      limiter: calls.limiter.statistics(),
      journalTrouble: this.#options.journal.trouble,
      statistics: this.#statistics,
      pace: this.#pace,
      recent: this.#recent,
      wishes: this.#wishes,
      equityBefore: this.#curve.before(),
    }
  }

  summary(clean = true): RunSummary {
    const { config, settings, book, trusted, market, calls, ledger } = this.#options
    this.#observers.flush()
    return buildSummary({
      settings,
      configured: config.strategies,
      grids: this.#grids,
      book,
      statistics: this.#statistics,
      engine: this.#engine,
      clean,
      isDry: config.dryRun,
      fatal: this.#fatal,
      durationMs: trusted.clock.now() - this.#startedAt,
      polls: market.polls,
      limiter: calls.limiter.statistics(),
      positions: this.#exchange.positions,
      exchange: ledger?.(),
    })
  }

  readonly #dispatch = (event: EngineEvent): void => this.#interpreter.dispatch(event)

  async #retreat(): Promise<void> {
    if (this.#fatal === undefined || !this.#hasBegun) return
    const { config, settings, journal } = this.#options
    const isKilled = this.#isKilled
    await new Promise<unknown>((resolve) =>
      new Retreat({
        ports: this.#ports,
        policy: retreatPolicy({ config, journal, isKilled, error: this.#fatal }),
        onRestart: config.onRestart,
        instruments: [...settings.instruments.values()],
        isSending: () => this.#interpreter.isSending,
        isBarred: () => isBarred(journal),
        patienceMs: settings.execution.stopTimeoutMs,
        onEnd: (end) => resolve((this.#retreatEnd = end)),
      }).start(),
    )
  }

  #sayUnattended(isMeant: (position: UnattendedPosition) => boolean = () => true): void {
    const { config, settings, book, logger } = this.#options
    const account = { settings, strategies: config.strategies, book, grids: this.#grids }
    for (const position of listUnattended(account).filter(isMeant))
      logger.log('warn', 'position.unattended', { ...position })
  }

  #createRecent(): RecentActivity {
    const { config, journal, trusted } = this.#options
    return new RecentActivity({
      timeZone: config.calendar.timezone,
      now: () => trusted.clock.now(),
      booked: (kind, since) => journal.bookings(kind, { since }),
    })
  }

  #createCurve(): AccountCurve {
    const { journal, trusted, logger } = this.#options
    const read = () => {
      if (this.#state !== 'begun') return undefined
      const { shown } = this
      const profit = viewProfit(shown)
      return { profit, ...viewEquity(shown, profit) }
    }
    return new AccountCurve({ journal, read, clock: trusted.clock, logger })
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

  #addPolls(pollers: Pollers): Pollers {
    const { fillsMs, positionsMs } = this.#options.config.polling
    pollers.add('fills', fillsMs, () => this.#dispatch({ kind: 'pollDue', what: 'fills' }))
    pollers.add('positions', positionsMs, () =>
      this.#dispatch({ kind: 'pollDue', what: 'positions' }),
    )
    pollers.add('operator', OPERATOR_STEP_MS, () => this.#operator.inbox.empty())
    pollers.add('health', HEALTH_STEP_MS, () => {
      this.health.look()
      this.#curve.look()
      this.#marks.look()
      this.#plots.look()
    })
    return pollers
  }

  #createCandleFetcher(): CandleFetcher {
    const { config, settings, book, calls, past, trusted, timers, logger } = this.#options
    return new CandleFetcher({
      isAllowed: config.exchange.beyondDocument,
      caller: past ?? calls.client,
      productType: config.account.productType,
      settings,
      book,
      exchangeNow: () => trusted.offset.exchangeNow(trusted.clock.now()),
      timers,
      dispatch: this.#dispatch,
      logger,
    })
  }

  #hearContracts(event: EngineEvent): void {
    this.#universeKeeper?.hear(event)
    this.#dispatch(event)
  }

  #followRoster(): void {
    const { directory, settings } = this.#options
    for (const [symbol, steps] of keepGrids(directory, settings.instruments))
      this.#grids.set(symbol, steps)
    this.#candles.follow()
  }

  #createHealth(): Health {
    const { config, trusted } = this.#options
    return new Health({
      ...this.#options,
      engine: this.#engine,
      statistics: this.#statistics,
      positions: this.#exchange.positions,
      summary: () => this.summary(),
      fatal: () => this.#fatal,
      paused: () => pausedOf(this.#options.runners),
      pace: this.#pace,
      clock: trusted.clock,
      heartbeatMs: config.log.heartbeatMs,
      rounds: readRoundsOf(config, this.#options),
    })
  }

  #createExchange(): HttpExchangePort {
    const { settings, calls, trusted } = this.#options
    return new HttpExchangePort({
      client: calls.client,
      settings,
      clock: trusted.clock,
      onRefused: (answer) => {
        const { message: reason } = toRefusal(answer, this.#options.config)
        this.#options.logger.log('error', 'account.refused', { reason })
      },
      onWithheld: this.#options.config.dryRun
        ? (endpoint, body) =>
            this.#options.logger.log('debug', 'dryRun.withheld', { endpoint, body })
        : undefined,
      onBroken: (error) => this.fail(error),
    })
  }

  #earlyStop(policy: StopPolicy): EarlyStop {
    return { book: this.#options.book, policy, isKilled: this.#isKilled }
  }

  get #isKilled(): boolean {
    return killOf(this.#options.book) !== undefined || this.#operator.killSwitch.isThrown
  }

  #comeToRest(clean: boolean): void {
    if (this.#fatal === undefined) this.#curve.noteLast()
    this.#state = 'atRest'
    this.#rest.resolve(clean)
  }
}
