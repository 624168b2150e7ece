import { expect, test } from 'vitest'
// @ts-expect-error -- a script of the page has no types
import { drawdownsOf, gainAtPeak } from '../../src/dashboard/page/drawdowns.js'

test('a curve falls below its own peak, or one before it', () => {
  expect(drawdownsOf([1, 3, null, 2, 4])).toEqual([0, 0, null, -1, 0])
  expect(drawdownsOf([1, 3], 5)).toEqual([-4, -2])
})

test('a withdrawal is no fall', () => {
  const curves = {
    equity: [null, 10_000, 11_010, 10_760],
    netWithUnrealised: [0, 0, 10, 10],
    peak: 10_040,
  }

  expect(gainAtPeak(curves)).toBe(40)
  expect(drawdownsOf(curves.netWithUnrealised, gainAtPeak(curves))).toEqual([-40, -40, -30, -30])
  expect(gainAtPeak({ ...curves, peak: null })).toBeUndefined()
  expect(gainAtPeak({ equity: [null], netWithUnrealised: [0], peak: 1 })).toBeUndefined()
})
