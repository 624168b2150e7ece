import { expect, test } from 'vitest'
import type { DayStatistics } from '../../../src/simulator/market/day-statistics.ts'
import { MinuteHistory } from '../../../src/simulator/market/minute-history.ts'

const BLOCK = 360

/** The part of the statistics of one day that is asked for, as the minute `now` runs. */
function dayUntil(now: number): DayStatistics {
  const buckets = (from = 0) =>
    Array.from({ length: 1440 }, (_, index) => now - 1439 + index)
      .filter((minute) => minute >= Math.max(from, 0))
      .map((minute) => ({ minute, figures: [minute, minute + 2, minute - 2, 1, 1] }))
  return { state: () => ({ minute: now }), buckets } as unknown as DayStatistics
}

function keepBlocks(history: MinuteHistory, blocks: number): number {
  let dropped = 0
  for (let block = 1; block <= blocks; block++)
    dropped += history.keep(dayUntil(block * BLOCK)).dropped.length
  return dropped
}

test('[BND1] two hundred instruments keep eight days each, and one keeps its whole past', () => {
  const [many, one] = [new MinuteHistory([], 200), new MinuteHistory([], 1)]

  expect([keepBlocks(many, 100), keepBlocks(one, 100)]).toEqual([68, 0])
  expect([many.firstMinute, one.firstMinute]).toEqual([68 * BLOCK, 0])
  expect([...many.between(0, 200 * BLOCK)]).toHaveLength(32 * BLOCK)
  expect([...one.between(40, 42)]).toEqual([
    { minute: 40, figures: [40, 42, 38, 1, 1], closeTicks: 41 },
    { minute: 41, figures: [41, 43, 39, 1, 1], closeTicks: 42 },
  ])
})
