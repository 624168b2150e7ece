/** Where rows of prices are missing, and how long candles are. */

export interface Gaps {
  readonly count: number
  /** Candles that are not there; of quotes nobody knows. */
  readonly missing?: number
  /** From the row before to the row after, ms; with the time of the row before, Unix ms. */
  readonly longestMs: number
  readonly longestFrom?: number
}

/** Quotes that come more seldom than that have a gap. */
const QUOTES_APART_MS_MAX = 60_000

/** @param at Unix ms, ascending. @param intervalMs Of candles; without it they are quotes. */
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

/** Enough to see how far apart candles stand. */
const ROWS_LOOKED_AT = 10_000

/** The commonest step between two rows that follow each other, in either direction, ms; undefined for a single time. */
export function commonestStep(at: Float64Array): number | undefined {
  const counts = new Map<number, number>()
  for (let row = 1; row < Math.min(at.length, ROWS_LOOKED_AT); row++) {
    const step = Math.abs((at[row] as number) - (at[row - 1] as number))
    if (step > 0) counts.set(step, (counts.get(step) ?? 0) + 1)
  }
  return [...counts].toSorted(([one, often], [other, seldom]) => seldom - often || one - other)[0]?.[0]
}
