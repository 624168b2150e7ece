import { type StrategyId } from '../domain/ids.ts'
import { type Snapshot } from '../domain/snapshot.ts'
import { countBookChanges, takeBookChanges } from '../engine/book/book-json.ts'
import { type Effect } from '../engine/effect.ts'
import { type Engine } from '../engine/engine.ts'
import { type EngineEvent } from '../engine/event.ts'
import { messageOf } from '../lib/failure.ts'
import { unreachable } from '../lib/unreachable.ts'
import { AccountReader } from './account-reader.ts'
import { Fifo } from './fifo.ts'
import { OrderSender } from './order-sender.ts'
import { type Ports } from './ports.ts'
import { withUsedKeys } from './used-keys.ts'

/** Records that need not be durable at once wait no longer than this for one that must. */
const FLUSH_MS = 100

/**
 * A checkpoint is written when so many entries of the book have changed: it costs what has changed, and takes
 * some 10 ms then (`npm run bench:journal`). Or when there were so many records, which may change no entry or one
 * again and again: a start reads no more than these, and what is older than the journal keeps can go.
 */
const CHECKPOINT_CHANGES = 1000
const CHECKPOINT_RECORDS = 10_000

/** Effects that may wait for a commit: seconds of the busiest trading. A journal further behind is as good as none. */
const WAITING_MAX = 10_000

/** What does not wait for a commit. A batch's grant does: one that waits has it in hand. */
const GOES_AHEAD: ReadonlySet<Effect['kind']> = new Set(['record', 'decide', 'readFills', 'readPosition'])

/**
 * Events that may wait for the one that is being handled: they come of its effects, some of each strategy and call.
 * More would be a loop, or a process that stands still.
 */
const EVENTS_MAX = 10_000

/** An effect, and when the event was stepped that it comes of, Unix ms. */
interface TimedEffect {
  readonly effect: Effect
  readonly at: number
}

/** An effect behind a durable record, and which commit it waits for. */
interface WaitingEffect extends TimedEffect {
  readonly commit: number
}

/**
 * Performs what the core wants done: one event after the other, and each event's effects in order. Nothing is
 * sent before what precedes it is durable (ORD1).
 *
 * Where a commit takes time, the effects behind its record wait for it, and those of later events behind them.
 * Meanwhile later events are stepped, and some effects go ahead: records are appended; reads and decisions change
 * nothing outside (and the prices that are decided on stand in a table that is soon filled again); a cancel-all
 * must not wait, nor the grant for it.
 *
 * If the process dies between a cancel-all and its commit, the record of it is lost: orders rest in the book of
 * the next run that the exchange has cancelled, or is about to. So the note of a retreat is left before the first
 * cancel-all goes ahead (where it cannot be, cancel-alls wait as well), and a run that finds it believes its book
 * of nothing that rests. It is gone after an end in good order.
 */
export class Interpreter {
  readonly #engine: Engine
  readonly #ports: Ports
  readonly #sender: OrderSender
  readonly #reader: AccountReader
  readonly #queue = new Fifo<EngineEvent>()
  /** The event that was stepped last, its effects, and how many of them were taken up. */
  #event: EngineEvent | undefined
  #steppedAt = 0
  #effects: readonly Effect[] = []
  #taken = 0
  readonly #waiting = new Fifo<WaitingEffect>()
  /** How many commits were begun, and how many of them are done. */
  #commits = 0
  #committed = 0
  /** Whether the note of a retreat could be left; undefined while it was not needed. */
  #hasNote: boolean | undefined
  /** Whether there were records since the book's changes were counted: nothing else changes it. */
  #hasNewRecords = true
  #isBusy = false
  #isOver = false
  #flushedAt = 0

  constructor(engine: Engine, ports: Ports) {
    this.#engine = engine
    this.#ports = ports
    const dispatch = (event: EngineEvent) => this.dispatch(event)
    this.#sender = new OrderSender({ ports, engine, dispatch })
    this.#reader = new AccountReader({ exchange: ports.exchange, dispatch })
  }

  /** Whether a call was made that is not answered yet. */
  get isSending(): boolean {
    return this.#sender.isSending
  }

  /** Handles an event now, or right after the one that is being handled. */
  dispatch(event: EngineEvent): void {
    if (this.#isOver) return
    this.#enqueue(event)
    this.resume()
  }

  #enqueue(event: EngineEvent): void {
    if (this.#queue.push(event) <= EVENTS_MAX) return
    this.#fail(new Error(`events come faster than they are handled: ${EVENTS_MAX} wait`))
  }

  /** Goes on with what was begun. */
  resume(): void {
    if (this.#isBusy || this.#isOver) return
    this.#isBusy = true
    try {
      while (this.#goOn());
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isBusy = false
    }
  }

  /** After this nothing is performed any more. */
  close(): void {
    this.#isOver = true
    this.#sender.close()
  }

  /** One effect, or else one step. False when there is nothing to do. */
  #goOn(): boolean {
    const { interruptions } = this.#ports
    if (this.#isOver || interruptions?.isStill === true) return false
    const next = this.#nextEffect()
    if (next) {
      interruptions?.beforeEffect()
      this.#perform(next)
      interruptions?.afterEffect()
      return true
    }
    this.#endStep()
    const event = this.#queue.take()
    if (event) this.#step(event)
    return event !== undefined
  }

  #nextEffect(): TimedEffect | undefined {
    const { first } = this.#waiting
    if (first !== undefined && first.commit <= this.#committed) return this.#waiting.take()
    const [effects, at] = [this.#effects, this.#steppedAt]
    while (this.#taken < effects.length) {
      const effect = effects[this.#taken++]
      if (effect === undefined) return undefined
      if (!this.#mustWait(effect)) return { effect, at }
      if (this.#waiting.push({ effect, at, commit: this.#commits }) > WAITING_MAX) {
        throw new Error(`the journal does not keep up: ${WAITING_MAX} effects wait for it`)
      }
    }
    return undefined
  }

  #mustWait(effect: Effect): boolean {
    if (this.#committed === this.#commits || GOES_AHEAD.has(effect.kind)) return false
    if (!servesCancelAll(effect)) return true
    // Asked once: a grant that was given back in vain must not be overtaken by the next.
    this.#hasNote ??= this.#ports.retreatNote.leave()
    return !this.#hasNote
  }

  /** The listener hears of it before anything is performed: what breaks the run is in the recording. */
  #step(heard: EngineEvent): void {
    const { clock, journal, listener, interruptions } = this.#ports
    const event = withUsedKeys(heard, this.#engine.book, journal)
    const at = clock.now()
    try {
      this.#effects = this.#engine.step(event, at)
    } catch (error) {
      listener.stepped?.({ at, event, effects: [], thrown: messageOf(error) })
      throw error
    }
    this.#event = event
    this.#steppedAt = at
    this.#taken = 0
    listener.stepped?.({ at, event, effects: this.#effects })
    if (interruptions?.isHeardAgain(event) === true) this.#queue.putFirst(event)
  }

  /** Between two steps every record is appended: the book is what the journal says. */
  #endStep(): void {
    const event = this.#event
    this.#event = undefined
    if (event?.kind !== 'timePassed') return
    const { journal, clock } = this.#ports
    if (this.#isCheckpointDue()) return journal.saveCheckpoint(takeBookChanges(this.#engine.book))
    const now = clock.monotonic()
    if (now - this.#flushedAt < FLUSH_MS) return
    this.#flushedAt = now
    journal.flush()
  }

  #isCheckpointDue(): boolean {
    if (!this.#hasNewRecords) return false
    this.#hasNewRecords = false
    return (
      this.#ports.journal.recordsSinceCheckpoint >= CHECKPOINT_RECORDS ||
      countBookChanges(this.#engine.book) >= CHECKPOINT_CHANGES
    )
  }

  #perform({ effect, at }: TimedEffect): void {
    const { announcements } = this.#ports
    switch (effect.kind) {
      case 'decide':
        return this.#decide(effect.strategyId, effect.snapshot)
      case 'askGrant':
        return this.#sender.askGrant(effect.endpoint, effect.priority)
      case 'returnGrant':
        return this.#sender.returnGrant(effect.endpoint)
      case 'record':
        return this.#record(effect)
      case 'sendBatch':
        return this.#sender.sendBatch(effect.batch, at)
      case 'sendCall':
        return this.#sender.sendCall(effect.call)
      case 'sendCancelAll':
        return this.#sender.sendCancelAll(effect)
      case 'readFills':
        return this.#reader.readFills(effect.sinceAt)
      case 'readPosition':
        return this.#reader.readPosition(effect.symbol, effect.isUrgent === true)
      case 'announce':
        return announcements.announce(effect)
      case 'killState':
        return announcements.killState(effect.state)
      case 'quiesced':
        return announcements.quiesced()
      case 'stopped':
        this.#reader.stop()
        return announcements.stopped(effect.clean)
      default:
        return unreachable(effect)
    }
  }

  #record({ record, durable, bookings }: Extract<Effect, { kind: 'record' }>): void {
    const { journal, listener } = this.#ports
    journal.append(record, bookings)
    this.#hasNewRecords = true
    if (durable) this.#commit()
    if (!this.#isOver) listener.recorded?.(record, durable)
  }

  #commit(): void {
    const commit = ++this.#commits
    this.#ports.journal.commit((failure) => {
      if (this.#isOver) return
      if (failure !== undefined) return this.#fail(failure)
      // What is durable is a prefix: with this commit all before it are done.
      this.#committed = Math.max(this.#committed, commit)
      this.resume()
    })
  }

  #decide(strategyId: StrategyId, snapshot: Snapshot): void {
    const { strategies, listener, announcements } = this.#ports
    const result = strategies.get(strategyId)?.decide(snapshot)
    if (!result) return
    if (result.kind === 'decided') {
      const { intents, state, denials } = result
      const { sequence } = snapshot
      listener.decided?.(intents)
      this.#enqueue({ kind: 'decided', strategyId, sequence, intents, state, denials })
    } else {
      const { message: reason, isPaused } = result
      this.#enqueue({ kind: 'decisionFailed', strategyId, reason, ...(isPaused && { isPaused }) })
    }
    if (!result.isSlow) return
    const fields = { strategy: strategyId, tookMs: Math.round(result.tookMs) }
    announcements.announce({ kind: 'announce', level: 'warn', event: 'strategy.slow', fields })
  }

  #fail(error: unknown): void {
    this.#isOver = true
    this.#ports.announcements.broken(error)
  }
}

function servesCancelAll(effect: Effect): boolean {
  if (effect.kind !== 'askGrant' && effect.kind !== 'returnGrant') return effect.kind === 'sendCancelAll'
  return effect.endpoint === 'cancelAllOrders'
}
