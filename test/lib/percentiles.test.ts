import { describe, expect, it } from 'vitest'
import { Percentiles } from '../../src/lib/percentiles.ts'
import { createRandom } from '../../src/lib/random.ts'

const percentilesOf = (durations: readonly number[]) => {
  const percentiles = new Percentiles()
  for (const duration of durations) percentiles.record(duration)
  return percentiles
}

describe('percentiles of durations', () => {
  it('are zero before the first', () => {
    expect(new Percentiles().summary()).toEqual({
      count: 0,
      meanMs: 0,
      p50Ms: 0,
      p90Ms: 0,
      p99Ms: 0,
      maxMs: 0,
    })
  })

  it('are never below the truth and at most 0.8% above it, from microseconds to minutes', () => {
    const random = createRandom('percentiles')
    const durations = Array.from({ length: 20_000 }, () => 2 ** (random.next() * 28) / 1000)
    const sorted = durations.toSorted((a, b) => a - b)
    const percentiles = percentilesOf(durations)

    for (const share of [0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1]) {
      const truth = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
      const excess = percentiles.percentile(share) - truth
      expect(excess, `share ${share}`).toBeGreaterThanOrEqual(0)
      // Below 128 microseconds a bucket is one microsecond wide.
      expect(excess, `share ${share}`).toBeLessThanOrEqual(Math.max(truth / 128, 0.001))
    }
  })

  it('keep the largest exactly, also beyond the last bucket', () => {
    const percentiles = percentilesOf([1, 10_000_000])

    expect(percentiles.summary()).toMatchObject({ count: 2, maxMs: 10_000_000, meanMs: 5_000_000.5 })
    expect(percentiles.percentile(1)).toBeLessThanOrEqual(10_000_000)
    expect(percentilesOf([Number.POSITIVE_INFINITY]).summary().maxMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('take a negative duration for none and leave out NaN', () => {
    expect(percentilesOf([-5, Number.NaN]).summary()).toMatchObject({ count: 1, p99Ms: 0, maxMs: 0 })
  })

  it('begin afresh after a reset', () => {
    const percentiles = percentilesOf([5, 6])

    percentiles.reset()
    percentiles.record(1)

    expect(percentiles.summary()).toMatchObject({ count: 1, maxMs: 1, p50Ms: 1 })
  })
})
