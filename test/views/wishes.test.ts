import { expect, test } from 'vitest'
import { createGrid } from '../../src/lib/grid.ts'
import { viewWishes, WishTimes } from '../../src/views/wishes.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'

const GRIDS = new Map([[SYMBOL, { tick: createGrid('0.1'), lot: createGrid('0.001') }]])

function wishesOf(bench: EngineBench) {
  const wishes = new WishTimes()
  for (const record of bench.recordsOf('decision')) wishes.observe(record)
  const account = { book: bench.book, grids: GRIDS, wishes } as never
  return viewWishes(account, STRATEGY, [SYMBOL])[0]
}

test('a strategy wants nothing at first, then what it has said last, since then', () => {
  const bench = new EngineBench().start()
  expect(wishesOf(bench)).toEqual({ symbol: SYMBOL, what: 'nothing', since: null })

  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 20, tag: 'breakout' })
  const since = Math.round(bench.now)
  bench.pass(60_000)
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 20, tag: 'breakout' })
  expect(wishesOf(bench)).toEqual({ symbol: SYMBOL, what: '0.02 as breakout', since })

  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
  expect(wishesOf(bench)).toEqual({ symbol: SYMBOL, what: '0', since: Math.round(bench.now) })
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  expect(wishesOf(bench)?.what).toBe('0, a ladder of 1')
})
