import type { StrategyId } from '../../domain/ids.ts'
import { type Core, record } from '../state/core.ts'
import { noteStateRecorded } from '../state/decision-state.ts'

/**
 * What a strategy remembers may change with every snapshot. It is recorded together with each decision that wants
 * something new, and otherwise once it has differed from the book's for so long, ms. So a crash sets a strategy back by
 * no more than this, and never to before something that it wanted.
 */
export const STATE_UNRECORDED_MS_MAX = 10_000

/** What each strategy remembers now, whether it is recorded yet or not. */
export function newestStates({ book, decisions }: Core): ReadonlyMap<StrategyId, string> {
  const newest = new Map(book.strategyStates)
  for (const [strategyId, { state }] of decisions.states)
    newest.set(strategyId, JSON.stringify(state))
  return newest
}

/** Records the states that have waited for as long as they may. */
export function recordDueStates(core: Core): void {
  recordStates(core, core.now - STATE_UNRECORDED_MS_MAX)
}

/** Records everything that strategies remember, at an orderly end of a run. */
export function recordAllStates(core: Core): void {
  recordStates(core, core.now)
}

/** @param since Unix ms, our clock: states that have waited since then, or longer, are recorded. */
function recordStates(core: Core, since: number): void {
  for (const strategyId of core.decisions.states.keys()) {
    const waitsSince = core.decisions.states.get(strategyId)?.waitsSince
    if (waitsSince === undefined || waitsSince > since) continue
    const stateText = newestStateOf(core, strategyId)
    if (stateText !== undefined)
      record(core, { kind: 'decision', at: core.now, strategyId, stateText })
    noteStateRecorded(core, strategyId)
  }
}

/** What a strategy remembers, as JSON text; undefined where the book already holds it. */
export function newestStateOf(
  { book, decisions }: Core,
  strategyId: StrategyId,
): string | undefined {
  const known = decisions.states.get(strategyId)
  if (known?.waitsSince === undefined) return undefined
  const text = JSON.stringify(known.state)
  return book.strategyStates.get(strategyId) === text ? undefined : text
}
