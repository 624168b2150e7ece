import type { OpenAccount } from '../assembly/account/account-setup.ts'
import type { ContractRules } from '../domain/contract-rules.ts'
import type { StrategyId } from '../domain/ids.ts'
import { type Book, createBook, killOf } from '../engine/book/book.ts'
import type { Equity } from '../domain/loss-limits.ts'
import type { Announcement } from '../engine/effect.ts'
import type { StopPolicy, EngineEvent } from '../engine/event.ts'
import { type Engine, createEngine } from '../engine/engine.ts'
import type { EndpointStatistics } from '../exchange/limiter/endpoint-queue.ts'
import type {
  JournalPort,
  RunListener,
  AnnouncementsPort,
  ExchangePort,
  Interruptions,
  Ports,
  RetreatNotePort,
} from '../interpreter/ports.ts'
import type { ExchangeCore } from '../simulator/futures/exchange-core.ts'
import type { LedgerStatement } from '../simulator/futures/accounts/ledger-view.ts'
import {
  DirectExchange,
  type DirectExchangeOptions,
  UID,
  type SimulatedExchange,
} from './direct-exchange.ts'
import { DirectNetwork, type Network, type Gate, type VirtualWire } from './virtual-wire.ts'
import {
  type PlayedFeed,
  type PlayedEvent,
  playFeeds,
  type VirtualPolling,
  VirtualPollers,
} from './virtual-pollers.ts'
import { VirtualTime } from './virtual-time.ts'
import { copyRoster } from '../engine/state/roster.ts'
import { TrustedClock } from '../exchange/clock/exchange-clock.ts'
import { Limiter, type LimiterOptions } from '../exchange/limiter/limiter.ts'
import { Interpreter } from '../interpreter/interpreter.ts'
import type { Clock } from '../lib/clock.ts'
import type { Strategy } from '../strategy/define-strategy.ts'
import { StrategyRunner } from '../strategy/strategy-runner.ts'
import { VirtualCalls, type VirtualCallsOptions } from './virtual-calls.ts'
import type { TokenPool, TokenPoolOptions } from '../exchange/limiter/call-window.ts'
import type { JournalRecord, StrategyKey, UsedKey } from '../domain/record.ts'
import type { Booking } from '../journal/booking.ts'
import type { Journal, JournalContents, RowChange } from '../journal/journal.ts'
import { MemoryKeys, MemoryRows } from '../journal/tables/key-table.ts'

export interface BacktestOptions extends Pick<
  VirtualAccountOptions,
  'settings' | 'strategies' | 'polling' | 'feeds' | 'events' | 'contracts' | 'limits' | 'isExact'
> {
  readonly startAt: number
  /** Its only account is {@link UID}. */
  readonly core: ExchangeCore
  /** One way, between the daemon and the exchange. */
  readonly latencyMs: number
  readonly exchange?: DirectExchangeOptions
  readonly listener?: RunListener
  readonly onAnnounced?: (announcement: Announcement) => void
  /** Default: {@link MemoryJournal}, in which a record is durable at once. */
  readonly createJournal?: (time: VirtualTime) => JournalPort
}

const PAGE_FILLS = 100

/** A stop ends by its own limits; this one only ends a backtest that is wrong. */
const STOP_MS_MAX = 3_600_000

/** Nothing goes wrong, and events reach the run at once. */
const UNDISTURBED: Pick<VirtualEnvironment, 'gate' | 'isKilled' | 'retreatNote'> = {
  gate: { isStill: false, enter: (happens) => happens(), settle: (happens) => happens() },
  isKilled: () => false,
  // No next run could believe this one's book.
  retreatNote: { leave: () => true, forget: () => undefined },
}

/**
 * Runs the daemon's core on the simulated exchange, in virtual time and without I/O: the same
 * options give the same run to the byte.
 *
 *     new ──runUntil()──► running ──stop()──► stopped
 */
export class Backtest {
  readonly #time: VirtualTime
  readonly #options: BacktestOptions
  readonly #account: VirtualAccount
  /**
   * Undefined until the run has stopped; then whether it was proved that nothing rests or is held.
   */
  #stopped: boolean | undefined
  #isStarted = false

  constructor(options: BacktestOptions) {
    const { core, settings, startAt, latencyMs } = options
    const time = new VirtualTime(startAt)
    this.#time = time
    this.#options = options
    this.#account = new VirtualAccount({
      ...options,
      time,
      clock: time.clock,
      exchange: new DirectExchange(core, () => time.now, options.exchange),
      network: new DirectNetwork(time, latencyMs),
      book: createBook(settings.positionMode),
      journal: options.createJournal?.(time) ?? new MemoryJournal(settings.salt),
      pageFills: PAGE_FILLS,
      hasPreviousRun: false,
      environment: this.#buildEnvironment(options.listener ?? {}),
    })
  }

  /** Exchange clock. */
  get now(): number {
    return this.#time.now
  }

  get limiter(): readonly EndpointStatistics[] {
    return this.#account.limiter
  }

  get equity(): Equity | undefined {
    return this.#account.engine.equity
  }

  get engine(): Engine {
    return this.#account.engine
  }

  get book(): Book {
    return this.#account.engine.book
  }

  get ledger(): LedgerStatement {
    return this.#options.core.ledger(UID)
  }

  /** @param at exchange clock @throws the error that broke the run */
  runUntil(at: number): void {
    if (!this.#isStarted) this.#account.start()
    this.#isStarted = true
    this.#time.runUntil(at)
  }

  /** @returns whether it was proved that nothing else rests or is held */
  stop(policy: StopPolicy): boolean {
    this.#account.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
    this.#time.runUntil(this.#time.now + STOP_MS_MAX, () => this.#stopped !== undefined)
    return this.#stopped === true
  }

  #buildEnvironment(listener: RunListener): VirtualEnvironment {
    const { onAnnounced } = this.#options
    return {
      ...UNDISTURBED,
      listener,
      announcements: {
        ...(onAnnounced && { announce: onAnnounced }),
        killState: () => undefined,
        stopped: (clean) => {
          this.#stopped = clean
          this.#account.end()
        },
        broken: (error) => {
          throw error
        },
      },
    }
  }
}

/** The params are those that the strategy's own schema returned. */
export interface VirtualStrategy {
  readonly strategy: Strategy
  readonly params: unknown
}

export interface VirtualEnvironment {
  readonly gate: Gate
  readonly interruptions?: Interruptions
  readonly listener: RunListener
  readonly isKilled: () => boolean
  readonly announcements: Omit<AnnouncementsPort, 'announce' | 'quiesced'> &
    Partial<Pick<AnnouncementsPort, 'announce'>>
  readonly retreatNote: RetreatNotePort
}

export type VirtualLimits = Pick<LimiterOptions, 'tier' | 'use'>

export interface VirtualAccountOptions extends Pick<OpenAccount, 'settings' | 'book'> {
  readonly time: VirtualTime
  /** The clock of the machine, which may differ from the exchange's. */
  readonly clock: Clock
  readonly exchange: SimulatedExchange
  readonly network: Network
  readonly journal: JournalPort
  readonly strategies: ReadonlyMap<StrategyId, VirtualStrategy>
  readonly polling: VirtualPolling
  readonly feeds?: readonly PlayedFeed[] | undefined
  readonly events?: readonly PlayedEvent[] | undefined
  /** The rules of universes choose among these. Absent: there is no such rule. */
  readonly contracts?: ReadonlyMap<string, ContractRules> | undefined
  /** The exchange returns at most so many fills a page. */
  readonly pageFills: number
  /** True if an earlier run may just have made calls that the exchange's limits count. */
  readonly hasPreviousRun: boolean
  readonly createCalls?: ((options: VirtualCallsOptions) => ExchangePort) | undefined
  /** Each reading is a call of its own, as on a network with faults. */
  readonly isExact?: boolean | undefined
  readonly limits?: VirtualLimits | undefined
  readonly environment: VirtualEnvironment
}

export class VirtualAccount {
  readonly engine: Engine
  readonly interpreter: Interpreter
  readonly ports: Ports
  readonly #options: VirtualAccountOptions
  readonly #wire: VirtualWire
  readonly #limiter: Limiter
  #hasBegun = false
  #isClosed = false
  #isEnded = false
  #pollers: VirtualPollers | undefined

  constructor(options: VirtualAccountOptions) {
    const { book, time, network, clock, environment, isExact = false } = options
    const settings = copyRoster(options.settings)
    this.#options = { ...options, settings }
    const trusted = new TrustedClock(clock)
    this.#limiter = this.#createLimiter(trusted.clock)
    this.#wire = {
      time,
      trusted,
      network,
      limiter: {
        request: (endpoint, priority, onGranted) =>
          this.#limiter.request(endpoint, priority, (grant) => {
            if (!this.#isEnded) onGranted(grant)
          }),
      },
      steady:
        isExact || network.steadyMs === undefined
          ? undefined
          : { ms: network.steadyMs, queueOf: (endpoint) => this.#limiter.queueOf(endpoint) },
      gate: environment.gate,
    }
    this.engine = createEngine(settings, book)
    this.ports = this.#createPorts()
    this.interpreter = new Interpreter(this.engine, this.ports)
  }

  get limiter(): readonly EndpointStatistics[] {
    return this.#limiter.statistics()
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The run begins once the exchange's clock has been measured. */
  start(): void {
    const { exchange, polling, settings } = this.#options
    const isChosen = exchange.contracts !== undefined
    const isKept = polling.nextTickersMs !== undefined
    const pollers = new VirtualPollers({
      wire: this.#wire,
      exchange,
      polling,
      // Kept tickers show all instruments, and so does an exchange whose contracts are read.
      instruments: isChosen || isKept ? undefined : settings.instruments.size,
      isOver: () => this.#isClosed,
      dispatch: (event) => this.dispatch(event),
      onTime: () => this.#lookForKill(),
      isWaiting: () => this.engine.isWaiting,
    })
    this.#pollers = pollers
    pollers.start()
  }

  dispatch(event: EngineEvent): void {
    if (event.kind === 'started') this.#hasBegun = true
    this.interpreter.dispatch(event)
    if (event.kind !== 'started') return
    const { contracts, time, feeds = [], events = [] } = this.#options
    if (contracts) this.interpreter.dispatch({ kind: 'contractsRead', contracts })
    playFeeds({
      feeds,
      events,
      time,
      isOver: () => this.#isClosed,
      dispatch: (next) => this.dispatch(next),
    })
  }

  /** From now on nothing falls due; calls for a retreat are still made. */
  close(): void {
    this.#isClosed = true
    this.interpreter.close()
  }

  /** From now on no call is granted either. */
  end(): void {
    this.#isEnded = true
    this.close()
  }

  #lookForKill(): void {
    const { isKilled } = this.#options.environment
    if (!isKilled() || killOf(this.engine.book) !== undefined) return
    this.dispatch({
      kind: 'commanded',
      command: { kind: 'kill', reason: 'the kill file', by: 'operator' },
    })
  }

  #createLimiter(clock: Clock): Limiter {
    const { time, hasPreviousRun, limits, settings } = this.#options
    return new Limiter({
      ...limits,
      beyondDocumentPrivate: settings.listsExits === true,
      clock,
      timers: time.timers,
      createPool: (pool) => new DirectPool(pool),
      previousRunEndedAt: hasPreviousRun ? clock.monotonic() : undefined,
    })
  }

  #createPorts(): Ports {
    const { exchange, journal, settings, pageFills, environment, time, polling } = this.#options
    const { gate, isKilled, announcements, retreatNote, listener, interruptions } = environment
    const { trusted, limiter } = this.#wire
    const onHeldBack = () => this.#lookForKill()
    const createCalls = this.#options.createCalls ?? ((options) => new VirtualCalls(options))
    return {
      clock: trusted.clock,
      timers: time.timers,
      journal,
      grants: {
        request: (endpoint, priority, onGranted) =>
          limiter.request(endpoint, priority, (grant) => gate.settle(() => onGranted(grant))),
      },
      exchange: createCalls({ wire: this.#wire, exchange, settings, pageFills, onHeldBack }),
      safety: { isClockSynchronised: () => trusted.isSynchronised, isKilled },
      strategies: this.#createRunners(),
      announcements: { announce: ignore, ...announcements, quiesced: ignore },
      retreatNote,
      listener:
        polling.waitingMs === undefined
          ? listener
          : {
              ...listener,
              stepped: (step) => {
                listener.stepped?.(step)
                this.#pollers?.noteStep(step.event)
              },
            },
      interruptions,
    }
  }

  #createRunners(): ReadonlyMap<StrategyId, StrategyRunner> {
    const { strategies, settings, book, clock } = this.#options
    return new Map(
      [...strategies].map(([strategyId, { strategy, params }]) => {
        const { symbols = [], universe } = settings.strategies.get(strategyId) ?? {}
        const fixed = symbols.filter((symbol) => universe?.fixed.has(symbol) ?? true)
        const instruments = fixed.flatMap((symbol) => settings.instruments.get(symbol) ?? [])
        const stateText = book.strategyStates.get(strategyId)
        return [
          strategyId,
          new StrategyRunner({ strategyId, strategy, params, instruments, stateText, clock }),
        ]
      }),
    )
  }
}

function ignore(): void {}

export class DirectPool implements TokenPool {
  readonly leadMs = 0
  #stock: number

  constructor({ tokens }: Pick<TokenPoolOptions, 'tokens'>) {
    this.#stock = tokens
  }

  get stock(): number {
    return this.#stock
  }

  take(): void {
    if (this.#stock < 1) throw new Error('there is no token in stock')
    this.#stock--
  }

  giveBack(): void {
    this.#stock++
  }

  putBack(): void {
    this.#stock++
  }

  stop(): Promise<void> {
    this.#stock = 0
    return Promise.resolve()
  }
}

/** Keeps copies of the records in memory, so later changes of a record do not reach them. */
export class MemoryJournal implements Journal {
  readonly salt: string
  readonly #records: string[] = []
  readonly #keys = new MemoryKeys()
  #checkpoint: MemoryRows | undefined

  constructor(salt: string) {
    this.salt = salt
  }

  load(): JournalContents {
    return {
      checkpoint: this.#checkpoint?.list(),
      records: this.#records.map((text) => JSON.parse(text) as JournalRecord),
    }
  }

  append(record: JournalRecord): void {
    this.#records.push(JSON.stringify(record))
    this.#keys.add(record)
  }

  commit(done: () => void): void {
    done()
  }

  flush(): void {}

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.#keys.find(key) ?? [])
  }

  get recordsSinceCheckpoint(): number {
    return this.#records.length
  }

  prepareCheckpoint(): boolean {
    return false
  }

  saveCheckpoint(changes: Iterable<RowChange>): void {
    this.#checkpoint ??= new MemoryRows()
    this.#checkpoint.apply(changes)
    this.#records.length = 0
  }

  close(): void {}
}

/**
 * Keeps only used keys, because this journal is never read again, and a key names one order for
 * ever.
 */
export class PassingJournal implements JournalPort {
  readonly recordsSinceCheckpoint = 0
  readonly #keys = new MemoryKeys()
  readonly #onAppended: (record: JournalRecord, bookings: readonly Booking[]) => void

  constructor(onAppended: (record: JournalRecord, bookings: readonly Booking[]) => void) {
    this.#onAppended = onAppended
  }

  append(record: JournalRecord, bookings: readonly Booking[] = []): void {
    this.#keys.add(record)
    this.#onAppended(record, bookings)
  }

  commit(done: () => void): void {
    done()
  }

  flush(): void {}

  usedKeys(keys: readonly StrategyKey[]): readonly UsedKey[] {
    return keys.flatMap((key) => this.#keys.find(key) ?? [])
  }

  prepareCheckpoint(): boolean {
    return false
  }

  saveCheckpoint(): void {}
}
