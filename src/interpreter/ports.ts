import type { Answer } from '../domain/answer.ts'
import type { FillsReading } from '../domain/fill.ts'
import type { StrategyId } from '../domain/ids.ts'
import type { Intent } from '../domain/intent.ts'
import type { PlotPoint } from '../domain/plot.ts'
import type { StrategyWait } from '../domain/strategy-wait.ts'
import type { ListedExits, PositionReading } from '../domain/position.ts'
import type { JournalRecord } from '../domain/record.ts'
import type { Announcement, Effect, OutgoingCall } from '../engine/effect.ts'
import type { EngineEvent } from '../engine/event.ts'
import type { CallOptions } from '../exchange/client/request-writer.ts'
import type { GrantSource } from '../exchange/limiter/grant.ts'
import type { Journal } from '../journal/journal.ts'
import type { Clock } from '../lib/clock.ts'
import type { Timers } from '../lib/timers.ts'
import type { BatchResult } from '../protocol/values.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import type { DecisionResult } from '../strategy/strategy-runner.ts'

export interface DecidingStrategy {
  /** Undefined: the strategy is paused. */
  decide(snapshot: Snapshot): DecisionResult | undefined
}

/** Answers come by callback, at once or later. */
export interface Ports {
  readonly clock: Clock
  readonly timers: Timers
  readonly journal: JournalPort
  readonly grants: GrantSource
  readonly exchange: ExchangePort
  readonly safety: SafetyPort
  readonly strategies: ReadonlyMap<StrategyId, DecidingStrategy>
  readonly announcements: AnnouncementsPort
  readonly retreatNote: RetreatNotePort
  readonly listener: RunListener
  readonly interruptions?: Interruptions | undefined
}

/** The driver loads and closes the journal. */
export type JournalPort = Omit<Journal, 'salt' | 'load' | 'close'>

export type OnAnswer<Data> = (answer: Answer<Data>) => void

/** Every call is answered in the end, and none is repeated. */
export interface ExchangePort {
  /** @param body exact bytes, as in the preceding record */
  placeBatch(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void
  cancelAll(body: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void
  callAccount(
    call: Pick<OutgoingCall, 'endpoint' | 'body'>,
    options: CallOptions,
    onAnswer: OnAnswer<unknown>,
  ): void
  /** @param sinceAt Unix ms, exchange clock */
  readFills(sinceAt: number, onAnswer: OnAnswer<FillsReading>): void
  readPosition(symbol: string, onAnswer: OnAnswer<PositionReading>): void
  /** This is beyond the document, and asked for only where settings allow it. */
  listExits(symbol: string, onAnswer: OnAnswer<ListedExits>): void
}

export interface SafetyPort {
  /** False while a clock may have jumped: a request could expire too late. */
  isClockSynchronised(): boolean
  isKilled(): boolean
}

export interface AnnouncementsPort {
  announce(announcement: Announcement): void
  killState(state: Extract<Effect, { kind: 'killState' }>['state']): void
  quiesced(): void
  stopped(clean: boolean): void
  /** Nothing is performed any more: the journal cannot be written, or there is a defect. */
  broken(error: unknown): void
}

/** Tells the next run that this one may have cancelled without a record. */
export interface RetreatNotePort {
  leave(): boolean
  /** If the removal fails, the next run cancels once more than necessary. */
  forget(): void
}

export interface Step {
  /** Unix ms, our clock. */
  readonly at: number
  readonly event: EngineEvent
  readonly effects: readonly Effect[]
  readonly thrown?: string
}

/** How long a batch's record took to become durable, and how long it might have taken. */
export interface BatchWait {
  readonly waitedMs: number
  readonly mostMs: number
}

/** An error that a listener throws ends the run. */
export interface RunListener {
  stepped?(step: Step): void
  /** If it must be durable, its commit has begun. */
  recorded?(record: JournalRecord, durable: boolean): void
  decided?(intents: readonly Intent[]): void
  /** All that the strategy waits for now; it is called when that changes. */
  waited?(strategyId: StrategyId, waits: readonly StrategyWait[]): void
  plotted?(strategyId: StrategyId, points: readonly PlotPoint[]): void
  /** The batch is sent now, or dropped if this took too long (ORD7). */
  batchDurable?(wait: BatchWait): void
  /** Nothing objects: the first byte follows in this turn. `tickersReadAt`: {@link BatchCause}. */
  batchLeaves?(tickersReadAt: number | undefined): void
}

/** Faults of tests: the process dies, stands still, or gets an event twice. */
export interface Interruptions {
  /** While true nothing is stepped; `Interpreter.resume` goes on. */
  readonly isStill: boolean
  /** Throws to end the process. */
  beforeEffect(): void
  afterEffect(): void
  isHeardAgain(event: EngineEvent): boolean
}
