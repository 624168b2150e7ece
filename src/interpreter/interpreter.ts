import { stateOlder } from './older-state.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { countBookChanges, takeBookChanges } from '../engine/book/book-rows.ts'
import type { Effect } from '../engine/effect.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineEvent } from '../engine/event.ts'
import { messageOf } from '../lib/failure.ts'
import { unreachable } from '../lib/unreachable.ts'
import { SLOW_MS } from '../strategy/strategy-runner.ts'
import { AccountReader } from './account-reader.ts'
import { OrderSender } from './order-sender.ts'
import type { JournalPort, Ports } from './ports.ts'
import { isAccountCall } from '../domain/account-call.ts'
import type { Intent } from '../domain/intent.ts'
import type { StrategyKey } from '../domain/record.ts'
import { type Book, pairKey } from '../engine/book/book.ts'

/** Records that need not be durable at once are written after this time at the latest, in ms. */
const FLUSH_MS = 100

/**
 * A checkpoint is written when so many entries of the book have changed. It is one transaction and one event, and costs
 * some 8 µs for each of them: small ones come often, so that none holds up an order for long. It is also written after so
 * many records, however few entries they changed: a start has to read the records since the checkpoint, and older ones
 * can be deleted.
 */
const CHECKPOINT_CHANGES = 250
const CHECKPOINT_RECORDS = 10_000

/** Effects that may wait for commits: seconds of the busiest trading. A journal that is further behind ends the run. */
const WAITING_MAX = 10_000

/**
 * Effects that do not wait for a commit, beside those of a cancel-all ({@link servesCancelAll}). A request for a batch's
 * grant waits: the grant would only be held by a batch that waits itself.
 */
const GOES_AHEAD: ReadonlySet<Effect['kind']> = new Set([
  'record',
  'decide',
  'readFills',
  'readPosition',
])

/**
 * Events that may wait until the present one is handled. Its effects cause them: a few for each strategy and call. More
 * would mean an endless loop, or a process that hangs.
 */
const EVENTS_MAX = 10_000

/** An event, and when the tickers were read that led to it, monotonic ms; undefined: something else did. */
interface CausedEvent {
  readonly event: EngineEvent
  readonly tickersReadAt: number | undefined
}

/**
 * An effect that follows a durable record, the time of the step that it comes from (Unix ms), the tickers that led to
 * that, and the number of the commit that it waits for.
 */
interface WaitingEffect extends Pick<CausedEvent, 'tickersReadAt'> {
  readonly effect: Effect
  readonly at: number
  readonly commit: number
}

/**
 * Performs the effects of the core: one event after the other, and the effects of each event in order. Nothing is sent
 * before the records that precede it are durable (ORD1).
 *
 * Where a commit takes time, the effects that follow its record wait for it, and so do those of later events. Later
 * events are stepped meanwhile, and some effects do not wait: records are appended; reads and decisions change nothing
 * outside (and strategies must decide now, because the ticker table is soon filled again); and a cancel-all, with its
 * grant, must not be delayed.
 *
 * If the process dies between a cancel-all and its commit, the record of the cancel-all is lost: in the book of the
 * next run, orders rest that the exchange has cancelled. So the retreat note (a small file) is left before the first
 * cancel-all that does not wait; where it cannot be written, cancel-alls wait too. A run that finds the note takes
 * no resting order of its book for granted, and removes it when it has resolved them all, if it has not left it again by
 * then; else an orderly end does.
 */
export class Interpreter {
  readonly #engine: Engine
  readonly #ports: Ports
  readonly #sender: OrderSender
  readonly #reader: AccountReader
  readonly #queue = new Fifo<CausedEvent>()
  /** The last event that was stepped, its time, its effects, and how many of them were performed or put aside. */
  #event: EngineEvent | undefined
  #steppedAt = 0
  #effects: readonly Effect[] = []
  #taken = 0
  /** The tickers that led to the last event, and to what is done just now; and the time of the step that this is from. */
  #steppedFor: number | undefined
  #doneFor: number | undefined
  #doneAt = 0
  readonly #waiting = new Fifo<WaitingEffect>()
  /** How many commits have begun, and how many of them are done. */
  #commits = 0
  #committed = 0
  /** Whether the retreat note could be written; undefined while it was not needed. */
  #hasNote: boolean | undefined
  /** Whether the note of the run before was removed. */
  #isNoteForgotten = false
  /** Whether records were appended since the book's changes were last counted. Nothing else changes the book. */
  #hasNewRecords = true
  #isBusy = false
  #isOver = false
  #flushedAt = 0

  constructor(engine: Engine, ports: Ports) {
    this.#engine = engine
    this.#ports = ports
    const dispatch = (event: EngineEvent) => this.dispatch(event)
    this.#reader = new AccountReader({
      exchange: ports.exchange,
      dispatch,
      now: () => ports.clock.monotonic(),
    })
    this.#sender = new OrderSender({
      ports,
      engine,
      dispatch,
      onAccepted: () => this.#reader.noteAccepted(),
    })
  }

  /** Whether a call was made that is not answered yet. */
  get isSending(): boolean {
    return this.#sender.isSending
  }

  /**
   * When the tickers were read that led to what is being performed, monotonic ms, however long it waited for a commit.
   * Undefined where something else led to it, or it waited for anything else.
   */
  get tickersReadAt(): number | undefined {
    return this.#doneFor
  }

  /** Handles an event now, or right after the one that is being handled. @param tickersReadAt Monotonic ms, where tickers led to it. */
  dispatch(event: EngineEvent, tickersReadAt?: number): void {
    if (this.#isOver) return
    this.#enqueue(event, tickersReadAt ?? this.#doneFor)
    this.resume()
  }

  #enqueue(event: EngineEvent, tickersReadAt: number | undefined): void {
    if (this.#queue.push({ event, tickersReadAt }) <= EVENTS_MAX) return
    this.#fail(new Error(`events come faster than they are handled: ${EVENTS_MAX} wait`))
  }

  /** Performs what can be performed now. */
  resume(): void {
    if (this.#isBusy || this.#isOver) return
    this.#isBusy = true
    try {
      while (this.#performNext());
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isBusy = false
      this.#doneFor = undefined
    }
  }

  /** After this nothing is performed any more. */
  close(): void {
    this.#isOver = true
    this.#sender.close()
    this.#reader.stop()
  }

  /** Performs one effect, or else steps one event. False when there is nothing to do. */
  #performNext(): boolean {
    const { interruptions } = this.#ports
    if (this.#isOver || interruptions?.isStill === true) return false
    const effect = this.#nextEffect()
    if (effect) {
      interruptions?.beforeEffect()
      this.#perform(effect)
      interruptions?.afterEffect()
      return true
    }
    if (this.#event !== undefined) this.#endStep(this.#event)
    const caused = this.#queue.take()
    if (caused) this.#step(caused)
    return caused !== undefined
  }

  /** The next effect that can be performed; notes what led to it. */
  #nextEffect(): Effect | undefined {
    const { first } = this.#waiting
    if (first !== undefined && first.commit <= this.#committed) {
      this.#waiting.take()
      this.#doneAt = first.at
      this.#doneFor = first.tickersReadAt
      return first.effect
    }
    while (this.#taken < this.#effects.length) {
      const effect = this.#effects[this.#taken++]
      if (effect === undefined) return undefined
      if (this.#mustWait(effect)) {
        this.#putAside(effect)
        continue
      }
      this.#doneAt = this.#steppedAt
      this.#doneFor = this.#steppedFor
      return effect
    }
    return undefined
  }

  #putAside(effect: Effect): void {
    const waiting = {
      effect,
      at: this.#steppedAt,
      tickersReadAt: this.#steppedFor,
      commit: this.#commits,
    }
    if (this.#waiting.push(waiting) > WAITING_MAX) {
      throw new Error(`the journal does not keep up: ${WAITING_MAX} effects wait for it`)
    }
  }

  #mustWait(effect: Effect): boolean {
    if (this.#committed === this.#commits || GOES_AHEAD.has(effect.kind)) return false
    if (!servesCancelAll(effect)) return true
    // Tried once a run: if a second try succeeded, an effect of a later cancel-all would overtake one that waits.
    this.#hasNote ??= this.#ports.retreatNote.leave()
    return !this.#hasNote
  }

  /** The listener hears of the step before its effects are performed, so that a recording holds what broke the run. */
  #step({ event: heard, tickersReadAt }: CausedEvent): void {
    const { clock, journal, listener, interruptions } = this.#ports
    const event = heard.kind === 'decided' ? withUsedKeys(heard, this.#engine.book, journal) : heard
    const at = clock.now()
    try {
      this.#effects = this.#engine.step(event, at)
    } catch (error) {
      listener.stepped?.({ at, event, effects: [], thrown: messageOf(error) })
      throw error
    }
    this.#event = event
    this.#steppedAt = at
    this.#steppedFor = tickersReadAt
    this.#taken = 0
    listener.stepped?.({ at, event, effects: this.#effects })
    if (interruptions?.isHeardAgain(event) === true) this.#queue.putFirst({ event, tickersReadAt })
  }

  /** Between two steps all records are appended, so the book is exactly what the journal says. */
  #endStep({ kind }: EngineEvent): void {
    this.#event = undefined
    if (kind !== 'timePassed') return
    this.#reader.resume()
    this.#forgetRetreat()
    const { journal, clock } = this.#ports
    if (this.#isCheckpointDue()) return journal.saveCheckpoint(takeBookChanges(this.#engine.book))
    const now = clock.monotonic()
    if (now - this.#flushedAt < FLUSH_MS) return
    this.#flushedAt = now
    journal.flush()
  }

  /** Unless this run itself relies on it. */
  #forgetRetreat(): void {
    if (this.#isNoteForgotten || this.#hasNote === true || !this.#engine.isRetreatSettled) return
    this.#isNoteForgotten = true
    this.#ports.retreatNote.forget()
  }

  #isCheckpointDue(): boolean {
    if (!this.#hasNewRecords) return false
    this.#hasNewRecords = false
    return (
      this.#ports.journal.recordsSinceCheckpoint >= CHECKPOINT_RECORDS ||
      countBookChanges(this.#engine.book) >= CHECKPOINT_CHANGES
    )
  }

  #perform(effect: Effect): void {
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
        return this.#sender.sendBatch(effect.batch, this.#doneAt)
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
      case 'stateOlder':
        return this.#fail(stateOlder(effect.proof))
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
      // Commits are done in order: what is durable is always a prefix of what was appended.
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
      this.#enqueue(
        { kind: 'decided', strategyId, sequence, intents, state, denials },
        this.#doneFor,
      )
    } else {
      const { message: reason, isPaused } = result
      this.#enqueue(
        { kind: 'decisionFailed', strategyId, reason, ...(isPaused && { isPaused }) },
        this.#doneFor,
      )
    }
    if (!result.isSlow) return
    const { elapsedMs, cpuMs } = result
    const fields = {
      strategy: strategyId,
      elapsedMs: Math.round(elapsedMs),
      cpuMs: cpuMs === undefined ? null : Math.round(cpuMs),
      cause: causeOfSlowness(cpuMs),
    }
    announcements.announce({ kind: 'announce', level: 'warn', event: 'strategy.slow', fields })
  }

  #fail(error: unknown): void {
    this.#isOver = true
    this.#ports.announcements.broken(error)
  }
}

/** A decision that computed for less than what counts as slow was held up by others, or by the machine. */
function causeOfSlowness(cpuMs: number | undefined): 'strategy' | 'machine' | 'unknown' {
  if (cpuMs === undefined) return 'unknown'
  return cpuMs > SLOW_MS ? 'strategy' : 'machine'
}

function servesCancelAll(effect: Effect): boolean {
  if (effect.kind !== 'askGrant' && effect.kind !== 'returnGrant')
    return effect.kind === 'sendCancelAll'
  return effect.endpoint === 'cancelAllOrders'
}

/** After so many items were taken from the front, the empty places before the first item are removed. */
const TAKEN_MAX = 1024

/**
 * A queue, first in, first out. Taking the first item costs the same however many wait, and a queue that becomes empty
 * again and again keeps its places: nothing is allocated for them.
 */
export class Fifo<Item extends object> {
  readonly #items: (Item | undefined)[] = []
  /** Where the first item is, and the place behind the last one; all other places are empty. */
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  get first(): Item | undefined {
    return this.#items[this.#start]
  }

  /** Returns how many wait now. */
  push(item: Item): number {
    this.#items[this.#end++] = item
    return this.length
  }

  /** Before all others. */
  putFirst(item: Item): void {
    if (this.#start === 0) {
      this.#items.unshift(undefined)
      this.#end++
    } else this.#start--
    this.#items[this.#start] = item
  }

  take(): Item | undefined {
    if (this.#start === this.#end) return undefined
    const item = this.#items[this.#start]
    this.#items[this.#start++] = undefined
    if (this.#start === this.#end) this.#start = this.#end = 0
    else if (this.#start > TAKEN_MAX) this.#removeTaken()
    return item
  }

  #removeTaken(): void {
    this.#items.splice(0, this.#start)
    this.#end -= this.#start
    this.#start = 0
  }
}

/**
 * Adds to a decision which of its keys were used before. The book forgets a key together with its order, the journal
 * does not. The core itself opens nothing, so the journal is asked before the step, and the event carries the answer.
 */
export function withUsedKeys(
  event: EngineEvent,
  book: Book,
  journal: Pick<JournalPort, 'usedKeys'>,
): EngineEvent {
  if (event.kind !== 'decided' || event.usedKeys !== undefined) return event
  const { strategyId, intents } = event
  if (!intents.some(hasKey)) return event
  const unknown = intents
    .flatMap((intent) => keyOf(intent, strategyId) ?? [])
    .filter((key) => !holds(book, key))
  if (unknown.length === 0) return event
  const usedKeys = journal.usedKeys(unknown)
  return usedKeys.length === 0 ? event : { ...event, usedKeys }
}

function hasKey(intent: Intent): boolean {
  return intent.kind === 'place' || isAccountCall(intent)
}

function keyOf(intent: Intent, strategyId: string): StrategyKey | undefined {
  if (isAccountCall(intent)) return { purpose: 'call', strategyId, key: intent.key }
  return intent.kind === 'place' ? { purpose: 'place', strategyId, key: intent.key } : undefined
}

function holds(book: Book, { purpose, strategyId, key }: StrategyKey): boolean {
  return (purpose === 'call' ? book.callKeys : book.keys).has(pairKey(strategyId, key))
}
