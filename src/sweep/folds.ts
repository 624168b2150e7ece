/** Periods of a run; `to` is excluded. */
export interface PeriodRange {
  readonly from: number
  readonly to: number
}

export interface Fold {
  readonly inSample: PeriodRange
  readonly outOfSample: PeriodRange
}

/** Fewer periods have no statistical meaning. */
const PERIODS_MIN = 5

/**
 * Each window is tried on its own stretch, and chosen on everything before it.
 *
 *     |------ in sample ------| out of sample 1 | out of sample 2 | … | out of sample k |
 *
 * @param usedShare of the range already seen by the choice among the trials, 0 to 1: it is in
 * sample
 */
export function cutFolds(periods: number, folds: number, usedShare: number): readonly Fold[] {
  const head = Math.ceil(periods * Math.max(usedShare, 1 / (folds + 1)))
  const edges = Array.from(
    { length: folds + 1 },
    (_, index) => head + Math.floor(((periods - head) * index) / folds),
  )
  if (folds === 0 || (periods - head) / folds < PERIODS_MIN || head < PERIODS_MIN) return []
  return edges.slice(1).map((to, index) => {
    const from = edges[index] ?? head
    return { inSample: { from: 0, to: from }, outOfSample: { from, to } }
  })
}
