import type { StrategyId } from '../../domain/ids.ts'
import { mutable } from '../../lib/mutable.ts'
import { isSameData } from '../../lib/plain-data.ts'
import type { StrategySettings } from '../settings.ts'
import { noteChanged } from './changes.ts'
import type { Core } from './core.ts'

/** Wishes that waited for this decision may be placed. */
export function noteDecision(
  { decisions, changes, run }: Core,
  { id, symbols }: Pick<StrategySettings, 'id' | 'symbols'>,
  snapshot: number,
): void {
  const state = mutable(decisions)
  const before = decisions.decidedOn.get(id) ?? 0
  if (before < Math.max(decisions.wishesFrom, run.start.wishesFromLatest)) {
    for (const symbol of symbols) noteChanged(changes, symbol)
  }
  state.decidedOn.set(id, snapshot)
  // Both maps are mostly empty.
  if (decisions.failuresInRow.size > 0) state.failuresInRow.delete(id)
  const holds = decisions.quoteHolds.size === 0 ? undefined : decisions.quoteHolds.get(id)
  if (holds === undefined) return
  const left = [...holds].filter(([, needed]) => snapshot < needed)
  if (left.length === 0) state.quoteHolds.delete(id)
  else state.quoteHolds.set(id, new Map(left))
  for (const symbol of holds.keys()) noteChanged(changes, symbol)
}

/** @returns failures in a row */
export function noteFailure({ decisions }: Core, strategyId: StrategyId): number {
  const { failuresInRow } = mutable(decisions)
  const inRow = (failuresInRow.get(strategyId) ?? 0) + 1
  failuresInRow.set(strategyId, inRow)
  return inRow
}

export function noteState({ decisions, now }: Core, strategyId: StrategyId, state: unknown): void {
  const known = decisions.states.get(strategyId)
  if (known?.state === state) return
  const { states } = mutable(decisions)
  if (known?.waitsSince !== undefined)
    states.set(strategyId, { state, waitsSince: known.waitsSince })
  else if (known === undefined || !isSameData(known.state, state)) {
    // The map stays in the order in which states began to wait.
    states.delete(strategyId)
    states.set(strategyId, { state, waitsSince: now })
  }
}

export function noteStateRecorded({ decisions }: Core, strategyId: StrategyId): void {
  const { states } = mutable(decisions)
  const { state } = states.get(strategyId) ?? {}
  states.set(strategyId, { state, waitsSince: undefined })
}

export function holdQuote({ decisions, market }: Core, strategyId: string, symbol: string): void {
  const { quoteHolds } = mutable(decisions)
  const holds = quoteHolds.get(strategyId) ?? []
  quoteHolds.set(strategyId, new Map([...holds, [symbol, market.snapshots + 1]]))
}

export function forgetHolds({ decisions }: Core, symbol: string): void {
  for (const [id, holds] of Array.from(decisions.quoteHolds)) {
    if (!holds.has(symbol)) continue
    const left = new Map(holds)
    left.delete(symbol)
    if (left.size === 0) mutable(decisions.quoteHolds).delete(id)
    else mutable(decisions.quoteHolds).set(id, left)
  }
}

/** After a release, wishes wait for the next decision, and failures count from zero. */
export function holdAllWishes({ decisions, market }: Core): void {
  const state = mutable(decisions)
  state.wishesFrom = market.snapshots + 1
  state.failuresInRow.clear()
}

/** The strategy has not decided since the instrument was proved, or since a release. */
export function isUndecided({ decisions, run }: Core, id: StrategyId, symbol: string): boolean {
  if (run.phase !== 'running') return false
  const decidedOn = decisions.decidedOn.get(id) ?? 0
  if (decidedOn < decisions.wishesFrom) return true
  return (
    decidedOn < run.start.wishesFromLatest && decidedOn < (run.start.wishesFrom.get(symbol) ?? 0)
  )
}

export function isQuoteHeld(core: Core, id: StrategyId, symbol: string): boolean {
  const { decidedOn, quoteHolds } = core.decisions
  const needed = quoteHolds.get(id)?.get(symbol)
  return (
    isUndecided(core, id, symbol) || (needed !== undefined && (decidedOn.get(id) ?? 0) < needed)
  )
}
