const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const STEPS_MS = [
  ...[1, 5, 15, 30].map((count) => count * SECOND_MS),
  ...[1, 5, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 2, 4, 8].map((count) => count * HOUR_MS),
  ...[1, 2, 4, 8, 16].map((count) => count * DAY_MS),
]

/** A line on a screen has no more points. */
const BUCKETS_MAX = 1500

export interface TimeBuckets {
  /** A whole multiple of the step. */
  readonly startAt: number
  readonly stepMs: number
  readonly count: number
}

/** @param givenMs default: the shortest that fits the maximum */
export function cutIntoBuckets(fromAt: number, toAt: number, givenMs?: number): TimeBuckets {
  const stepMs =
    givenMs ??
    STEPS_MS.find((step) => (toAt - fromAt) / step <= BUCKETS_MAX) ??
    Math.ceil((toAt - fromAt) / BUCKETS_MAX)
  const startAt = Math.floor(fromAt / stepMs) * stepMs
  return { startAt, stepMs, count: Math.max(1, Math.ceil((toAt - startAt) / stepMs)) }
}

/** Instants outside belong to the first or last bucket. */
export function bucketOf({ startAt, stepMs, count }: TimeBuckets, at: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor((at - startAt) / stepMs)))
}

export function emptyColumn({ count }: TimeBuckets): number[] {
  return Array.from({ length: count }, () => Number.NaN)
}
