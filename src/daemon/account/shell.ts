import { type StrategyId } from '../../domain/ids.ts'
import { type Snapshot } from '../../domain/snapshot.ts'
import { type Announcement, type Effect } from '../../engine/effect.ts'
import { bookToJson } from '../../engine/book/book-json.ts'
import { type Engine } from '../../engine/engine.ts'
import { type EngineEvent } from '../../engine/event.ts'
import { type Journal } from '../../journal/journal.ts'
import { type Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import { type Timers } from '../../lib/timers.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { type StrategyRunner } from '../../strategy/strategy-runner.ts'
import { type AccountReader } from './account-reader.ts'
import { type FlightRecorder } from '../recording/flight-recorder.ts'
import { type EventLog } from '../reporting/event-log.ts'
import { type OrderSender } from './order-sender.ts'
import { type RunStatistics } from '../reporting/run-statistics.ts'

export interface ShellOptions {
  readonly engine: Engine
  readonly journal: Journal
  readonly runners: ReadonlyMap<StrategyId, StrategyRunner>
  readonly sender: OrderSender
  readonly reader: AccountReader
  readonly statistics: RunStatistics
  readonly clock: Clock
  readonly timers: Timers
  readonly eventLog: EventLog
  readonly onKillState: (state: Extract<Effect, { kind: 'killState' }>['state']) => void
  /** Keeps every step, where that is wanted. */
  readonly recorder: FlightRecorder | undefined
  readonly onQuiesced: () => void
  readonly onStopped: (clean: boolean) => void
  /** The journal could not be written, or the program is broken: nothing is performed any more. */
  readonly onFatal: (error: unknown) => void
}

/** Records that need not be durable at once wait no longer than this for one that must. */
const FLUSH_MS = 100

/**
 * After so many records a checkpoint is written, so that a start reads no more than these, and what is older
 * than the journal keeps can go: some minutes of busy trading.
 */
const CHECKPOINT_RECORDS = 20_000

/**
 * Drives the core in real time: one event after the other, and each event's effects in order before the next
 * one. A durable record is on disk before the effect behind it is performed, so no send precedes it (ORD1).
 */
export class Shell {
  readonly #options: ShellOptions
  readonly #queue: EngineEvent[] = []
  readonly #unlogged: Announcement[] = []
  #isBusy = false
  #isDead = false
  #flushedAt = 0
  #recordsSinceCheckpoint = 0

  constructor(options: ShellOptions) {
    this.#options = options
  }

  /** Handles an event now, or right after the one that is being handled. */
  dispatch(event: EngineEvent): void {
    this.#queue.push(event)
    if (this.#isBusy || this.#isDead) return
    this.#isBusy = true
    try {
      this.#drain()
    } catch (error) {
      this.#isDead = true
      this.#options.onFatal(error)
    } finally {
      this.#isBusy = false
    }
  }

  /** Tells what has been announced so far. */
  tell(): void {
    for (const announcement of this.#unlogged.splice(0)) this.#options.eventLog.announce(announcement)
  }

  /** After this nothing is performed any more. */
  close(): void {
    this.#isDead = true
    this.tell()
  }

  #drain(): void {
    for (let event = this.#queue.shift(); event && !this.#isDead; event = this.#queue.shift()) {
      for (const effect of this.#step(event)) this.#perform(effect)
      if (event.kind === 'timePassed') this.#keepJournal()
    }
  }

  /** The step is kept before anything of it is performed: what breaks the daemon is in the recording. */
  #step(event: EngineEvent): readonly Effect[] {
    const { engine, clock, recorder } = this.#options
    const at = clock.now()
    try {
      const effects = engine.step(event, at)
      recorder?.keep({ at, event, effects })
      return effects
    } catch (error) {
      recorder?.keep({ at, event, effects: [], thrown: messageOf(error) })
      throw error
    }
  }

  /** Only between steps: within one the book is ahead of the journal. */
  #keepJournal(): void {
    const { journal, clock, engine } = this.#options
    if (this.#recordsSinceCheckpoint >= CHECKPOINT_RECORDS) {
      this.#recordsSinceCheckpoint = 0
      return journal.saveCheckpoint(bookToJson(engine.book))
    }
    const now = clock.monotonic()
    if (now - this.#flushedAt < FLUSH_MS) return
    this.#flushedAt = now
    journal.flush()
  }

  #perform(effect: Effect): void {
    const { sender, reader } = this.#options
    switch (effect.kind) {
      case 'decide':
        return this.#decide(effect.strategyId, effect.snapshot)
      case 'askGrant':
        return sender.ask(effect.endpoint, effect.priority)
      case 'returnGrant':
        return sender.giveBack(effect.endpoint)
      case 'record':
        return this.#record(effect)
      case 'sendBatch':
        return sender.sendBatch(effect.batch)
      case 'sendCall':
        return sender.sendCall(effect.call)
      case 'sendCancelAll':
        return sender.sendCancelAll(effect)
      case 'readFills':
        return reader.readFills(effect.sinceAt)
      case 'readPosition':
        return reader.readPosition(effect.symbol)
      case 'announce':
        return this.#announce(effect)
      case 'killState':
        return this.#options.onKillState(effect.state)
      case 'quiesced':
        return this.#options.onQuiesced()
      case 'stopped':
        return this.#options.onStopped(effect.clean)
      default:
        return unreachable(effect)
    }
  }

  /** A line a log write, and a batch has a line an order: they are logged once the batch has left. */
  #announce(announcement: Announcement): void {
    if (this.#unlogged.length === 0) this.#options.timers.after(0, () => this.tell())
    this.#unlogged.push(announcement)
  }

  #record({ record, durable }: Extract<Effect, { kind: 'record' }>): void {
    const { journal, statistics, eventLog, engine } = this.#options
    journal.append(record, durable)
    this.#recordsSinceCheckpoint += 1
    statistics.observe(record, engine.book)
    eventLog.observe(record)
  }

  #decide(strategyId: StrategyId, snapshot: Snapshot): void {
    const runner = this.#options.runners.get(strategyId)
    if (!runner) return
    const result = runner.decide(snapshot)
    if (result.kind === 'decided') {
      const { intents, stateText, denials } = result
      this.#options.statistics.countIntents(intents)
      this.#queue.push({
        kind: 'decided',
        strategyId,
        sequence: snapshot.sequence,
        intents,
        stateText,
        denials,
      })
    } else {
      this.#queue.push({ kind: 'decisionFailed', strategyId, reason: result.message })
    }
    if (result.isSlow) {
      const fields = { strategy: strategyId, tookMs: result.tookMs }
      this.#announce({ kind: 'announce', level: 'warn', event: 'strategy.slow', fields })
    }
  }
}
