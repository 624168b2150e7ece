import type { ModeReason, Scope } from '../../domain/trading-mode.ts'
import { own } from '../../lib/own.ts'
import type { StopPolicy } from '../event.ts'

/**
 * The phase of a run of the process. It says whether strategies are asked, not what may leave (that is the trading mode).
 * `starting`: reads what the exchange holds, strategies are not asked yet · `running`: from when the first instrument is
 * proved; the others follow one by one · `stopping`: nothing is decided any more, calls in flight are awaited · `stopped`.
 */
export type RunPhase = 'starting' | 'running' | 'stopping' | 'stopped'

/** Changed by `run-state.ts`; the states of start, stop and kill by the files of that name in `lifecycle/`. */
export interface RunState {
  readonly phase: RunPhase
  /** Unix ms, our clock, when this run began. Times of earlier runs may be wrong: the machine's clock may have been set since. */
  readonly startedAt: number
  readonly start: StartState
  readonly stop: StopState | undefined
  readonly kill: KillState | undefined
  /** By scope, how far its flatten has come. */
  readonly flattens: ReadonlyMap<Scope, FlattenProgress>
  /** Unix ms, our clock, when the book was last pruned. */
  readonly prunedAt: number
  /** Unix ms, our clock, since when the journal's disk is nearly full. */
  readonly spaceLowSince: number | undefined
  /** The limits of pace that are exceeded now: they restrict the account as long as they are. */
  readonly beyondLimit: ReadonlyMap<PaceReason, BeyondLimit>
  readonly flatBeforeStop: FlatBeforeStop | undefined
}

export type PaceReason = Extract<ModeReason, 'rateLimited' | 'unknownOrders'>

export interface BeyondLimit {
  readonly reason: string
  /** Unix ms, our clock. */
  readonly since: number
}

export interface FlattenProgress {
  /** What was left when no strategy held anything and nothing rested any more, as it was logged; undefined before. */
  readonly ended?: string
  /** Unix ms, our clock: after this a line of the log says that it takes long. */
  readonly patientUntil: number
}

/** The start of the account; each instrument has a stage of its own. */
export interface StartState {
  /** Whether every instrument is proved. */
  readonly isOver: boolean
  /** Whether every instrument was proved once: what is proved later has joined while the account runs. */
  readonly hasEnded: boolean
  /** Unix ms, our clock, when missing readings were last asked for; 0: never. */
  readonly askedAt: number
  /** Unix ms, our clock, when the progress was last logged. */
  readonly saidAt: number
  /** By symbol: standing wishes are placed once their strategy has decided on this snapshot or a later one. */
  readonly wishesFrom: ReadonlyMap<string, number>
  readonly wishesFromLatest: number
}

/**
 * How far the start of a run has come on an instrument. `reading` until fills and its position agree with the book ·
 * `resolving` until it is proved what became of unknown orders, and of what rests where `onRestart` says cancel ·
 * `checking` until fills and position, read after that, agree once more · `proved`: it is traded.
 */
export type StartStage = 'reading' | 'resolving' | 'checking' | 'proved'

export interface InstrumentStart {
  readonly stage: StartStage
  /** Unix ms, our clock: only a position that was asked for later counts. */
  readonly readSince: number
}

/** A stop that was asked for and waits until everything is closed. */
export interface FlatBeforeStop {
  /** Unix ms, our clock. */
  readonly askedAt: number
  /** By symbol, how many resolutions that cancel there had been. */
  readonly cancelledBefore: ReadonlyMap<string, number>
}

export interface StopState {
  readonly policy: StopPolicy
  /** Unix ms, our clock. */
  readonly startedAt: number
  readonly phase: 'draining' | 'cancelling' | 'confirming' | 'proving'
  /** Unix ms, our clock: readings that are asked for so much later prove the end. */
  readonly provingAt: number
  /** By symbol, how many resolutions that cancel there had been. An instrument with more of them is cancelled once more, to confirm. */
  readonly cancelledBefore: ReadonlyMap<string, number>
  /** How many cancel-alls had found something when this phase began. */
  readonly foundBefore: number
  readonly askedAt: number
  /** Whether something was on the wire, or an instrument was being resolved, since `proving` began. */
  readonly wasBusy: boolean
  /** An instrument whose rows could not be read had no second cancel-all when `proving` began. */
  readonly isConfirmedInPart: boolean
}

export interface KillState {
  readonly phase:
    | 'cutting'
    | 'draining'
    | 'clearing'
    | 'waiting'
    | 'confirming'
    | 'proving'
    | 'clean'
  /** How many cancel-alls had found something when this phase began. */
  readonly foundBefore: number
  /** When the present round of `proving` began (Unix ms, our clock), and how many rounds in a row have shown the same. */
  readonly roundAt: number
  readonly rounds: number
  /** What the account held and how far its fills were known in the last round. */
  readonly seen: string
  /** Instruments without a second cancel-all, because the exchange did not know them. */
  readonly leftOut: readonly string[]
  /** Unix ms, our clock: after this a line of the log says that it takes long. */
  readonly patientUntil: number
  /** Unix ms, our clock, when that line was logged last. */
  readonly saidAt: number
  /** What that line said, and how many times in a row. */
  readonly said: string
  readonly saidTimes: number
  /** An orderly stop that was asked for meanwhile (Unix ms, our clock). */
  readonly stopAskedAt: number | undefined
  /** With `flatten` that stop ends clean only if nothing is held. */
  readonly stopPolicy: 'leave' | 'flatten'
  /** A release that was asked for before all was proved. */
  readonly release: KillCommand | undefined
}

/** Who orders a kill, or releases it, and why. */
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

export function noteStart(run: RunState, change: Partial<StartState>): void {
  Object.assign(own(run.start), change)
}

/** The instrument was proved: its strategies must decide on that snapshot or a later one before anything is placed. */
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
export function beginStopping(run: RunState, stop: StopState): void {
  own(run).phase = 'stopping'
  own(run).stop = stop
}

/** A kill begins, and ends a stop that went on. */
export function beginKilling(run: RunState, kill: KillState): void {
  own(run).kill = kill
  own(run).stop = undefined
  own(run).flatBeforeStop = undefined
}

export function endKilling(run: RunState): void {
  own(run).kill = undefined
}

/** @param progress undefined when the scope was released. */
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

/** @param since Unix ms, our clock, when the journal's disk was nearly full; undefined when it has room. */
export function noteSpaceLow(run: RunState, since: number | undefined): void {
  own(run).spaceLowSince = since
}

/** @param beyond undefined when it is within its limit again. */
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
