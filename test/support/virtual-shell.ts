import { type Answer } from '../../src/domain/answer.ts'
import { type StrategyId } from '../../src/domain/ids.ts'
import { type JournalRecord } from '../../src/domain/record.ts'
import { type Snapshot } from '../../src/domain/snapshot.ts'
import { objectTo } from '../../src/daemon/last-look.ts'
import { TickerTable } from '../../src/domain/ticker-table.ts'
import { bookToJson } from '../../src/engine/book-json.ts'
import { type Effect, type OutgoingBatch } from '../../src/engine/effect.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { type EngineEvent, type StopPolicy } from '../../src/engine/event.ts'
import { rebuildBook } from '../../src/engine/rebuild-book.ts'
import { type EngineSettings } from '../../src/engine/settings.ts'
import { type JournalContents } from '../../src/journal/journal.ts'
import { MemoryJournal } from './memory-journal.ts'
import { type Clock } from '../../src/lib/clock.ts'
import { SteadyClock } from '../../src/lib/steady-clock.ts'
import { TrustedClock } from '../../src/exchange/trusted-clock.ts'
import { unreachable } from '../../src/lib/unreachable.ts'
import { type Strategy } from '../../src/strategy/define-strategy.ts'
import { createStrategyRunner, type StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { type VirtualExchange } from './virtual-exchange.ts'
import { type VirtualFaults } from './virtual-faults.ts'
import { type VirtualGrant, VirtualLimiter } from './virtual-limiter.ts'
import { type VirtualCall, type VirtualNetwork } from './virtual-network.ts'
import { onlyOnce, VirtualReader } from './virtual-reader.ts'
import { VirtualClock, type VirtualTime } from './virtual-time.ts'

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
  onKillState?(state: 'seen' | 'clean' | 'released'): void
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
  /** By how much it is too quick, in millionths. */
  readonly driftPpm: number
  /** Whether nothing can be written just now. */
  readonly isDiskFull: () => boolean
  /** Whether the kill file is there. */
  readonly isKilled: () => boolean
  readonly watchers: readonly ShellWatcher[]
}

type StepLook = NonNullable<ShellWatcher['afterStep']>

/** Everything that dies with the process. */
interface Life {
  readonly engine: Engine
  readonly runners: ReadonlyMap<StrategyId, StrategyRunner>
  readonly reader: VirtualReader
  /** Our machine's clock as it was when the process began: it does not step with it. */
  readonly clock: Clock
  /** The same, with the exchange's as far as answers have shown it, and whether both are sure. */
  readonly trusted: TrustedClock
  readonly limiter: VirtualLimiter
  readonly queue: EngineEvent[]
  /** Effects of the last step that are not performed yet. */
  readonly effects: Effect[]
  /** What reached the process while it stood still. */
  readonly inbox: (() => void)[]
  /** Unix ms, exchange clock: the process stands still until then. */
  stalledUntil: number
  /** So many effects from now the process stands still, for so long. */
  stallIn: { effects: number; readonly forMs: number } | undefined
  effectsLeft: number
  hasBegun: boolean
  isBusy: boolean
  isOver: boolean
}

type BatchAnswered = Extract<EngineEvent, { kind: 'batchAnswered' }>
type CancelAnswered = Extract<EngineEvent, { kind: 'cancelAnswered' }>

/** How long a slow disk makes a durable record wait, ms. */
const SLOW_SYNC_MS = [5, 2500] as const

class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

/**
 * Drives the real core in virtual time against the simulated exchange: no sockets, no waiting, and the same
 * run again from the same seed. The process can die or stand still between any two effects; {@link start}
 * begins a new one on what the journal kept.
 */
export class VirtualShell {
  readonly journal: MemoryJournal
  /** The clock of the machine, which may be set. */
  readonly machineClock: VirtualClock
  readonly #options: VirtualShellOptions
  #clock: Clock
  #life: Life | undefined
  #stepLooks: readonly StepLook[] | undefined

  constructor(options: VirtualShellOptions) {
    this.#options = options
    this.journal = new MemoryJournal(options.settings.salt)
    this.machineClock = new VirtualClock(options.time, {
      aheadMs: options.skewMs,
      driftPpm: options.driftPpm,
    })
    this.#clock = new SteadyClock(this.machineClock)
  }

  get engine(): Engine | undefined {
    return this.#life?.engine
  }

  /** The exchange's clock as this process knows it, Unix ms. */
  exchangeNow(): number {
    return this.#life?.trusted.offset.exchangeNow(this.clock.now()) ?? this.clock.now()
  }

  /** As the process that lives, or lived last, knows the time. */
  get clock(): Clock {
    return this.#clock
  }

  /** What the process that lives, or lived last, found in the journal. */
  found: JournalContents = { checkpoint: undefined, records: [] }

  /** A process begins: the book is rebuilt, and the clock measured before anything else. */
  start(): void {
    const { settings, strategies, watchers } = this.#options
    const trusted = new TrustedClock(this.machineClock)
    this.#clock = trusted.clock
    const isOlder = this.#options.faults.strikes('olderCheckpoint', 'journal')
    this.found = isOlder ? this.journal.loadOlder() : this.journal.load()
    const book = rebuildBook(this.found, settings.positionMode)
    const limiter = this.#createLimiter()
    const life: Life = {
      clock: trusted.clock,
      trusted,
      limiter,
      effects: [],
      inbox: [],
      stalledUntil: 0,
      stallIn: undefined,
      engine: createEngine(settings, book),
      runners: new Map([...strategies].map(([id, strategy]) => [id, this.#createRunner(id, strategy, book)])),
      reader: this.#createReader(limiter, () => life),
      queue: [],
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
    this.#life.limiter.stop()
    for (const watcher of this.#options.watchers) watcher.onDeath?.()
    this.journal.crash(this.#options.faults.strikes('tailKept', 'journal'))
  }

  /** The process dies once so many more effects have been performed, unless it dies earlier. */
  dieAfter(effects: number): void {
    if (this.#life) this.#life.effectsLeft = Math.min(this.#life.effectsLeft, effects)
  }

  /** The process stands still for so long once so many more effects have been performed. */
  stallAfter(effects: number, forMs: number): void {
    if (this.#life) this.#life.stallIn = { effects, forMs }
  }

  /** From now on the process lives until it is told to stop. */
  spare(): void {
    if (!this.#life) return
    this.#life.effectsLeft = Number.POSITIVE_INFINITY
    this.#life.stallIn = undefined
  }

  stop(policy: StopPolicy): void {
    this.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
  }

  dispatch(event: EngineEvent): void {
    const life = this.#life
    if (!life || life.isOver) return
    life.queue.push(event)
    this.#drain(life)
  }

  /** One effect after the other, then one event after the other, until there are none or the process ends. */
  #drain(life: Life): void {
    if (life.isBusy) return
    life.isBusy = true
    try {
      while (!life.isOver && !this.#isStalled(life)) {
        const effect = life.effects.shift()
        const event = effect ? undefined : life.queue.shift()
        if (effect) this.#performNext(life, effect)
        else if (event) this.#step(life, event)
        else break
      }
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error
      this.kill()
    } finally {
      life.isBusy = false
    }
  }

  #step(life: Life, event: EngineEvent): void {
    const now = life.clock.now()
    const effects = life.engine.step(event, now)
    for (const look of this.#looks()) look(event, effects, now)
    life.effects.push(...effects)
    // Between two steps the book is what the journal says.
    if (event.kind === 'timePassed' && effects.length === 0) this.#keepJournal(life)
  }

  #performNext(life: Life, effect: Effect): void {
    life.effectsLeft -= 1
    if (life.effectsLeft < 0) throw new ProcessDied()
    this.#perform(life, effect)
    if (!life.stallIn) return
    life.stallIn.effects -= 1
    if (life.stallIn.effects >= 0) return
    this.#stall(life, life.stallIn.forMs)
    life.stallIn = undefined
  }

  #stall(life: Life, forMs: number): void {
    const { time } = this.#options
    life.stalledUntil = time.now + forMs
    time.after(forMs, () => this.#wake(life))
  }

  #isStalled(life: Life): boolean {
    return this.#options.time.now < life.stalledUntil
  }

  /** First what was begun, then what came meanwhile. */
  #wake(life: Life): void {
    if (life.isOver || this.#isStalled(life)) return
    this.#drain(life)
    while (life.inbox.length > 0 && !life.isOver && !this.#isStalled(life)) life.inbox.shift()?.()
  }

  /** Something reaches the process: at once, or when it moves again; never once it is dead. */
  #enter(life: Life, happens: () => void): void {
    if (life.isOver) return
    if (this.#isStalled(life) || life.inbox.length > 0) life.inbox.push(happens)
    else happens()
  }

  #keepJournal(life: Life): void {
    const { faults } = this.#options
    if (!faults.strikes('checkpoint', 'journal')) return
    this.#write(() => this.journal.saveCheckpoint(bookToJson(life.engine.book)))
  }

  /** A process whose journal cannot be written ends there and then. */
  #write(write: () => void): void {
    if (this.#options.isDiskFull()) throw new ProcessDied()
    write()
  }

  #record(life: Life, { record, durable }: Extract<Effect, { kind: 'record' }>): void {
    const { watchers, faults } = this.#options
    if (durable) this.#write(() => this.journal.append(record, durable))
    else this.journal.append(record, durable)
    for (const watcher of watchers) watcher.onRecord?.(record, durable)
    if (durable && faults.strikes('slowSync', 'journal')) this.#stall(life, faults.severity(...SLOW_SYNC_MS))
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
      case 'killState':
        for (const watcher of this.#options.watchers) watcher.onKillState?.(effect.state)
        return
      case 'askGrant':
        return this.#ask(life, effect)
      case 'returnGrant':
        return life.limiter.take(effect.endpoint)?.unused()
      case 'record':
        return this.#record(life, effect)
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
      case 'sendCall':
        // The worlds' strategies make no calls on the account.
        return
      case 'stopped':
        return this.#end(life, effect.clean)
      default:
        return unreachable(effect)
    }
  }

  #ask(life: Life, { endpoint, priority }: Extract<Effect, { kind: 'askGrant' }>): void {
    life.limiter.request(endpoint, priority === 'reduce' ? 0 : 1, (grant) =>
      this.#enter(life, () => {
        life.limiter.keep(endpoint, grant)
        this.dispatch({ kind: 'granted', endpoint })
      }),
    )
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
    const { time, faults } = this.#options
    const waitMs = faults.delayMs('batchPlaceOrder/connect', 0, 20)
    const grant = life.limiter.take('batchPlaceOrder')
    time.after(waitMs, () => this.#enter(life, () => this.#writeBatch(life, batch, grant)))
  }

  #writeBatch(life: Life, batch: OutgoingBatch, grant: VirtualGrant | undefined): void {
    const { network, exchange, watchers } = this.#options
    const { batchId, body } = batch
    const now = this.clock.now()
    const { isKilled } = this.#options
    if (objectTo(batch, { now, isClockSure: life.trusted.isSure, isKilled }) !== undefined) {
      grant?.unused()
      this.dispatch({ kind: 'batchAnswered', batchId, answer: staleAnswer(now) })
      return this.#lookForKill(life)
    }
    for (const watcher of watchers) watcher.onWrite?.(batch, now)
    const signedAt = this.exchangeNow()
    grant?.sent()
    network.send({
      ...this.#callOf(life),
      site: 'batchPlaceOrder',
      perform: (isCopy) => exchange.placeBatch({ body, signedAt, isCopy }),
      hear: (answer) => this.#hear(life, { kind: 'batchAnswered', batchId, answer }, grant),
    })
  }

  #sendCancelAll(life: Life, { cancelId, body }: { readonly cancelId: number; readonly body: string }): void {
    const { network, exchange } = this.#options
    const signedAt = this.exchangeNow()
    const grant = life.limiter.take('cancelAllOrders')
    grant?.sent()
    network.send({
      ...this.#callOf(life),
      site: 'cancelAllOrders',
      perform: () => exchange.cancelAll(body, signedAt),
      hear: (answer) => this.#hear(life, { kind: 'cancelAnswered', cancelId, answer }, grant),
    })
  }

  /** What every call of a life has in common. */
  #callOf(life: Life): Pick<VirtualCall<unknown>, 'ourNow' | 'onTime'> {
    return { ourNow: () => life.clock.now(), onTime: (sample) => life.trusted.offset.observe(sample) }
  }

  #hear(life: Life, event: BatchAnswered | CancelAnswered, grant: VirtualGrant | undefined): void {
    this.#enter(life, () => {
      grant?.over(event.answer)
      this.dispatch(event)
    })
  }

  #end(life: Life, clean: boolean): void {
    this.#write(() => {
      this.journal.flush()
      this.journal.saveCheckpoint(bookToJson(life.engine.book))
    })
    life.isOver = true
    life.limiter.stop()
    for (const watcher of this.#options.watchers) watcher.onStopped?.(clean)
  }

  /** Reads the tickers, then again and again; the first reading begins the life. */
  #pollTickers(life: Life): void {
    const { time, network, exchange, polling, settings } = this.#options
    if (life.isOver) return
    const table = new TickerTable(settings.instruments.size)
    network.send({
      ...this.#callOf(life),
      site: 'tickers',
      perform: () => {
        // What the core looks at stays what it was, however often the request arrives and its answer is heard.
        if (table.readAt === 0) exchange.readTickers(table)
        return { ok: true, data: undefined }
      },
      hear: onlyOnce((answer) => this.#enter(life, () => this.#takeTickers(life, table, answer))),
    })
    time.after(polling.tickersMs, () => this.#pollTickers(life))
  }

  #takeTickers(life: Life, table: TickerTable, answer: Answer<unknown>): void {
    if (answer.kind !== 'accepted') return
    table.readAt = life.clock.now()
    table.requestTime = answer.requestTime ?? 0
    const { isSure, offset } = life.trusted
    if (isSure) this.dispatch({ kind: 'clockMeasured', offsetMs: offset.offsetMs })
    else this.dispatch({ kind: 'clockDoubted', reason: 'not confirmed yet' })
    if (!life.hasBegun && !isSure) return
    if (!life.hasBegun) this.#begin(life)
    this.dispatch({ kind: 'snapshotTaken', tickers: table })
  }

  #begin(life: Life): void {
    const { polling } = this.#options
    life.hasBegun = true
    this.dispatch({ kind: 'started' })
    this.#every(life, polling.timeMs, { kind: 'timePassed' })
    this.#every(life, polling.fillsMs, { kind: 'pollDue', what: 'fills' })
    this.#every(life, polling.positionsMs, { kind: 'pollDue', what: 'positions' })
  }

  #lookForKill({ engine }: Life): void {
    if (!this.#options.isKilled() || engine.book.killed !== undefined) return
    this.dispatch({ kind: 'commanded', command: { kind: 'kill', reason: 'drill', by: 'world' } })
  }

  /** What falls due while the process stands still is not made up for. */
  #every(life: Life, intervalMs: number, event: EngineEvent): void {
    this.#options.time.after(intervalMs, () => {
      if (life.isOver) return
      if (!this.#isStalled(life)) {
        if (event.kind === 'timePassed') this.#lookForKill(life)
        this.dispatch(event)
      }
      this.#every(life, intervalMs, event)
    })
  }

  #createRunner(strategyId: StrategyId, strategy: Strategy, book: Engine['book']): StrategyRunner {
    const { settings } = this.#options
    const symbols = settings.strategies.get(strategyId)?.symbols ?? []
    return createStrategyRunner({
      strategyId,
      strategy,
      params: {},
      instruments: symbols.flatMap((symbol) => settings.instruments.get(symbol) ?? []),
      stateText: book.strategyStates.get(strategyId),
      clock: this.machineClock,
    })
  }

  #createLimiter(): VirtualLimiter {
    return new VirtualLimiter({ time: this.#options.time, clock: this.#clock })
  }

  #createReader(limiter: VirtualLimiter, life: () => Life): VirtualReader {
    const { exchange, network, settings, pageFills } = this.#options
    return new VirtualReader({
      exchange,
      network,
      limiter,
      clock: this.clock,
      positionMode: settings.positionMode,
      instruments: settings.instruments,
      pageFills,
      dispatch: (event) => this.dispatch(event),
      enter: (happens) => this.#enter(life(), happens),
      onTime: (sample) => life().trusted.offset.observe(sample),
    })
  }
}

function staleAnswer(receivedAt: number): Answer<never> {
  const reason = { code: 'STALE', topic: 'system', message: '' } as const
  return { kind: 'refused', class: 'notSent', ...reason, status: undefined, receivedAt }
}
