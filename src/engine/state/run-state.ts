import { type Scope } from '../../domain/trading-mode.ts'
import { own } from '../../lib/own.ts'
import { type RunPhase, type RunState, type StartState, type StopState, type KillState } from './core.ts'

export function noteStarted(run: RunState, now: number): void {
  own(run).startedAt = now
}

export function enterPhase(run: RunState, phase: RunPhase): void {
  own(run).phase = phase
}

export function changeStart(run: RunState, start: StartState): void {
  own(run).start = start
}

export function changeStop(run: RunState, stop: StopState | undefined): void {
  own(run).stop = stop
}

export function changeKill(run: RunState, kill: KillState | undefined): void {
  own(run).kill = kill
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

export function noteSpace(run: RunState, isLow: boolean): void {
  own(run).isSpaceLow = isLow
}
