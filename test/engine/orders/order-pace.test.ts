import { expect, test } from 'vitest'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import { type Intent } from '../../../src/domain/intent.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const LEVELS = [1, 2, 3, 4, 5].map(
  (rung) => ({ side: 'buy', ticks: 99_990 - rung, lots: 10 }) as const,
)

test('[RSK1] as many orders leave within a minute as the pace allows, and the others after it', () => {
  const limits = { ...new EngineBench().settings.limits, ordersPerMinute: 3 }
  const slow = new EngineBench({ limits }).start()

  slow.quote(...LEVELS)
  slow.accept(slow.grantBatch())
  expect(slow.recordsOf('send').flatMap(({ orders }) => orders)).toHaveLength(3)
  expect(slow.engine.denied.get('ORDER_PACE')).toBeGreaterThan(0)

  slow.pass(61_000)
  slow.accept(slow.grantBatch())
  expect(slow.recordsOf('send').flatMap(({ orders }) => orders)).toHaveLength(5)
})

test('[BND1] where no pace is limited nothing is counted', () => {
  const bench = new EngineBench().start()
  bench.quote(...LEVELS)
  bench.accept(bench.grantBatch())

  expect(parseCore(bench.engine.write()).calls.sentAt.size).toBe(0)
})

test('[RSK1] orders of one batch do not trade with each other where self-trade is denied', () => {
  const limits = { ...new EngineBench().settings.limits, selfTrade: 'deny' } as const
  const bench = new EngineBench({ limits }).start()
  const order = { kind: 'place', symbol: SYMBOL, lots: 10, force: 'gtc' } as const
  const sell: Intent = { ...order, key: 'a', action: 'openShort', ticks: 100_010 }
  const across: Intent = { ...order, key: 'b', action: 'openLong', ticks: 100_020 }
  const below: Intent = { ...order, key: 'c', action: 'openLong', ticks: 100_000 }
  bench.decide(sell, across, below)

  expect(bench.grantBatch().clientOids).toHaveLength(2)
  expect([...bench.engine.denied]).toEqual([['SELF_TRADE', 1]])
})
