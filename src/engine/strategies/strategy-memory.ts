import { type StrategyId } from '../../domain/ids.ts'
import { type Core, record } from '../state/core.ts'
import { noteStateRecorded } from '../state/decision-state.ts'

/**
 * What a strategy remembers changes with every snapshot. A decision that wants something new is recorded with it;
 * otherwise it is recorded when it has differed from the book's for so long, ms: a crash takes a strategy back by no
 * more, to a state from which it has wanted nothing since that is not in the book.
 */
export const STATE_UNRECORDED_MS_MAX = 10_000

/** What strategies remember now, where that is not recorded yet and that which is recorded elsewhere. */
export function newestStates({ book, decisions }: Core): ReadonlyMap<StrategyId, string> {
  const newest = new Map(book.strategyStates)
  for (const [strategyId, { state }] of decisions.states) newest.set(strategyId, JSON.stringify(state))
  return newest
}

/** Writes down what has waited for its time. */
export function recordDueStates(core: Core): void {
  recordStates(core, core.now - STATE_UNRECORDED_MS_MAX)
}

/** Writes down everything that strategies remember: a run ends in good order. */
export function recordAllStates(core: Core): void {
  recordStates(core, core.now)
}

/** @param since Unix ms, our clock: those that have waited since then, or for longer. */
function recordStates(core: Core, since: number): void {
  for (const [strategyId, { waitsSince }] of core.decisions.states) {
    if (waitsSince === undefined || waitsSince > since) continue
    const stateText = newestStateOf(core, strategyId)
    if (stateText !== undefined) record(core, { kind: 'decision', at: core.now, strategyId, stateText })
    noteStateRecorded(core, strategyId)
  }
}

/** What a strategy remembers, as JSON text; undefined where the book says so already. */
export function newestStateOf({ book, decisions }: Core, strategyId: StrategyId): string | undefined {
  const known = decisions.states.get(strategyId)
  if (known?.waitsSince === undefined) return undefined
  const text = JSON.stringify(known.state)
  return book.strategyStates.get(strategyId) === text ? undefined : text
}
