export interface Gaps {
  readonly count: number
  readonly missing?: number
  readonly longestMs: number
  /** Unix ms of the row before the gap. */
  readonly longestFrom?: number
}

const QUOTES_APART_MS_MAX = 60_000

/** @param at ascending @param intervalMs undefined for quotes */
export function findGaps(at: Float64Array, intervalMs?: number): Gaps {
  let [count, missing, longestMs, longestFrom] = [0, 0, 0, 0]
  for (let row = 1; row < at.length; row++) {
    const before = at[row - 1] as number
    const apartMs = (at[row] as number) - before
    if (apartMs <= (intervalMs ?? QUOTES_APART_MS_MAX)) continue
    count++
    if (intervalMs !== undefined) missing += Math.round(apartMs / intervalMs) - 1
    if (apartMs <= longestMs) continue
    longestMs = apartMs
    longestFrom = before
  }
  return {
    count,
    ...(intervalMs !== undefined && { missing }),
    longestMs,
    ...(count > 0 && { longestFrom }),
  }
}

/** A step of fewer rows comes from misplaced rows. */
const SHARE_MIN = 0.01

/**
 * Thin markets lack many candles, so the shortest step counts that enough rows have.
 * @param at in any order @returns undefined for a single time
 */
export function findInterval(at: Float64Array): number | undefined {
  const isOrdered = at.every((time, row) => row === 0 || (at[row - 1] as number) <= time)
  const sorted = isOrdered ? at : at.toSorted()
  const counts = new Map<number, number>()
  for (let row = 1; row < sorted.length; row++) {
    const step = (sorted[row] as number) - (sorted[row - 1] as number)
    if (step > 0) counts.set(step, (counts.get(step) ?? 0) + 1)
  }
  const common = [...counts]
    .filter(([, count]) => count >= SHARE_MIN * at.length)
    .map(([step]) => step)
  return common.length === 0 ? undefined : Math.min(...common)
}
