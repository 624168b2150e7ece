import type { Answer } from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { Intent } from '../domain/intent.ts'
import type { PositionReading } from '../domain/position.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Announcement, Effect, OutgoingCall } from '../engine/effect.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { CallOptions } from '../exchange/client/call-options.ts'
import type { GrantSource } from '../exchange/limiter/grant.ts'
import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../lib/clock.ts'
import type { Timers } from '../lib/timers.ts'
import type { BatchResult } from '../protocol/values.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { DecisionResult } from '../strategy/strategy-runner.ts'

/** A strategy that can be asked to decide. */
export interface DecidingStrategy {
  /** Undefined: the strategy is paused and was not asked. */
  decide(snapshot: Snapshot): DecisionResult | undefined
}

/**
 * Everything that the interpreter needs of the outside world. A driver supplies it: the daemon in real time, a backtest
 * in virtual time. Answers come by callback, so that a driver may give them at once or later.
 */
export interface Ports {
  readonly clock: Clock
  readonly timers: Timers
  readonly journal: JournalPort
  /** The limiter, which decides when a call may be made. */
  readonly grants: GrantSource
  readonly exchange: ExchangePort
  readonly safety: SafetyPort
  readonly strategies: ReadonlyMap<StrategyId, DecidingStrategy>
  readonly announcements: AnnouncementsPort
  readonly retreatNote: RetreatNotePort
  readonly listener: RunListener
  /** For tests; absent in a daemon. */
  readonly interruptions?: Interruptions | undefined
}

/** The journal between its loading and its closing, which are the driver's. */
export type JournalPort = Omit<Journal, 'salt' | 'load' | 'close'>

export type OnAnswer<Data> = (answer: Answer<Data>) => void

/** The exchange, as the account of this run. Every call is answered in the end, and no call is repeated by itself. */
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

/** Checks made once more right before the first byte of a call. */
export interface SafetyPort {
  /** False while one of the two clocks may have jumped: a request could expire too late. */
  isClockSynchronised(): boolean
  /** Looks at the kill switch itself. */
  isKilled(): boolean
}

/** Log lines, alerts and metrics of the core. */
export interface AnnouncementsPort {
  announce(announcement: Announcement): void
  killState(state: Extract<Effect, { kind: 'killState' }>['state']): void
  quiesced(): void
  stopped(clean: boolean): void
  /** The journal could not be written, or the program is broken. Nothing is performed from now on. */
  broken(error: unknown): void
}

/** A note that tells the next run that this one may have cancelled orders without a record. */
export interface RetreatNotePort {
  /** False: it cannot be written. */
  leave(): boolean
  /** Removes that of the run before. One that cannot be removed stays: the next run cancels once more than it has to. */
  forget(): void
}

/** One step of the core. */
export interface Step {
  /** Unix ms, our clock. */
  readonly at: number
  readonly event: EngineEvent
  readonly effects: readonly Effect[]
  /** The message of an error that the core threw. */
  readonly thrown?: string
}

/** How long the record of a batch took to become durable, and how long it could take for the batch still to be sent, ms. */
export interface BatchWait {
  readonly waitedMs: number
  readonly mostMs: number
}

/** Is told what happens: statistics, the flight recorder, the checkers of a test. What it throws ends the run. */
export interface RunListener {
  /** The core has made a step; none of its effects has been performed yet. */
  stepped?(step: Step): void
  /** A record was appended; if it must be durable, its commit has begun. */
  recorded?(record: JournalRecord, durable: boolean): void
  decided?(intents: readonly Intent[]): void
  /** The record of a batch is durable: the batch is sent now, or dropped if that took too long (ORD7). */
  batchDurable?(wait: BatchWait): void
}

/** Faults that tests cause between two effects: the process dies, stands still, or hears an event twice. */
export interface Interruptions {
  /** While it is true nothing is stepped or performed; `Interpreter.resume` goes on. */
  readonly isStill: boolean
  /** Throws to end the process. */
  beforeEffect(): void
  afterEffect(): void
  /** Whether an event that was just handled is heard once more. */
  isHeardAgain(event: EngineEvent): boolean
}
