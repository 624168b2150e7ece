import { stateOlder } from '../engine/resolution/older-state.ts'
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

/** Limits the delay of records that need not be durable at once. */
const FLUSH_MS = 100

/**
 * So many changed entries make a checkpoint: one transaction in one event, some 8 µs an entry, so
 * that it delays no order. Records are limited too, since a start reads those after the checkpoint.
 */
const CHECKPOINT_CHANGES = 250
const CHECKPOINT_RECORDS = 10_000
/** A checkpoint waits so many ticks for one that records nothing. */
const TICKS_WAITED_MAX = 5

/** This is seconds of the busiest trading. A journal further behind ends the run. */
const WAITING_MAX = 10_000

/**
 * These wait for no commit: records are only appended, and reads and decisions change nothing
 * outside. A cancel-all and its grant wait for none either. The grant of a batch does, since the
 * waiting batch would hold it.
 */
const GOES_AHEAD: ReadonlySet<Effect['kind']> = new Set([
  'record',
  'decide',
  'readFills',
  'readPosition',
  'listExits',
])

/** More than an event can cause means an endless loop. */
const EVENTS_MAX = 10_000

/** `tickersReadAt`: monotonic ms; undefined unless tickers led to the event. */
interface CausedEvent {
  readonly event: EngineEvent
  readonly tickersReadAt: number | undefined
}

/** `at`: Unix ms of the step; `commit`: the number of the commit that the effect waits for. */
interface WaitingEffect extends Pick<CausedEvent, 'tickersReadAt'> {
  readonly effect: Effect
  readonly at: number
  readonly commit: number
}

/**
 * Performs one event after the other, and the effects of each in order. Nothing is sent before the
 * preceding records are durable (ORD1). While a commit takes time, events are still stepped, and
 * the effects behind the record wait, except those that {@link GOES_AHEAD} allows.
 *
 * If the process dies between a cancel-all and its commit, the next book contains cancelled orders.
 * So a retreat note is written before the first cancel-all that does not wait; if that fails,
 * cancel-alls wait too. A run that finds the note trusts no resting order of its book. It removes
 * the note when all orders are resolved, or, if it has written the note again itself, at its
 * orderly end.
 */
export class Interpreter {
  readonly #engine: Engine
  readonly #ports: Ports
  readonly #sender: OrderSender
  readonly #reader: AccountReader
  readonly #queue = new Fifo<CausedEvent>()
  /** The event of the last step, and how many of its effects were performed or put aside. */
  #event: EngineEvent | undefined
  #steppedAt = 0
  #stepTickersReadAt: number | undefined
  #effects: readonly Effect[] = []
  #effectsTaken = 0
  /** The present effect may come from an earlier step. */
  #effectSteppedAt = 0
  #effectTickersReadAt: number | undefined
  readonly #waiting = new Fifo<WaitingEffect>()
  #commits = 0
  #committed = 0
  #hasNote: boolean | undefined
  #isNoteForgotten = false
  #hasNewRecords = true
  #isPreparing = false
  #ticksWaited = 0
  #hasRecorded = false
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
      isTraded: (symbol) => engine.settings.instruments.has(symbol),
      now: () => ports.clock.monotonic(),
    })
    this.#sender = new OrderSender({
      ports,
      engine,
      dispatch,
      onAccepted: () => this.#reader.noteAccepted(),
    })
  }

  get isSending(): boolean {
    return this.#sender.isSending
  }

  /**
   * Handles the event now, or after those that wait.
   * @param tickersReadAt monotonic ms, if tickers led to it
   */
  dispatch(event: EngineEvent, tickersReadAt = this.#effectTickersReadAt): void {
    if (this.#isOver) return
    if (this.#isIdle) return this.#run(event, tickersReadAt)
    if (this.#queue.push({ event, tickersReadAt }) > EVENTS_MAX)
      this.#fail(new Error(`events come faster than they are handled: ${EVENTS_MAX} wait`))
    this.resume()
  }

  get #isIdle(): boolean {
    return (
      !this.#isBusy &&
      this.#event === undefined &&
      this.#queue.length === 0 &&
      this.#waiting.length === 0 &&
      this.#ports.interruptions === undefined
    )
  }

  resume(): void {
    if (!this.#isBusy && !this.#isOver) this.#run()
  }

  /** @param event steps it at once, past the queue */
  #run(event?: EngineEvent, tickersReadAt?: number): void {
    this.#isBusy = true
    try {
      if (event !== undefined) this.#step(event, tickersReadAt)
      while (this.#performNext());
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isBusy = false
      this.#effectTickersReadAt = undefined
    }
  }

  close(): void {
    this.#isOver = true
    this.#sender.close()
    this.#reader.stop()
  }

  /** Performs one effect, else steps one event. False: nothing is to do. */
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
    if (caused) this.#step(caused.event, caused.tickersReadAt)
    return caused !== undefined
  }

  #nextEffect(): Effect | undefined {
    const { first } = this.#waiting
    if (first !== undefined && first.commit <= this.#committed) {
      this.#waiting.take()
      this.#effectSteppedAt = first.at
      this.#effectTickersReadAt = first.tickersReadAt
      return first.effect
    }
    while (this.#effectsTaken < this.#effects.length) {
      const effect = this.#effects[this.#effectsTaken++]
      if (effect === undefined) return undefined
      if (this.#mustWait(effect)) {
        this.#putAside(effect)
        continue
      }
      this.#effectSteppedAt = this.#steppedAt
      this.#effectTickersReadAt = this.#stepTickersReadAt
      return effect
    }
    return undefined
  }

  #putAside(effect: Effect): void {
    const waiting = {
      effect,
      at: this.#steppedAt,
      tickersReadAt: this.#stepTickersReadAt,
      commit: this.#commits,
    }
    if (this.#waiting.push(waiting) > WAITING_MAX) {
      throw new Error(`the journal does not keep up: ${WAITING_MAX} effects wait for it`)
    }
  }

  #mustWait(effect: Effect): boolean {
    if (this.#committed === this.#commits || GOES_AHEAD.has(effect.kind)) return false
    if (!servesCancelAll(effect)) return true
    // It is tried once: after a second try a later cancel-all could overtake one that waits.
    this.#hasNote ??= this.#ports.retreatNote.leave()
    return !this.#hasNote
  }

  /** The listener gets the step before its effects, so a recording contains what broke the run. */
  #step(heard: EngineEvent, tickersReadAt: number | undefined): void {
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
    this.#hasRecorded = false
    this.#steppedAt = at
    this.#stepTickersReadAt = tickersReadAt
    this.#effectsTaken = 0
    listener.stepped?.({ at, event, effects: this.#effects })
    if (interruptions?.isHeardAgain(event) === true) this.#queue.putFirst({ event, tickersReadAt })
  }

  /** Between two steps all records are appended, so the book equals the journal. */
  #endStep({ kind }: EngineEvent): void {
    this.#event = undefined
    if (kind !== 'timePassed') return
    this.#reader.resume()
    this.#forgetRetreat()
    if (this.#isCheckpointDue() && this.#advanceCheckpoint()) return
    const { journal, clock } = this.#ports
    const now = clock.monotonic()
    if (now - this.#flushedAt < FLUSH_MS) return
    this.#flushedAt = now
    journal.flush()
  }

  #forgetRetreat(): void {
    if (this.#isNoteForgotten || this.#hasNote === true || !this.#engine.isRetreatSettled) return
    this.#isNoteForgotten = true
    this.#ports.retreatNote.forget()
  }

  /**
   * Everything but the book's rows is written in earlier turns, unless too many records wait; the
   * rows wait for a tick that records nothing.
   * @returns whether anything was written
   */
  #advanceCheckpoint(): boolean {
    const { journal } = this.#ports
    const isLate = journal.recordsSinceCheckpoint >= CHECKPOINT_RECORDS
    this.#isPreparing = true
    if (!isLate && journal.prepareCheckpoint()) return true
    if (!isLate && this.#hasRecorded && ++this.#ticksWaited <= TICKS_WAITED_MAX) return false
    this.#isPreparing = false
    this.#ticksWaited = 0
    journal.saveCheckpoint(takeBookChanges(this.#engine.book))
    return true
  }

  #isCheckpointDue(): boolean {
    if (this.#isPreparing) return true
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
        return this.#sender.sendBatch(effect.batch, {
          recordedAt: this.#effectSteppedAt,
          tickersReadAt: this.#effectTickersReadAt,
        })
      case 'sendCall':
        return this.#sender.sendCall(effect.call)
      case 'sendCancelAll':
        return this.#sender.sendCancelAll(effect)
      case 'readFills':
        return this.#reader.readFills(effect.sinceAt)
      case 'readPosition':
        return this.#reader.readPosition(effect.symbol, effect.isUrgent === true)
      case 'listExits':
        return this.#listExits(effect.symbol)
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

  #listExits(symbol: string): void {
    // The instrument may have left its universe in this step.
    if (!this.#engine.settings.instruments.has(symbol)) return
    this.#ports.exchange.listExits(symbol, (answer) => {
      if (answer.kind === 'accepted')
        return this.dispatch({ kind: 'exitsListed', listed: answer.data })
      const problem = `${answer.code} ${answer.message}`.trim()
      this.dispatch({ kind: 'exitsUnlisted', symbol, problem })
    })
  }

  #record({ record, durable, bookings }: Extract<Effect, { kind: 'record' }>): void {
    const { journal, listener } = this.#ports
    journal.append(record, bookings)
    this.#hasNewRecords = true
    this.#hasRecorded = true
    if (durable) {
      const commit = ++this.#commits
      journal.commit((failure) => {
        if (this.#isOver) return
        if (failure !== undefined) return this.#fail(failure)
        // Commits are done in order: the durable part is a prefix.
        this.#committed = Math.max(this.#committed, commit)
        this.resume()
      })
    }
    if (!this.#isOver) listener.recorded?.(record, durable)
  }

  #decide(strategyId: StrategyId, snapshot: Snapshot): void {
    const { strategies, listener, announcements } = this.#ports
    const result = strategies.get(strategyId)?.decide(snapshot)
    if (!result) return
    if (result.kind === 'decided') {
      const { intents, state, denials, plots, waits } = result
      const { sequence } = snapshot
      listener.decided?.(intents)
      if (plots !== undefined) listener.plotted?.(strategyId, plots)
      if (waits !== undefined) listener.waited?.(strategyId, waits)
      this.dispatch({ kind: 'decided', strategyId, sequence, intents, state, denials })
    } else {
      const { message: reason, isPaused } = result
      listener.waited?.(strategyId, [])
      this.dispatch({
        kind: 'decisionFailed',
        strategyId,
        reason,
        ...(isPaused && { isPaused }),
      })
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

/** A slow decision that computed less than the limit was delayed by other work. */
function causeOfSlowness(cpuMs: number | undefined): 'strategy' | 'machine' | 'unknown' {
  if (cpuMs === undefined) return 'unknown'
  return cpuMs > SLOW_MS ? 'strategy' : 'machine'
}

function servesCancelAll(effect: Effect): boolean {
  if (effect.kind !== 'askGrant' && effect.kind !== 'returnGrant')
    return effect.kind === 'sendCancelAll'
  return effect.endpoint === 'cancelAllOrders'
}

const TAKEN_MAX = 1024

/** Taking is O(1), and a queue that often becomes empty allocates nothing. */
export class Fifo<Item extends object> {
  readonly #items: (Item | undefined)[] = []
  #start = 0
  #end = 0

  get length(): number {
    return this.#end - this.#start
  }

  get first(): Item | undefined {
    return this.#items[this.#start]
  }

  push(item: Item): number {
    this.#items[this.#end++] = item
    return this.length
  }

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

/** The book forgets keys, and the core opens nothing, so the journal is asked before the step. */
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
