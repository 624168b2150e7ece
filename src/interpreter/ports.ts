import { type Answer } from '../domain/answer.ts'
import { type FillsReading } from '../domain/fill.ts'
import { type StrategyId } from '../domain/ids.ts'
import { type Intent } from '../domain/intent.ts'
import { type PositionReading } from '../domain/position.ts'
import { type JournalRecord } from '../domain/record.ts'
import { type Announcement, type Effect, type OutgoingCall } from '../engine/effect.ts'
import { type EngineEvent } from '../engine/event.ts'
import { type CallOptions } from '../exchange/client/call-options.ts'
import { type GrantSource } from '../exchange/limiter/grant.ts'
import { type Journal } from '../journal/journal.ts'
import { type Clock } from '../lib/clock.ts'
import { type Timers } from '../lib/timers.ts'
import { type BatchResult } from '../protocol/values.ts'
import { type Snapshot } from '../domain/snapshot.ts'
import { type DecisionResult } from '../strategy/strategy-runner.ts'

/** A strategy that can be asked. */
export interface DecidingStrategy {
  /** Undefined: it is paused, and was not asked. */
  decide(snapshot: Snapshot): DecisionResult | undefined
}

/**
 * Everything that the interpreter needs of the world outside. A driver supplies it: the daemon in real time, a
 * backtest in virtual time. Answers come by callback, at any time after the call, so that both can give them.
 */
export interface Ports {
  readonly clock: Clock
  readonly timers: Timers
  readonly journal: JournalPort
  /** The limiter: how soon a call may be made. */
  readonly grants: GrantSource
  readonly exchange: ExchangePort
  readonly safety: SafetyPort
  readonly strategies: ReadonlyMap<StrategyId, DecidingStrategy>
  readonly announcements: AnnouncementsPort
  readonly retreatNote: RetreatNotePort
  readonly listener: RunListener
  /** Absent in a daemon. */
  readonly interruptions?: Interruptions | undefined
}

/** The journal, once it is loaded and before it is closed. */
export type JournalPort = Omit<Journal, 'salt' | 'load' | 'close'>

export type OnAnswer<Data> = (answer: Answer<Data>) => void

/** The exchange, on the account of this run. Every call is answered in the end, and nothing is sent twice by itself. */
export interface ExchangePort {
  /** @param body The exact bytes, as in the record before it. */
  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void
  cancelAll(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void
  /** A call that places no order. */
  callAccount(
    call: Pick<OutgoingCall, 'endpoint' | 'body'>,
    options: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void
  /** @param sinceAt Unix ms, exchange clock. */
  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void
  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void
}

/** What is looked at once more right before the first byte of a call. */
export interface SafetyPort {
  /** False while one of the two clocks may have jumped: a request could expire too late. */
  isClockSynchronised(): boolean
  /** Looks at the kill switch itself, not at what was heard of it. */
  isKilled(): boolean
}

/** What the core says to those outside. */
export interface AnnouncementsPort {
  announce(announcement: Announcement): void
  killState(state: Extract<Effect, { kind: 'killState' }>['state']): void
  quiesced(): void
  stopped(clean: boolean): void
  /** The journal could not be written, or the program is broken: nothing is performed any more. */
  broken(error: unknown): void
}

/** What tells the next run that this one cancelled orders without a record. */
export interface RetreatNotePort {
  /** False: it cannot be left. */
  leave(): boolean
}

/** One step of the core. */
export interface Step {
  /** Unix ms, our clock. */
  readonly at: number
  readonly event: EngineEvent
  readonly effects: readonly Effect[]
  /** Why the core broke on it, where it did. */
  readonly thrown?: string
}

/** How long a batch's record took until it was durable, and how long it may have taken for the batch to leave, ms. */
export interface BatchWait {
  readonly waitedMs: number
  readonly mostMs: number
}

/** Hears what happens: statistics, the flight recorder, the watchers of a test. What it throws ends the run. */
export interface RunListener {
  /** Nothing of its effects has been performed yet. */
  stepped?(step: Step): void
  /** A record was appended; where it must be durable, its commit has begun. */
  recorded?(record: JournalRecord, durable: boolean): void
  decided?(intents: readonly Intent[]): void
  /** A batch's record is durable: it leaves now, or is dropped where that took too long (ORD7). */
  batchDurable?(wait: BatchWait): void
}

/** What can happen to a process between two effects, for tests: it dies, stands still, or hears something twice. */
export interface Interruptions {
  /** While it is true nothing is stepped or performed; `Interpreter.resume` goes on. */
  readonly isStill: boolean
  /** Throws to end the process. */
  beforeEffect(): void
  afterEffect(): void
  /** Whether an event that was just handled is heard once more. */
  isHeardAgain(event: EngineEvent): boolean
}
