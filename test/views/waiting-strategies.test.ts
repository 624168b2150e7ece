import { expect, test } from 'vitest'
import { describeWait, listStrategyWaits } from '../../src/views/hindrances.ts'
import { WishTimes } from '../../src/views/wishes.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'

test('what a strategy waits for is said until its next decision says otherwise', () => {
  const { settings, book } = new EngineBench()
  const wishes = new WishTimes()
  const listed = (): string[] =>
    [...listStrategyWaits({ settings, book, wishes })].map(describeWait)
  expect(listed()).toEqual([])

  wishes.hearWaits(STRATEGY, [
    { symbol: SYMBOL, what: '240 s of prices, 60 s so far' },
    { symbol: 'GONEUSDT', what: 'what it does not trade any more' },
  ])
  expect(listed()).toEqual([`${SYMBOL}: ${STRATEGY} waits for 240 s of prices, 60 s so far`])

  wishes.hearWaits(STRATEGY, [])
  expect(listed()).toEqual([])
})
