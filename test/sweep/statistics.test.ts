import { describe, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import {
  expectedMaxSharpe,
  momentsOf,
  normalShare,
  overfittingOf,
  probabilityAbove,
  sharpeOf,
} from '../../src/sweep/statistics.ts'

describe('the deflated Sharpe ratio', () => {
  // Bailey and López de Prado (2014), the numerical example: a Sharpe ratio of 2.5 a year of 250 days, five years of
  // days, skewness -3, kurtosis 10, the best of 100 tries whose yearly Sharpe ratios have a variance of 1/2.
  const sharpe = 2.5 / Math.sqrt(250)
  const expectedMax = expectedMaxSharpe(0.5 / 250, 100)

  test('is what the paper says in its example', () => {
    const probability = probabilityAbove(sharpe, expectedMax, {
      count: 1250,
      skewness: -3,
      kurtosis: 10,
    })

    expect(expectedMax).toBeCloseTo(0.1132, 4)
    expect(probability).toBeCloseTo(0.9004, 4)
  })

  test('falls with each try, and a single try is not deflated', () => {
    const of = (tries: number): number =>
      probabilityAbove(sharpe, expectedMaxSharpe(0.5 / 250, tries), {
        count: 1250,
        skewness: -3,
        kurtosis: 10,
      })

    expect(expectedMaxSharpe(0.5 / 250, 1)).toBe(0)
    expect([of(1), of(10), of(100), of(1000)]).toEqual(
      [of(1), of(10), of(100), of(1000)].toSorted((a, b) => b - a),
    )
    expect(of(88)).toBeGreaterThan(of(89))
  })

  test.each([
    [0, 0.5],
    [1, 0.841344746],
    [-1.959963985, 0.025],
    [3, 0.998650102],
  ])('below %d lies a share of %d of a normal distribution', (value, share) => {
    expect(normalShare(value)).toBeCloseTo(share, 6)
  })
})

test('moments are those of the textbook', () => {
  // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, variance 4 (population), third moment 5.25, fourth 44.5.
  const { count, mean, deviation, skewness, kurtosis } = momentsOf([2, 4, 4, 4, 5, 5, 7, 9])

  expect([count, mean]).toEqual([8, 5])
  expect(deviation).toBeCloseTo(Math.sqrt(32 / 7), 12)
  expect(skewness).toBeCloseTo(5.25 / 8, 12)
  expect(kurtosis).toBeCloseTo(44.5 / 16, 12)
})

test('what never moves has a Sharpe ratio of 0', () => {
  expect(sharpeOf([0, 0, 0, 0])).toBe(0)
  expect(sharpeOf([])).toBe(0)
})

describe('the probability of overfitting', () => {
  const noise = (trials: number, seed: string, edgeOf: (trial: number) => number) => {
    const random = createRandom(seed)
    return Array.from({ length: trials }, (_, trial) =>
      Array.from({ length: 480 }, () => random.normal() + edgeOf(trial)),
    )
  }

  test('of pure noise is a half', () => {
    const found = Array.from({ length: 12 }, (_, seed) =>
      overfittingOf(noise(20, `noise ${seed}`, () => 0)),
    )
    const mean = found.reduce((sum, one) => sum + (one?.probability ?? 0), 0) / found.length

    expect(found[0]).toMatchObject({ blocks: 16, combinations: 12_870 })
    expect(mean).toBeGreaterThan(0.4)
    expect(mean).toBeLessThan(0.6)
  })

  test('of trials of which one truly is better is small', () => {
    expect(
      overfittingOf(noise(20, 'edge', (trial) => (trial === 7 ? 0.3 : 0)))?.probability,
    ).toBeLessThan(0.02)
  })

  test('of one trial, or of a moment, is not known', () => {
    expect(overfittingOf(noise(1, 'one', () => 0))).toBeUndefined()
    expect(overfittingOf([[1], [2]])).toBeUndefined()
  })

  test('of trials that are all the same is a half', () => {
    const row = noise(1, 'same', () => 0)[0] ?? []
    expect(overfittingOf([row, row, row])?.probability).toBe(0.5)
  })
})
