import type { InstrumentSymbol } from '../../domain/ids.ts'
import type { ModeReason, Scope } from '../../domain/trading-mode.ts'
import { mutable } from '../../lib/mutable.ts'
import type { CommandSource, StopPolicy } from '../event.ts'

/**
 * The phase says whether strategies are asked; the trading mode says what may leave. `starting`
 * ends with the first proved instrument. While `stopping`, nothing is decided, and calls in flight
 * are awaited.
 */
export type RunPhase = 'starting' | 'running' | 'stopping' | 'stopped'

/**
 * Changed by `run-state.ts`, and `stop` and `kill` by the files of that name in `lifecycle/`. As in
 * `core.ts`, instants are Unix ms of our clock, and 0 means never.
 */
export interface RunState {
  readonly phase: RunPhase
  readonly startedAt: number
  readonly start: StartProgress
  readonly stop: StopProgress | undefined
  readonly kill: KillProgress | undefined
  readonly flattens: ReadonlyMap<Scope, FlattenProgress>
  readonly prunedAt: number
  /** Undefined while the journal's disk has room. */
  readonly spaceLowSince: number | undefined
  /** Limits that restrict the account as long as they are exceeded. */
  readonly beyondLimit: ReadonlyMap<PaceReason, BeyondLimit>
  readonly flatBeforeStop: FlatBeforeStop | undefined
}

export type PaceReason = Extract<ModeReason, 'rateLimited' | 'unknownOrders'>

export interface BeyondLimit {
  readonly reason: string
  readonly since: number
}

export interface FlattenProgress {
  /** The rest that was logged when the flatten ended. */
  readonly ended?: string
  /** After this a log line says that the flatten takes long. */
  readonly patientUntil: number
}

export interface StartProgress {
  /** Every instrument is proved. */
  readonly isOver: boolean
  /** The start has ended once: instruments that are proved later have joined a running account. */
  readonly hasEnded: boolean
  /** When missing readings were last asked for. */
  readonly askedAt: number
  /** When the wait was last logged. */
  readonly saidAt: number
  /** Wishes are placed once their strategy has decided on this snapshot or a later one. */
  readonly wishesFrom: ReadonlyMap<InstrumentSymbol, number>
  readonly wishesFromLatest: number
}

/** The stages are drawn in `lifecycle/start.ts`. */
export type StartStage = 'reading' | 'resolving' | 'checking' | 'proved'

export interface InstrumentStart {
  readonly stage: StartStage
  /** Only a position that is asked for later counts. */
  readonly readSince: number
}

export interface FlatBeforeStop {
  readonly askedAt: number
  /** How many resolutions had cancelled before. */
  readonly cancelledBefore: ReadonlyMap<InstrumentSymbol, number>
}

export interface StopProgress {
  readonly policy: StopPolicy
  readonly startedAt: number
  readonly phase: 'draining' | 'cancelling' | 'confirming' | 'proving'
  /** Readings that are asked for later prove the end. */
  readonly provingAt: number
  /** As in {@link FlatBeforeStop}: one more confirms the cancel-all. */
  readonly cancelledBefore: ReadonlyMap<InstrumentSymbol, number>
  /** How many cancel-alls had found something when this phase began. */
  readonly foundBefore: number
  readonly askedAt: number
  /** Something was on the wire, or being resolved, since `proving` began. */
  readonly wasBusy: boolean
  /** An unreadable instrument had no second cancel-all when `proving` began. */
  readonly isConfirmedInPart: boolean
}

export interface KillProgress {
  readonly phase:
    | 'cutting'
    | 'draining'
    | 'clearing'
    | 'waiting'
    | 'confirming'
    | 'proving'
    | 'clean'
  readonly foundBefore: number
  /** When the present round of readings began, and how many rounds in a row have agreed. */
  readonly roundAt: number
  readonly rounds: number
  /** The holdings of the last round, and how far fills were known, as text. */
  readonly seen: string
  readonly leftOut: readonly string[]
  /** After this a log line says that the kill takes long. */
  readonly patientUntil: number
  readonly saidAt: number
  /** The last log line, and how many times in a row it came. */
  readonly said: string
  readonly saidTimes: number
  readonly stopAskedAt: number | undefined
  /** With `flatten` the stop ends clean only if nothing is held. */
  readonly stopPolicy: 'leave' | 'flatten'
  /** A release that was asked for before all was proved. */
  readonly release: CommandSource | undefined
}

export function noteStartedAt(run: RunState, now: number): void {
  mutable(run).startedAt = now
}

export function enterPhase(run: RunState, phase: RunPhase): void {
  mutable(run).phase = phase
}

export function noteStartProgress(run: RunState, change: Partial<StartProgress>): void {
  Object.assign(mutable(run.start), change)
}

export function holdWishesOn(run: RunState, symbol: string, snapshot: number): void {
  const start = mutable(run.start)
  start.wishesFrom.set(symbol, snapshot)
  start.wishesFromLatest = snapshot
}

export function forgetWishesOn(run: RunState, symbol: string): void {
  mutable(run.start.wishesFrom).delete(symbol)
}

export function beginStopping(run: RunState, stop: StopProgress): void {
  mutable(run).phase = 'stopping'
  mutable(run).stop = stop
}

export function replaceStopByKill(run: RunState, kill: KillProgress): void {
  mutable(run).kill = kill
  mutable(run).stop = undefined
  mutable(run).flatBeforeStop = undefined
}

export function endKilling(run: RunState): void {
  mutable(run).kill = undefined
}

/** @param progress undefined: released */
export function noteFlatten(
  run: RunState,
  scope: Scope,
  progress: FlattenProgress | undefined,
): void {
  const { flattens } = mutable(run)
  if (progress) flattens.set(scope, progress)
  else flattens.delete(scope)
}

export function notePruned(run: RunState, now: number): void {
  mutable(run).prunedAt = now
}

/** @param since undefined: the disk has room */
export function noteSpaceLow(run: RunState, since: number | undefined): void {
  mutable(run).spaceLowSince = since
}

/** @param beyond undefined: within its limit again */
export function noteBeyond(run: RunState, code: PaceReason, beyond: BeyondLimit | undefined): void {
  if (beyond) mutable(run.beyondLimit).set(code, beyond)
  else mutable(run.beyondLimit).delete(code)
}

export function noteFlatBeforeStop(
  run: RunState,
  flatBeforeStop: FlatBeforeStop | undefined,
): void {
  mutable(run).flatBeforeStop = flatBeforeStop
}
