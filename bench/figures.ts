// What the benches make of the figures they took.

/** @param share 0 to 1. Not a number where there is no figure. */
export function percentileOf(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function medianOf(figures: readonly number[]): number {
  return percentileOf(figures, 0.5)
}
