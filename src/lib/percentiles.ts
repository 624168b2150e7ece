/**
 * How long things took: a histogram of fixed size (26 KB) in the manner of HDR histograms. Within each power
 * of two there are 128 buckets of equal width, so that a percentile is at most 1/128 (0.8%) above the truth,
 * from one microsecond to more than an hour. Deterministic: no sampling.
 */
export class Percentiles {
  readonly #buckets = new Float64Array(BUCKETS)
  #count = 0
  #sumMs = 0
  #maxMs = 0

  /** Takes one duration in ms, fractions included. A negative one (a clock that stepped back) counts as 0, NaN not at all. */
  record(durationMs: number): void {
    if (Number.isNaN(durationMs)) return
    const ms = Math.max(0, durationMs)
    const index = bucketOf(ms)
    this.#buckets[index] = (this.#buckets[index] ?? 0) + 1
    this.#count += 1
    this.#sumMs += ms
    this.#maxMs = Math.max(this.#maxMs, ms)
  }

  get count(): number {
    return this.#count
  }

  /** The duration, in ms, that the given share (0 to 1) of all durations did not exceed; 0 when there are none. */
  percentile(share: number): number {
    // At least one duration has to lie at or below the answer, even for a share of 0.
    const rank = Math.max(1, Math.ceil(share * this.#count))
    let seen = 0
    for (const [index, count] of this.#buckets.entries()) {
      seen += count
      if (seen >= rank) return Math.min(upperEdgeMs(index), this.#maxMs)
    }
    return this.#maxMs
  }

  summary(): DurationSummary {
    return {
      count: this.#count,
      meanMs: this.#count === 0 ? 0 : this.#sumMs / this.#count,
      p50Ms: this.percentile(0.5),
      p90Ms: this.percentile(0.9),
      p99Ms: this.percentile(0.99),
      maxMs: this.#maxMs,
    }
  }

  /** Forgets everything, for the next period. */
  reset(): void {
    this.#buckets.fill(0)
    this.#count = 0
    this.#sumMs = 0
    this.#maxMs = 0
  }
}

export interface DurationSummary {
  readonly count: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  /** Exact, where the percentiles are rounded up to the edge of their bucket. */
  readonly maxMs: number
}

const MICROSECONDS_PER_MS = 1000

/** 2^7 buckets a power of two. */
const PRECISION_BITS = 7

/** Largest duration with a bucket of its own, in microseconds: 71 minutes. Longer ones share the last. */
const MICROSECONDS_MAX = 2 ** 32 - 1

const BUCKETS = (32 - PRECISION_BITS - 1) * 2 ** PRECISION_BITS + 2 ** (PRECISION_BITS + 1)

/** Below 256 microseconds a bucket for each; above, the top eight bits and how far they were shifted. */
function bucketOf(ms: number): number {
  const micros = Math.min(Math.floor(ms * MICROSECONDS_PER_MS), MICROSECONDS_MAX)
  const shift = Math.max(0, 31 - Math.clz32(micros) - PRECISION_BITS)
  return shift * 2 ** PRECISION_BITS + (micros >>> shift)
}

/** Where the next bucket begins, in ms. */
function upperEdgeMs(index: number): number {
  const shift = Math.max(0, Math.floor(index / 2 ** PRECISION_BITS) - 1)
  return ((index - shift * 2 ** PRECISION_BITS + 1) * 2 ** shift) / MICROSECONDS_PER_MS
}
