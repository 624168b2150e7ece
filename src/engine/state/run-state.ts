import type { ModeReason, Scope } from '../../domain/trading-mode.ts'
import { own } from '../../lib/own.ts'
import type { StopPolicy } from '../event.ts'

/**
 * Says whether strategies are asked; what may leave is the trading mode. `starting`: reads what the
 * exchange holds · `running`: from the first proved instrument on · `stopping`: nothing is decided,
 * calls in flight are awaited · `stopped`.
 */
export type RunPhase = 'starting' | 'running' | 'stopping' | 'stopped'

/**
 * Changed by `run-state.ts`; states of start, stop and kill by the files of that name in
 * `lifecycle/`.
 */
export interface RunState {
  readonly phase: RunPhase
  /** Unix ms, our clock. Earlier runs' times may be wrong, since the clock may have been set. */
  readonly startedAt: number
  readonly start: StartProgress
  readonly stop: StopProgress | undefined
  readonly kill: KillProgress | undefined
  readonly flattens: ReadonlyMap<Scope, FlattenProgress>
  /** Our clock. */
  readonly prunedAt: number
  /** Since when the journal's disk is nearly full; Unix ms, our clock. */
  readonly spaceLowSince: number | undefined
  /** They restrict the account as long as they are exceeded. */
  readonly beyondLimit: ReadonlyMap<PaceReason, BeyondLimit>
  readonly flatBeforeStop: FlatBeforeStop | undefined
}

export type PaceReason = Extract<ModeReason, 'rateLimited' | 'unknownOrders'>

export interface BeyondLimit {
  readonly reason: string
  /** Our clock. */
  readonly since: number
}

export interface FlattenProgress {
  /** The rest when nothing was held or rested, as logged. */
  readonly ended?: string
  /** Then a log line says that it takes long; Unix ms, our clock. */
  readonly patientUntil: number
}

/** Each instrument has a stage of its own. */
export interface StartProgress {
  /** Every instrument is proved. */
  readonly isOver: boolean
  /** Instruments proved later have joined while the account runs. */
  readonly hasEnded: boolean
  /** Unix ms, our clock, when missing readings were last asked for; 0: never. */
  readonly askedAt: number
  /** Our clock. */
  readonly saidAt: number
  /**
   * Keyed by symbol: wishes are placed once their strategy has decided on this snapshot or later.
   */
  readonly wishesFrom: ReadonlyMap<string, number>
  readonly wishesFromLatest: number
}

/**
 * `reading` until fills and position agree with the book · `resolving` until it is proved what
 * became of unknown orders, and of what rests where `onRestart` says cancel · `checking` until
 * fills and position, read after that, agree once more · `proved`: it is traded.
 */
export type StartStage = 'reading' | 'resolving' | 'checking' | 'proved'

export interface InstrumentStart {
  readonly stage: StartStage
  /** Only a position that is asked for later counts; Unix ms, our clock. */
  readonly readSince: number
}

/** A stop that waits until everything is closed. */
export interface FlatBeforeStop {
  /** Our clock. */
  readonly askedAt: number
  /** Keyed by symbol: resolutions that cancelled before. */
  readonly cancelledBefore: ReadonlyMap<string, number>
}

export interface StopProgress {
  readonly policy: StopPolicy
  /** Our clock. */
  readonly startedAt: number
  readonly phase: 'draining' | 'cancelling' | 'confirming' | 'proving'
  /** Readings asked for later prove the end; Unix ms, our clock. */
  readonly provingAt: number
  /** Keyed by symbol: resolutions that cancelled before. More cancels once more, to confirm. */
  readonly cancelledBefore: ReadonlyMap<string, number>
  /** Cancel-alls that had found something when this phase began. */
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
  /** Unix ms, our clock, and how many rounds in a row have agreed. */
  readonly roundAt: number
  readonly rounds: number
  /** The holdings, and how far fills were known, in the last round. */
  readonly seen: string
  readonly leftOut: readonly string[]
  /** Then a log line says that it takes long; Unix ms, our clock. */
  readonly patientUntil: number
  /** Unix ms, our clock. */
  readonly saidAt: number
  /** The last log line, and how many times in a row it came. */
  readonly said: string
  readonly saidTimes: number
  readonly stopAskedAt: number | undefined
  /** With `flatten` that stop ends clean only if nothing is held. */
  readonly stopPolicy: 'leave' | 'flatten'
  /** Asked for before all was proved. */
  readonly release: KillCommand | undefined
}

export interface KillCommand {
  readonly reason: string
  readonly by: string
}

export function noteStarted(run: RunState, now: number): void {
  own(run).startedAt = now
}

export function enterPhase(run: RunState, phase: RunPhase): void {
  own(run).phase = phase
}

export function noteStart(run: RunState, change: Partial<StartProgress>): void {
  Object.assign(own(run.start), change)
}

/** Its strategies must decide on that snapshot or a later one before anything is placed. */
export function holdWishesOn(run: RunState, symbol: string, snapshot: number): void {
  const start = own(run.start)
  start.wishesFrom.set(symbol, snapshot)
  start.wishesFromLatest = snapshot
}

/** The instrument has left. */
export function forgetWishesOn(run: RunState, symbol: string): void {
  own(run.start.wishesFrom).delete(symbol)
}

/** The stop begins: nothing is decided any more. */
export function beginStopping(run: RunState, stop: StopProgress): void {
  own(run).phase = 'stopping'
  own(run).stop = stop
}

/** It ends a stop. */
export function beginKilling(run: RunState, kill: KillProgress): void {
  own(run).kill = kill
  own(run).stop = undefined
  own(run).flatBeforeStop = undefined
}

export function endKilling(run: RunState): void {
  own(run).kill = undefined
}

/** @param progress undefined: released */
export function noteFlatten(
  run: RunState,
  scope: Scope,
  progress: FlattenProgress | undefined,
): void {
  const { flattens } = own(run)
  if (progress) flattens.set(scope, progress)
  else flattens.delete(scope)
}

export function notePruned(run: RunState, now: number): void {
  own(run).prunedAt = now
}

/** @param since Unix ms, our clock; undefined: it has room */
export function noteSpaceLow(run: RunState, since: number | undefined): void {
  own(run).spaceLowSince = since
}

/** @param beyond undefined: within its limit again */
export function noteBeyond(run: RunState, code: PaceReason, beyond: BeyondLimit | undefined): void {
  if (beyond) own(run.beyondLimit).set(code, beyond)
  else own(run.beyondLimit).delete(code)
}

export function noteFlatBeforeStop(
  run: RunState,
  flatBeforeStop: FlatBeforeStop | undefined,
): void {
  own(run).flatBeforeStop = flatBeforeStop
}
