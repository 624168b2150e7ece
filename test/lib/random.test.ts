import { describe, expect, it } from 'vitest'
import { createRandom, exponential, logarithm, restoreRandom } from '../../src/lib/random.ts'

const draw = (count: number, next: () => number) => Array.from({ length: count }, next)

describe('random numbers', () => {
  it('give the same numbers for the same seed, whatever the machine', () => {
    const random = createRandom(1)

    const first = [random.integer(1000), random.integer(1000), random.next(), random.normal()]

    expect(first).toEqual(EXPECTED_OF_SEED_1)
    expect(createRandom('1').integer(1000)).toBe(first[0])
    expect(createRandom(2).integer(1000)).not.toBe(first[0])
  })

  it('are those of the published generator', () => {
    const random = restoreRandom({ seed: '', words: [1, 2, 3, 4] })

    expect(draw(4, () => random.integer(2 ** 32))).toEqual([11520, 0, 5927040, 70819200])
  })

  it('go on from a stored state', () => {
    const random = createRandom('stored')
    draw(1000, () => random.normal())

    const restored = restoreRandom(JSON.parse(JSON.stringify(random.state())))

    expect(draw(100, () => restored.next())).toEqual(draw(100, () => random.next()))
    expect(restored.fork('x').next()).toBe(createRandom('stored').fork('x').next())
  })

  it('fork into streams that depend on the seed and the name only', () => {
    const random = createRandom(7)
    const early = random.fork('BTCUSDT').next()
    draw(10, () => random.next())

    expect(random.fork('BTCUSDT').next()).toBe(early)
    expect(random.fork('ETHUSDT').next()).not.toBe(early)
    expect(createRandom(8).fork('BTCUSDT').next()).not.toBe(early)
  })

  it('are uniform in [0, 1) and in 0..n-1', () => {
    const random = createRandom('uniform')

    const values = draw(100_000, () => random.next())
    const counts = new Float64Array(7)
    for (let index = 0; index < 70_000; index++) {
      const value = random.integer(7)
      counts[value] = (counts[value] ?? NaN) + 1
    }

    expect(Math.min(...values.slice(0, 50_000))).toBeGreaterThanOrEqual(0)
    expect(Math.max(...values.slice(0, 50_000))).toBeLessThan(1)
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.5, 2)
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400)
  })

  it('have normal moments and tails', () => {
    const random = createRandom('normal')
    const count = 1_000_000
    const sums = { first: 0, second: 0, third: 0, fourth: 0 }
    let beyondThree = 0
    let beyondFour = 0

    for (let index = 0; index < count; index++) {
      const z = random.normal()
      sums.first += z
      sums.second += z ** 2
      sums.third += z ** 3
      sums.fourth += z ** 4
      if (Math.abs(z) > 3) beyondThree++
      if (Math.abs(z) > 4) beyondFour++
    }

    expect(sums.first / count).toBeCloseTo(0, 2)
    expect(sums.second / count).toBeCloseTo(1, 2)
    expect(sums.third / count).toBeCloseTo(0, 1)
    expect(sums.fourth / count).toBeCloseTo(3, 1)
    // 0.27 % and 63 in a million.
    expect(Math.abs(beyondThree - 2700)).toBeLessThan(160)
    expect(Math.abs(beyondFour - 63)).toBeLessThan(30)
  })

  it('refuse a range and a state that cannot be', () => {
    const random = createRandom(1)

    for (const range of [0, -1, 1.5, NaN, 2 ** 32 + 1])
      expect(() => random.integer(range)).toThrow(RangeError)
    expect(() => restoreRandom({ seed: '1', words: [0, 0, 0, 0] })).toThrow(/not all zero/)
    expect(() => restoreRandom({ seed: '1', words: [1, 2, 3, -4] })).toThrow(/unsigned 32-bit/)
  })
})

describe('the portable exponential and logarithm', () => {
  it('agree with the runtime to 1e-13', () => {
    for (let x = -40; x <= 40; x += 0.37) {
      expect(Math.abs(exponential(x) / Math.exp(x) - 1)).toBeLessThan(1e-13)
      expect(Math.abs(logarithm(Math.exp(x)) - x)).toBeLessThan(1e-13)
    }
    expect(exponential(0)).toBe(1)
    expect(logarithm(1)).toBe(0)
    expect(exponential(1000)).toBe(exponential(44))
  })
})

/** Two integers below 1000, a uniform and a normal number. */
const EXPECTED_OF_SEED_1 = [226, 591, 0.12409605265228962, -0.5526184065168636]
