import { type StrategyId } from '../../../src/domain/ids.ts'
import { type Snapshot } from '../../../src/domain/snapshot.ts'
import { type Effect, type OutgoingBatch } from '../../../src/engine/effect.ts'
import { createEngine, type Engine } from '../../../src/engine/engine.ts'
import { type EngineEvent, type StopPolicy } from '../../../src/engine/event.ts'
import { isHeldBack } from '../../../src/engine/orders/last-check.ts'
import { killOf } from '../../../src/engine/book/book.ts'
import { rebuildBook } from '../../../src/engine/book/book-json.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { type JournalContents } from '../../../src/journal/journal.ts'
import { type MemoryJournal } from './memory-journal.ts'
import { TrustedClock } from '../../../src/exchange/clock/trusted-clock.ts'
import { unreachable } from '../../../src/lib/unreachable.ts'
import { type Strategy } from '../../../src/strategy/define-strategy.ts'
import { createStrategyRunner, type StrategyRunner } from '../../../src/strategy/strategy-runner.ts'
import { isHeardTwice } from '../faults/heard-twice.ts'
import { type Life, type VirtualShellOptions } from './virtual-life.ts'
import { type ShellWatcher } from './shell-watcher.ts'
import { Standstill } from '../faults/standstill.ts'
import { JournalPoisoned, ProcessDied, VirtualDisk } from './virtual-disk.ts'
import { VirtualOrderSender } from './virtual-order-sender.ts'
import { type VirtualGround } from './virtual-ground.ts'
import { VirtualLimiter } from './virtual-limiter.ts'
import { VirtualPollers } from './virtual-pollers.ts'
import { VirtualReader } from './virtual-reader.ts'
import { VirtualRetreat } from './virtual-retreat.ts'
import { VirtualClock } from './virtual-time.ts'

type StepLook = NonNullable<ShellWatcher['afterStep']>

/** How long a slow disk makes a durable record wait, ms. */
const SLOW_SYNC_MS = [5, 2500] as const

/**
 * Drives the real core in virtual time against the simulated exchange: no sockets, no waiting, and the same
 * run again from the same seed. The process can die or stand still between any two effects; {@link start}
 * begins a new one on what the journal kept.
 */
export class VirtualShell {
  /** The clock of the machine, which may be set. */
  readonly machineClock: VirtualClock
  readonly #options: VirtualShellOptions
  readonly #disk: VirtualDisk
  #life: Life | undefined
  #stepLooks: readonly StepLook[] | undefined

  constructor(options: VirtualShellOptions) {
    this.#options = options
    this.#disk = new VirtualDisk({
      salt: options.settings.salt,
      faults: options.faults,
      isFull: options.isDiskFull,
    })
    this.machineClock = new VirtualClock(options.time, {
      aheadMs: options.skewMs,
      driftPpm: options.driftPpm,
    })
  }

  get journal(): MemoryJournal {
    return this.#disk.journal
  }

  /** Whether there is a process; of one that has ended the core can still be looked at. */
  get isAlive(): boolean {
    return this.#life?.isOver === false
  }

  get engine(): Engine | undefined {
    return this.#life?.engine
  }

  /** Whether a process without a journal is about to end. */
  isRetreating = false

  /** What the process that lives, or lived last, goes by. */
  get settings(): EngineSettings {
    const { settings } = this.#options
    // What was cancelled without a record may not rest any more, whatever the book says.
    return this.#life?.hasNote ? { ...settings, onRestart: 'cancel', hasRetreated: true } : settings
  }

  /** What the process that lives, or lived last, found in the journal. */
  found: JournalContents = { checkpoint: undefined, records: [] }

  /** A process begins: the book is rebuilt, and the clock measured before anything else. */
  start(): void {
    const { settings, strategies, watchers } = this.#options
    const trusted = new TrustedClock(this.machineClock)
    this.found = this.#disk.load()
    const book = rebuildBook(this.found, settings.positionMode)
    const ground = this.#createGround(trusted, () => life)
    const { hasNote } = this.#disk
    const life: Life = {
      hasNote,
      ground,
      effects: [],
      standstill: new Standstill({
        time: this.#options.time,
        goOn: () => this.#drain(life),
        isOver: () => life.isOver,
      }),
      stallIn: undefined,
      engine: createEngine(
        hasNote ? { ...settings, onRestart: 'cancel', hasRetreated: true } : settings,
        book,
      ),
      runners: new Map([...strategies].map(([id, strategy]) => [id, this.#createRunner(id, strategy, book)])),
      reader: this.#createReader(ground),
      sender: this.#createDoor(ground),
      queue: [],
      repeated: undefined,
      effectsLeft: Number.POSITIVE_INFINITY,
      hasBegun: false,
      isBusy: false,
      isOver: false,
    }
    this.#life = life
    for (const watcher of watchers) watcher.onBirth?.()
    this.#createPollers(ground).start()
  }

  /** The process ends without another word; what was not durable is lost. */
  kill(): void {
    if (!this.#life || this.#life.isOver) return
    this.#life.isOver = true
    this.#die(this.#life)
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

  /** As the daemon: before the core has begun there is nothing to bring to an end. */
  stop(policy: StopPolicy): void {
    const life = this.#life
    if (life && !life.isOver && !life.hasBegun) this.#endUnbegun(life)
    else this.dispatch({ kind: 'commanded', command: { kind: 'stop', policy } })
  }

  dispatch(event: EngineEvent): void {
    const life = this.#life
    if (!life || life.isOver) return
    if (event.kind === 'started') life.hasBegun = true
    // As in the daemon, commands wait until the clock is measured; the operator of the worlds writes again.
    if (event.kind === 'commanded' && event.command.kind === 'release' && !life.hasBegun) return
    life.queue.push(event)
    this.#drain(life)
  }

  /** One effect after the other, then one event after the other, until there are none or the process ends. */
  #drain(life: Life): void {
    if (life.isBusy) return
    life.isBusy = true
    try {
      while (!life.isOver && !life.standstill.isStill) {
        const effect = life.effects.shift()
        const event = effect ? undefined : life.queue.shift()
        if (effect) this.#performNext(life, effect)
        else if (event) this.#step(life, event)
        else break
      }
    } catch (error) {
      if (error instanceof JournalPoisoned) return this.#retreat(life)
      if (!(error instanceof ProcessDied)) throw error
      this.kill()
    } finally {
      life.isBusy = false
    }
  }

  #die({ ground }: Life): void {
    ground.limiter.stop()
    for (const watcher of this.#options.watchers) watcher.onDeath?.()
    this.#disk.crash()
  }

  /** Nothing is created or decided any more: what rests is left or cancelled, and the process ends. */
  #retreat(life: Life): void {
    const { time, network, exchange, onStop, isKilled, watchers } = this.#options
    life.isOver = true
    life.sender.close()
    this.isRetreating = true
    for (const watcher of watchers) watcher.onRetreat?.()
    // The core hears no more; what came while the process stood still gives its grants back.
    life.standstill.empty()
    new VirtualRetreat({
      time,
      network,
      exchange,
      ground: life.ground,
      settings: this.settings,
      // A kill whose record did not reach the disk is a kill.
      policy: isKilled() || killOf(life.engine.book) !== undefined ? 'cancel' : onStop,
      leaveNote: () => this.#disk.leaveNote(),
      isOnWire: () => life.sender.isOnWire,
      onCancel: (body) => {
        for (const watcher of watchers) watcher.onRetreatCancel?.(body)
      },
      onEnd: (end) => {
        this.isRetreating = false
        for (const watcher of watchers) watcher.onRetreated?.(end)
        this.#die(life)
      },
    }).start()
  }

  #step(life: Life, event: EngineEvent): void {
    const now = life.ground.clock.now()
    const effects = life.engine.step(event, now)
    for (const look of this.#looks()) look(event, effects, now)
    life.effects.push(...effects)
    if (event !== life.repeated && isHeardTwice(event, this.#options.faults)) {
      life.repeated = event
      life.queue.unshift(event)
    }
    // Between two steps the book is what the journal says.
    if (event.kind === 'timePassed' && effects.length === 0) this.#disk.keep(life.engine.book)
  }

  #performNext(life: Life, effect: Effect): void {
    life.effectsLeft -= 1
    if (life.effectsLeft < 0) throw new ProcessDied()
    this.#perform(life, effect)
    if (!life.stallIn) return
    life.stallIn.effects -= 1
    if (life.stallIn.effects >= 0) return
    life.standstill.begin(life.stallIn.forMs)
    life.stallIn = undefined
  }

  #record(life: Life, { record, durable }: Extract<Effect, { kind: 'record' }>): void {
    const { watchers, faults } = this.#options
    const tell = (): void => {
      for (const watcher of watchers) watcher.onRecord?.(record, durable)
    }
    try {
      this.#disk.append(record, durable)
    } catch (error) {
      if (error instanceof JournalPoisoned && error.isWritten) tell()
      throw error
    }
    tell()
    if (durable && faults.strikes('slowSync', 'journal'))
      life.standstill.begin(faults.severity(...SLOW_SYNC_MS))
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
        return life.sender.ask(effect)
      case 'returnGrant':
        return life.sender.giveBack(effect)
      case 'record':
        return this.#record(life, effect)
      case 'sendBatch':
        return life.sender.sendBatch(effect.batch)
      case 'sendCancelAll':
        return life.sender.sendCancelAll(effect)
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

  #decide(life: Life, strategyId: StrategyId, snapshot: Snapshot): void {
    const runner = life.runners.get(strategyId)
    const result = runner?.decide(snapshot)
    if (!runner || !result) return
    if (result.kind === 'failed') {
      life.queue.push({ kind: 'decisionFailed', strategyId, reason: result.message })
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

  #endUnbegun(life: Life): void {
    try {
      this.#end(life, true)
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error
      this.kill()
    }
  }

  #end(life: Life, clean: boolean): void {
    this.#disk.close(life.engine.book)
    life.isOver = true
    life.ground.limiter.stop()
    for (const watcher of this.#options.watchers) watcher.onStopped?.(clean)
  }

  #lookForKill({ engine }: Life): void {
    if (!this.#options.isKilled() || killOf(engine.book) !== undefined) return
    this.dispatch({ kind: 'commanded', command: { kind: 'kill', reason: 'drill', by: 'world' } })
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

  #createGround(trusted: TrustedClock, life: () => Life): VirtualGround {
    const { clock } = trusted
    return {
      clock,
      trusted,
      limiter: new VirtualLimiter({ time: this.#options.time, clock }),
      enter: (happens) => life().standstill.enter(happens),
      dispatch: (event) => this.dispatch(event),
      isOver: () => life().isOver,
      isStalled: () => life().standstill.isStill,
      lookForKill: () => this.#lookForKill(life()),
    }
  }

  #createReader(ground: VirtualGround): VirtualReader {
    const { exchange, network, settings, pageFills } = this.#options
    const { positionMode, instruments } = settings
    return new VirtualReader({ ground, exchange, network, positionMode, instruments, pageFills })
  }

  #createDoor(ground: VirtualGround): VirtualOrderSender {
    const { time, exchange, network, faults, isKilled, watchers } = this.#options
    const onWrite = (batch: OutgoingBatch, now: number): void => {
      for (const watcher of watchers) watcher.onWrite?.(batch, now)
    }
    const isHalted = (batch: OutgoingBatch) => {
      const book = this.engine?.book
      return book !== undefined && isHeldBack(book, batch)
    }
    return new VirtualOrderSender({ ground, time, exchange, network, faults, isKilled, isHalted, onWrite })
  }

  #createPollers(ground: VirtualGround): VirtualPollers {
    const { time, exchange, network, polling, settings } = this.#options
    const instruments = settings.instruments.size
    return new VirtualPollers({ ground, time, exchange, network, polling, instruments })
  }
}
