import { type StrategyId } from '../domain/ids.ts'
import { type Snapshot } from '../domain/snapshot.ts'
import { type Announcement, type Effect } from '../engine/effect.ts'
import { type Engine } from '../engine/engine.ts'
import { type EngineEvent } from '../engine/event.ts'
import { type Journal } from '../journal/journal.ts'
import { type Clock } from '../lib/clock.ts'
import { unreachable } from '../lib/unreachable.ts'
import { type StrategyRunner } from '../strategy/strategy-runner.ts'
import { type AccountReader } from './account-reader.ts'
import { type OrderDoor } from './order-door.ts'
import { type Tally } from './tally.ts'

export interface ShellOptions {
  readonly engine: Engine
  readonly journal: Journal
  readonly runners: ReadonlyMap<StrategyId, StrategyRunner>
  readonly door: OrderDoor
  readonly reader: AccountReader
  readonly tally: Tally
  readonly clock: Clock
  readonly announce: (announcement: Announcement) => void
  readonly onQuiesced: () => void
  readonly onStopped: (clean: boolean) => void
  /** The journal could not be written, or the program is broken: nothing is performed any more. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Drives the core in real time: one event after the other, and each event's effects in order before the next
 * one. A durable record is on disk before the effect behind it is performed, so no send precedes it (ORD1).
 */
export class Shell {
  readonly #options: ShellOptions
  readonly #queue: EngineEvent[] = []
  #isBusy = false
  #isDead = false

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

  /** After this nothing is performed any more. */
  close(): void {
    this.#isDead = true
  }

  #drain(): void {
    const { engine, clock } = this.#options
    for (let event = this.#queue.shift(); event && !this.#isDead; event = this.#queue.shift()) {
      for (const effect of engine.step(event, clock.now())) this.#perform(effect)
    }
  }

  #perform(effect: Effect): void {
    const { journal, door, reader, tally, engine } = this.#options
    switch (effect.kind) {
      case 'decide':
        return this.#decide(effect.strategyId, effect.snapshot)
      case 'askGrant':
        return door.ask(effect.endpoint, effect.priority)
      case 'returnGrant':
        return door.giveBack(effect.endpoint)
      case 'record':
        journal.append(effect.record, effect.durable)
        return tally.observe(effect.record, engine.book)
      case 'sendBatch':
        return door.sendBatch(effect.batch)
      case 'sendCancelAll':
        return door.sendCancelAll(effect)
      case 'readFills':
        return reader.readFills(effect.sinceAt)
      case 'readPosition':
        return reader.readPosition(effect.symbol)
      case 'announce':
        return this.#options.announce(effect)
      case 'quiesced':
        return this.#options.onQuiesced()
      case 'stopped':
        return this.#options.onStopped(effect.clean)
      default:
        return unreachable(effect)
    }
  }

  #decide(strategyId: StrategyId, snapshot: Snapshot): void {
    const runner = this.#options.runners.get(strategyId)
    if (!runner || runner.disabledReason !== undefined) return
    const result = runner.decide(snapshot)
    if (result.kind === 'decided') {
      const { intents, stateText, denials } = result
      this.#options.tally.countIntents(intents)
      this.#queue.push({
        kind: 'decided',
        strategyId,
        sequence: snapshot.sequence,
        intents,
        stateText,
        denials,
      })
    } else {
      const reason = result.kind === 'failed' ? result.message : result.reason
      const disabled = runner.disabledReason !== undefined
      this.#queue.push({ kind: 'decisionFailed', strategyId, reason, disabled })
    }
    if (result.kind !== 'disabled' && result.isSlow) {
      const fields = { strategy: strategyId, tookMs: result.tookMs }
      this.#options.announce({ kind: 'announce', level: 'warn', event: 'strategy.slow', fields })
    }
  }
}
