import { type Scope } from '../../domain/trading-mode.ts'
import { own } from '../../lib/own.ts'
import {
  type FlatBeforeStop,
  type RunPhase,
  type RunState,
  type StartState,
  type StopState,
  type KillState,
} from './core.ts'

export function noteStarted(run: RunState, now: number): void {
  own(run).startedAt = now
}

export function enterPhase(run: RunState, phase: RunPhase): void {
  own(run).phase = phase
}

export function noteStartStage(run: RunState, start: StartState): void {
  own(run).start = start
}

/** The daemon ends: nothing is decided any more. */
export function beginStopping(run: RunState, stop: StopState): void {
  own(run).phase = 'stopping'
  own(run).stop = stop
}

/** A kill begins; whatever stop went on is given up for it. */
export function beginKilling(run: RunState, kill: KillState): void {
  own(run).kill = kill
  own(run).stop = undefined
  own(run).flatBeforeStop = undefined
}

export function endKilling(run: RunState): void {
  own(run).kill = undefined
}

/** Whether that is new. */
export function noteFlattened(run: RunState, scope: Scope, isFlat: boolean): boolean {
  const { flattened } = own(run)
  if (flattened.has(scope) === isFlat) return false
  if (isFlat) flattened.add(scope)
  else flattened.delete(scope)
  return true
}

export function notePruned(run: RunState, now: number): void {
  own(run).prunedAt = now
}

/** @param since Unix ms, our clock, when the journal's disk was nearly full; undefined when it has room. */
export function noteSpaceLow(run: RunState, since: number | undefined): void {
  own(run).spaceLowSince = since
}

export function noteFlatBeforeStop(run: RunState, flatBeforeStop: FlatBeforeStop | undefined): void {
  own(run).flatBeforeStop = flatBeforeStop
}
