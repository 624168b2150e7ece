import { createHistogram } from 'node:perf_hooks'

const MICROSECONDS_PER_MS = 1000

/** Each doubling costs 1 KB. */
const MICROSECONDS_MAX = 3_600_000_000

/** Values are at most 0.8 % above the truth. */
export class Percentiles {
  readonly #histogram = createHistogram({ highest: MICROSECONDS_MAX, figures: 2 })

  /** A clock may step back. */
  record(durationMs: number): void {
    const micros = Math.round(durationMs * MICROSECONDS_PER_MS)
    this.#histogram.record(micros >= 1 ? Math.min(micros, MICROSECONDS_MAX) : 1)
  }

  summary(): DurationSummary {
    const { count, mean, max } = this.#histogram
    const percentileMs = (percent: number): number =>
      this.#histogram.percentile(percent) / MICROSECONDS_PER_MS
    return {
      count,
      meanMs: count === 0 ? 0 : mean / MICROSECONDS_PER_MS,
      p50Ms: percentileMs(50),
      p90Ms: percentileMs(90),
      p99Ms: percentileMs(99),
      maxMs: max / MICROSECONDS_PER_MS,
    }
  }
}

export interface DurationSummary {
  readonly count: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}
