import { expect, test } from 'vitest'
import { findUnsaid, findUnused } from './shared-findings.ts'

/** Ten calls a second, of which so many were made evenly for ten seconds. */
function rateOf(perSecond: number) {
  const arrivals = Array.from({ length: 10 * perSecond }, (_, index) => ({
    at: (index * 1e3) / perSecond,
    endpoint: 'tickers',
    status: 200,
  }))
  return { name: 'tickers', calls: 10, perMs: 1000, arrivals }
}

test('[LIM1] a limit of which a fifth is used is found; one of which most is used is not', () => {
  const parts = [{ what: 'it goes on', from: 0, to: 10_000 }]

  expect(findUnused([rateOf(9)], parts)).toEqual([])
  expect(findUnused([rateOf(2)], parts)).toEqual([
    expect.stringMatching(/^tickers, it goes on: 20\.0 % of the limit used/),
  ])
})

test('[LIM1] a daemon that did not notice that Redis was gone is found', () => {
  const noticed = { 'limits.shared': 3, 'limits.alone': 2 }

  expect(findUnsaid([noticed, noticed])).toEqual([])
  expect(findUnsaid([noticed, { 'limits.shared': 1 }])).toEqual([
    'daemon 2 said limits.alone 0 times, not 2',
    'daemon 2 said limits.shared 1 times, not 3',
  ])
})
