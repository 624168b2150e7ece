import type { QuoteLevel } from '../../domain/intent.ts'
import type { LadderChange } from '../../domain/record.ts'

/** Writes a change as the new ladder, where levels that stood before are given by their place there: that is shorter. */
export function buildLadderChange(
  symbol: string,
  before: readonly QuoteLevel[],
  levels: readonly QuoteLevel[],
): LadderChange {
  const places = new Map(before.map((level, place) => [nameOf(level), place]))
  const rungs = levels.map((level) => places.get(nameOf(level)) ?? level)
  return rungs.some((rung) => typeof rung === 'number') ? { symbol, rungs } : { symbol, levels }
}

/** The ladder after a change. A place that the ladder before did not have is ignored: a fold must never throw. */
export function applyLadderChange(
  before: readonly QuoteLevel[],
  change: LadderChange,
): readonly QuoteLevel[] {
  if ('levels' in change) return change.levels
  return change.rungs.flatMap((rung) => (typeof rung === 'number' ? (before[rung] ?? []) : rung))
}

/** The levels that a change states itself, not by their place before. */
export function levelsNamedBy(change: LadderChange): readonly QuoteLevel[] {
  if ('levels' in change) return change.levels
  return change.rungs.filter((rung) => typeof rung !== 'number')
}

export function countLevels(change: LadderChange): number {
  return 'levels' in change ? change.levels.length : change.rungs.length
}

function nameOf({ side, ticks, lots }: QuoteLevel): string {
  return `${side} ${ticks} ${lots}`
}
