import { type StrategyId } from '../../src/domain/ids.ts'
import { type PositionMode } from '../../src/domain/instrument.ts'
import { type JournalRecord } from '../../src/domain/record.ts'
import { type Snapshot } from '../../src/domain/snapshot.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { bookToJson } from '../../src/engine/book-json.ts'
import { type Effect, type OutgoingBatch } from '../../src/engine/effect.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { type EngineEvent, type StopPolicy } from '../../src/engine/event.ts'
import { rebuildBook } from '../../src/engine/rebuild-book.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { MemoryJournal } from './memory-journal.ts'
import { type Clock } from '../../src/lib/clock.ts'
import { unreachable } from '../../src/lib/unreachable.ts'
import { type Strategy } from '../../src/strategy/define-strategy.ts'
import { createStrategyRunner, type StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { type VirtualFaults } from './virtual-faults.ts'
import { VirtualLimiter } from './virtual-limiter.ts'
import { type VirtualNetwork } from './virtual-network.ts'
import { VirtualReader } from './virtual-reader.ts'
import { type VirtualTime } from './virtual-time.ts'

/** How often the shell looks, ms. */
export interface VirtualPolling {
  readonly tickersMs: number
  readonly fillsMs: number
  readonly positionsMs: number
  readonly timeMs: number
}

/** Looks at everything that happens; throws nothing. */
export interface ShellWatcher {
  /** The core has handled an event; nothing of its effects has been performed yet. */
  readonly afterStep?: (event: EngineEvent, effects: readonly Effect[], now: number) => void
  onRecord?(record: JournalRecord, durable: boolean): void
  /** Right before the first byte of a batch. */
  onWrite?(batch: OutgoingBatch, now: number): void
  /** A process has just died (its book can still be looked at), or begun. */
  onDeath?(): void
  onBirth?(): void
  onStopped?(clean: boolean): void
}

export interface VirtualShellOptions {
  readonly time: VirtualTime
  readonly exchange: VirtualExchange
  readonly network: VirtualNetwork
  readonly faults: VirtualFaults
  readonly settings: EngineSettings
  readonly strategies: ReadonlyMap<StrategyId, Strategy>
  readonly polling: VirtualPolling
  readonly pageFills: number
  /** How far our clock is ahead of the exchange's, ms. */
  readonly skewMs: number
  readonly watchers: readonly ShellWatcher[]
}

type StepLook = NonNullable<ShellWatcher['afterStep']>

/** Everything that dies with the process. */
interface Life {
  readonly engine: Engine
  readonly runners: ReadonlyMap<StrategyId, StrategyRunner>
  readonly reader: VirtualReader
  readonly queue: EngineEvent[]
  /** What the core decides on. */
  tickers: TickerTable | undefined
  effectsLeft: number
  hasBegun: boolean
  isBusy: boolean
  isOver: boolean
}

/** Two latencies of a call that nothing delayed. */
const QUICK_MS = 100

class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

/**
 * Drives the real core in virtual time against the simulated exchange: no sockets, no waiting, and the same
 * run again from the same seed. The process can die between any two effects; {@link start} begins a new one
 * on what the journal kept.
 */
export class VirtualShell {
  readonly journal: MemoryJournal
  readonly clock: Clock
  readonly #options: VirtualShellOptions
  readonly #limiter: VirtualLimiter
  #life: Life | undefined
  #stepLooks: readonly StepLook[] | undefined
  /** Exchange clock less ours, as measured last. */
  #offsetMs = 0

  constructor(options: VirtualShellOptions) {
    this.#options = options
    this.journal = new MemoryJournal(options.settings.salt)
    this.clock = options.time.clock(options.skewMs)
    this.#limiter = new VirtualLimiter(options.time)
  }

  get engine(): Engine | undefined {
    return this.#life?.engine
  }

  /** The tickers that the core decides on. */
  tickers(): TickerTable | undefined {
    return this.#life?.tickers
  }

  /** The exchange's clock as this process knows it, Unix ms. */
  exchangeNow(): number {
    return this.clock.now() + this.#offsetMs
  }

  /** A process begins: the book is rebuilt, and the clock measured before anything else. */
  start(): void {
    const { settings, strategies, watchers } = this.#options
    const book = rebuildBook(this.journal.load(), settings.positionMode)
    const life: Life = {
      engine: createEngine(settings, book),
      runners: new Map([...strategies].map(([id, strategy]) => [id, this.#createRunner(id, strategy, book)])),
      reader: this.#createReader(settings.positionMode, () => !life.isOver),
      queue: [],
      tickers: undefined,
      effectsLeft: Number.POSITIVE_INFINITY,
      hasBegun: false,
      isBusy: false,
      isOver: false,
    }
    this.#life = life
    for (const watcher of watchers) watcher.onBirth?.()
    this.#pollTickers(life)
  }

  /** The process ends without another word; what was not durable is lost. */
  kill(): void {
    if (!this.#life || this.#life.isOver) return
    this.#life.isOver = true
    for (const watcher of this.#options.watchers) watcher.onDeath?.()
    this.journal.crash()
  }

  /** The process dies once so many more effects have been performed, unless it dies earlier. */
  dieAfter(effects: number): void {
    if (this.#life) this.#life.effectsLeft = Math.min(this.#life.effectsLeft, effects)
  }

  /** From now on the process lives until it is told to stop. */
  spare(): void {
    if (this.#life) this.#life.effectsLeft = Number.POSITIVE_INFINITY
  }

  stop(policy: StopPolicy): void {
    this.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
  }

  dispatch(event: EngineEvent): void {
    const life = this.#life
    if (!life || life.isOver) return
    life.queue.push(event)
    if (life.isBusy) return
    life.isBusy = true
    try {
      for (let next = life.queue.shift(); next && !life.isOver; next = life.queue.shift()) {
        this.#step(life, next)
      }
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error
      this.kill()
    } finally {
      life.isBusy = false
    }
  }

  #step(life: Life, event: EngineEvent): void {
    const now = this.clock.now()
    const effects = life.engine.step(event, now)
    for (const look of this.#looks()) look(event, effects, now)
    for (const effect of effects) {
      life.effectsLeft -= 1
      if (life.effectsLeft < 0) throw new ProcessDied()
      this.#perform(life, effect)
    }
  }

  /** Those of the watchers that look at steps: most do not, and there are thousands of steps. */
  #looks(): readonly StepLook[] {
    this.#stepLooks ??= this.#options.watchers.flatMap((watcher) => watcher.afterStep ?? [])
    return this.#stepLooks
  }

  #perform(life: Life, effect: Effect): void {
    switch (effect.kind) {
      case 'decide':
        return this.#decide(life, effect.strategyId, effect.snapshot)
      case 'askGrant':
        return this.#limiter.request(effect.endpoint, () => {
          if (!life.isOver) this.dispatch({ kind: 'granted', endpoint: effect.endpoint })
        })
      case 'returnGrant':
        return this.#limiter.giveBack(effect.endpoint)
      case 'record':
        this.journal.append(effect.record, effect.durable)
        for (const watcher of this.#options.watchers) watcher.onRecord?.(effect.record, effect.durable)
        return
      case 'sendBatch':
        return this.#sendBatch(life, effect.batch)
      case 'sendCancelAll':
        return this.#sendCancelAll(life, effect)
      case 'readFills':
        return life.reader.readFills(effect.sinceAt)
      case 'readPosition':
        return life.reader.readPosition(effect.symbol)
      case 'announce':
      case 'quiesced':
      case 'killState':
      case 'sendCall':
        // The worlds' strategies make no calls on the account.
        return
      case 'stopped':
        return this.#end(life, effect.clean)
      default:
        return unreachable(effect)
    }
  }

  #decide(life: Life, strategyId: StrategyId, snapshot: Snapshot): void {
    const runner = life.runners.get(strategyId)
    const result = runner?.decide(snapshot)
    if (!runner || !result || result.kind === 'disabled') return
    if (result.kind === 'failed') {
      const disabled = runner.disabledReason !== undefined
      life.queue.push({ kind: 'decisionFailed', strategyId, reason: result.message, disabled })
      return
    }
    const { intents, stateText, denials } = result
    life.queue.push({
      kind: 'decided',
      strategyId,
      sequence: snapshot.sequence,
      intents,
      stateText,
      denials,
    })
  }

  /** A batch waits a moment for its connection, is looked at once more, signed and written. */
  #sendBatch(life: Life, batch: OutgoingBatch): void {
    const { time, network, faults, exchange, watchers } = this.#options
    const { batchId, body } = batch
    time.after(faults.delayMs('batchPlaceOrder/connect', 0, 20), () => {
      if (life.isOver) return
      if (this.clock.now() > batch.validUntilAt) {
        return this.dispatch({
          kind: 'batchAnswered',
          batchId,
          answer: {
            kind: 'refused',
            class: 'notSent',
            code: 'STALE',
            topic: 'system',
            message: '',
            status: undefined,
            receivedAt: this.clock.now(),
          },
        })
      }
      for (const watcher of watchers) watcher.onWrite?.(batch, this.clock.now())
      const signedAt = this.exchangeNow()
      network.send({
        site: 'batchPlaceOrder',
        perform: () => exchange.placeBatch(body, signedAt),
        ourNow: () => this.clock.now(),
        hear: (answer) => {
          if (!life.isOver) this.dispatch({ kind: 'batchAnswered', batchId, answer })
        },
      })
    })
  }

  #sendCancelAll(life: Life, { cancelId, body }: { readonly cancelId: number; readonly body: string }): void {
    const { network, exchange } = this.#options
    const signedAt = this.exchangeNow()
    network.send({
      site: 'cancelAllOrders',
      perform: () => exchange.cancelAll(body, signedAt),
      ourNow: () => this.clock.now(),
      hear: (answer) => {
        if (!life.isOver) this.dispatch({ kind: 'cancelAnswered', cancelId, answer })
      },
    })
  }

  #end(life: Life, clean: boolean): void {
    this.journal.flush()
    this.journal.saveCheckpoint(bookToJson(life.engine.book))
    life.isOver = true
    for (const watcher of this.#options.watchers) watcher.onStopped?.(clean)
  }

  /** Reads the tickers, then again and again; the first reading begins the life. */
  #pollTickers(life: Life): void {
    const { time, network, exchange, polling, settings } = this.#options
    if (life.isOver) return
    const sentAt = this.clock.now()
    const table = new TickerTable(settings.instruments.size)
    network.send({
      site: 'tickers',
      perform: () => {
        // What the core looks at stays what it was, however often the request arrives and its answer is heard.
        if (table.readAt === 0) exchange.readTickers(table)
        return { ok: true, data: undefined }
      },
      ourNow: () => this.clock.now(),
      hear: (answer) => {
        if (life.isOver || answer.kind !== 'accepted' || table.readAt > 0) return
        const receivedAt = this.clock.now()
        table.readAt = receivedAt
        table.requestTime = answer.requestTime ?? 0
        if (table.requestTime < (life.tickers?.requestTime ?? 0)) return
        life.tickers = table
        // Only an answer that came quickly tells the time well.
        if (!life.hasBegun || receivedAt - sentAt < QUICK_MS) {
          this.#offsetMs = Math.round(table.requestTime - (sentAt + receivedAt) / 2)
        }
        this.dispatch({ kind: 'clockMeasured', offsetMs: this.#offsetMs })
        if (!life.hasBegun) this.#begin(life)
        this.dispatch({ kind: 'snapshotTaken', tickers: table })
      },
    })
    time.after(polling.tickersMs, () => this.#pollTickers(life))
  }

  #begin(life: Life): void {
    const { polling } = this.#options
    life.hasBegun = true
    this.dispatch({ kind: 'started' })
    this.#every(life, polling.timeMs, { kind: 'timePassed' })
    this.#every(life, polling.fillsMs, { kind: 'pollDue', what: 'fills' })
    this.#every(life, polling.positionsMs, { kind: 'pollDue', what: 'positions' })
  }

  #every(life: Life, intervalMs: number, event: EngineEvent): void {
    this.#options.time.after(intervalMs, () => {
      if (life.isOver) return
      this.dispatch(event)
      this.#every(life, intervalMs, event)
    })
  }

  #createRunner(strategyId: StrategyId, strategy: Strategy, book: Engine['book']): StrategyRunner {
    const { settings, time } = this.#options
    const symbols = settings.strategies.get(strategyId)?.symbols ?? []
    return createStrategyRunner({
      strategyId,
      strategy,
      params: {},
      instruments: symbols.flatMap((symbol) => settings.instruments.get(symbol) ?? []),
      stateText: book.strategyStates.get(strategyId),
      clock: time.clock(0),
    })
  }

  #createReader(positionMode: PositionMode, isAlive: () => boolean): VirtualReader {
    const { exchange, network, settings, pageFills } = this.#options
    return new VirtualReader({
      exchange,
      network,
      limiter: this.#limiter,
      clock: this.clock,
      positionMode,
      instruments: settings.instruments,
      pageFills,
      dispatch: (event) => this.dispatch(event),
      isAlive,
    })
  }
}
