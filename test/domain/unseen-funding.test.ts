import { describe, expect, test } from 'vitest'
import {
  estimatePayment,
  fundingInstantAfter,
  holdingSince,
} from '../../src/domain/unseen-funding.ts'

const EIGHT = Date.UTC(2026, 0, 1, 8)
const HOUR_MS = 3_600_000

test('the next instant is the first after a moment, over midnight too', () => {
  const minutes = [0, 480, 960]

  expect(fundingInstantAfter(minutes, EIGHT - 1)).toBe(EIGHT)
  expect(fundingInstantAfter(minutes, EIGHT)).toBe(EIGHT + 8 * HOUR_MS)
  expect(fundingInstantAfter(minutes, EIGHT + 9 * HOUR_MS)).toBe(EIGHT + 16 * HOUR_MS)
  expect(fundingInstantAfter([], EIGHT)).toBe(Number.POSITIVE_INFINITY)
})

describe('what was held at an instant, and has ended since', () => {
  const buy = (lots: number, filledAt: number) => ({
    change: { side: 'buy', tradeSide: 'open', lots } as const,
    filledAt,
  })

  test('a short that is turned after it has ended, and the long has not', () => {
    const seen = holdingSince('one_way_mode', { longLots: 0, shortLots: 10 }, EIGHT, [
      buy(4, EIGHT - 500),
      buy(20, EIGHT + 500),
    ])

    expect(seen).toEqual({ holding: { longLots: 0, shortLots: 6 }, ended: ['short'] })
  })

  test('a part that is closed ends nothing, nor does what was closed before', () => {
    const short = { longLots: 0, shortLots: 10 }

    expect(holdingSince('one_way_mode', short, EIGHT, [buy(4, EIGHT)]).ended).toEqual([])
    expect(holdingSince('one_way_mode', short, EIGHT, [buy(10, EIGHT - 1)])).toEqual({
      holding: { longLots: 0, shortLots: 0 },
      ended: [],
    })
  })

  test('in hedge mode each side ends for itself', () => {
    const closed = { side: 'sell', tradeSide: 'close', lots: 3 } as const

    expect(
      holdingSince('hedge_mode', { longLots: 5, shortLots: 3 }, EIGHT, [
        { change: closed, filledAt: EIGHT + 1 },
      ]),
    ).toEqual({ holding: { longLots: 5, shortLots: 3 }, ended: ['short'] })
  })
})

describe('an estimated payment', () => {
  const held = { size: 0.5, price: 40_000, isInverse: false } as const

  test('is size × price × rate of the side that pays', () => {
    const rates = [0.001, 0.001] as const

    expect(estimatePayment({ ...held, holdSide: 'long', rates })).toBeCloseTo(20, 9)
    expect(estimatePayment({ ...held, holdSide: 'short', rates: [-0.001, -0.001] })).toBeCloseTo(20)
  })

  test('is no income: the side that receives has none', () => {
    expect(estimatePayment({ ...held, holdSide: 'short', rates: [0.001, 0.001] })).toBe(0)
    expect(estimatePayment({ ...held, holdSide: 'long', rates: [-0.001, -0.001] })).toBe(0)
  })

  test('of an inverse contract is size × rate, in its coin', () => {
    const inverse = { ...held, isInverse: true, rates: [0.001, 0.001] } as const

    expect(estimatePayment({ ...inverse, holdSide: 'long' })).toBeCloseTo(0.0005, 12)
  })

  test('[MON1] is no more than two answers agree on, and never beyond a hundredth', () => {
    const of = (...rates: [number, number]) => estimatePayment({ ...held, holdSide: 'long', rates })

    expect(of(5, 0.001)).toBeCloseTo(20, 9)
    expect(of(0.001, -0.001)).toBe(0)
    expect(of(0.5, 0.5)).toBeCloseTo(200, 9)
    expect(of(Number.NaN, 0.001)).toBe(0)
  })
})
