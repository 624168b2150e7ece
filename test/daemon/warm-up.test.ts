import { expect, test } from 'vitest'
import { formatInterval, parseInterval } from '../../src/domain/candles.ts'
import { describeWait, listStrategyWaits } from '../../src/views/hindrances.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

const MINUTE_MS = 60_000

test('what a strategy still waits for is said, until it has as many candles as it declares', () => {
  const { settings } = new EngineBench()
  const strategies = [...settings.strategies].map(
    ([id, strategy]) => [id, { ...strategy, candles: new Map([[MINUTE_MS, 3]]) }] as const,
  )
  const bench = new EngineBench({ strategies: new Map(strategies) })
  bench.now = MOMENT_AT - 30_000
  bench.start()

  const running = bench.take('announce').find(({ event }) => event === 'daemon.running')
  const readyAt = new Date(MOMENT_AT + 3 * MINUTE_MS).toISOString()
  expect(running?.fields['warmingUp']).toEqual([
    `${STRATEGY} ${SYMBOL}: 0 of 3 candles of 1m, all at ${readyAt}`,
  ])

  const said = [0, 1, 2, 3].map((minute) => {
    bench.now = MOMENT_AT + minute * MINUTE_MS + 1000
    bench.step({ kind: 'timePassed' })
    bench.price(100)
    return [...listStrategyWaits(bench)].map(describeWait)
  })

  const waits = (length: number) => [
    `${SYMBOL}: ${STRATEGY} waits for candles of 1m, ${length} of 3: it needs ${3 - length} min of prices`,
  ]
  expect(said).toEqual([waits(0), waits(1), waits(2), []])
})

test.each(['1500ms', '90s', '1m', '15m', '4h', '1d'])(
  'an interval of %s is written as it is read',
  (text) => {
    expect(formatInterval(parseInterval(text) ?? 0)).toBe(text)
  },
)
