import { type QuoteLevel } from '../../domain/intent.ts'
import { type LadderChange } from '../../domain/record.ts'

/** As the shorter of the two texts: a place is always shorter than its level. */
export function buildLadderChange(
  symbol: string,
  before: readonly QuoteLevel[],
  levels: readonly QuoteLevel[],
): LadderChange {
  const places = new Map(before.map((level, place) => [nameOf(level), place]))
  const rungs = levels.map((level) => places.get(nameOf(level)) ?? level)
  return rungs.some((rung) => typeof rung === 'number') ? { symbol, rungs } : { symbol, levels }
}

/** The ladder after a change of the one before. Total: a place that it did not have is no level. */
export function applyLadderChange(
  before: readonly QuoteLevel[],
  change: LadderChange,
): readonly QuoteLevel[] {
  if ('levels' in change) return change.levels
  return change.rungs.flatMap((rung) => (typeof rung === 'number' ? (before[rung] ?? []) : rung))
}

/** The levels that a change itself names. */
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
