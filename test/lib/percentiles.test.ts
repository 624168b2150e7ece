import { describe, expect, it } from 'vitest'
import { Percentiles } from '../../src/lib/percentiles.ts'

const summaryOf = (durations: readonly number[]) => {
  const percentiles = new Percentiles()
  for (const duration of durations) percentiles.record(duration)
  return percentiles.summary()
}

describe('percentiles of durations', () => {
  it('are zero before the first', () => {
    expect(summaryOf([])).toEqual({ count: 0, meanMs: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 })
  })

  it.each([0.01, 1, 1000])(
    'are in ms, never below the truth and at most a 125th above it: steps of %s ms',
    (stepMs) => {
      const { count, ...stated } = summaryOf(
        Array.from({ length: 1000 }, (_, index) => (index + 1) * stepMs),
      )

      expect(count).toBe(1000)
      const truth = { meanMs: 500.5, p50Ms: 500, p90Ms: 900, p99Ms: 990, maxMs: 1000 }
      for (const [name, steps] of Object.entries(truth)) {
        const excess = stated[name as keyof typeof truth] / (steps * stepMs) - 1
        expect(excess, name).toBeGreaterThan(-1e-5)
        expect(excess, name).toBeLessThanOrEqual(0.008)
      }
    },
  )

  it('take what is below a microsecond for one, and what is beyond an hour for an hour', () => {
    expect(summaryOf([-5, 0, Number.NaN])).toMatchObject({ count: 3, p99Ms: 0.001, maxMs: 0.001 })
    expect(summaryOf([Number.POSITIVE_INFINITY]).maxMs).toBeCloseTo(3_600_000, -5)
  })
})
