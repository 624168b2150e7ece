export function strategyCode(name: string): string {
  return `/** Buys when closed candles say that a fall has gone far, and sells when they say that a rise has. */
import { defineStrategy, positiveDecimal, rsi, z } from 'intentd/strategy'

export default defineStrategy({
  name: '${name}',

  params: z.strictObject({
    interval: z.string().default('1m').meta({ description: 'Length of the candles.' }),
    period: z.int().min(2).max(100).default(14).meta({ description: 'Of the RSI, in candles.' }),
    buyBelow: z.number().min(0).max(100).default(30).meta({ description: 'Long below this RSI.' }),
    sellAbove: z.number().min(0).max(100).default(70).meta({ description: 'Flat above this RSI.' }),
    size: positiveDecimal('Position in the base coin.'),
  }),

  // Kept and worked out by the host. So few candles are warm soon; the default number is more exact.
  needs: ({ interval, period }) => ({
    indicators: { rsi: rsi({ interval, period, candles: 4 * period }) },
  }),
  decides: 'candle',

  initialState: () => ({}),

  decide(snapshot, { params, state, log }) {
    const intents = snapshot.instruments.flatMap((market) => {
      const value = market.indicators.rsi
      if (value === undefined) return []
      log.info('looked', { symbol: market.symbol, rsi: value })
      if (value < params.buyBelow) return [market.target(market.lots(params.size))]
      return value > params.sellAbove ? [market.target(0)] : []
    })
    return { intents, state }
  },
})
`
}

export function strategySettings(name: string): string {
  return `id: ${name}
module: ./${name}.ts
instruments: [BTCUSDT]
params:
  interval: 1m
  period: 14
  buyBelow: 30
  sellAbove: 70
  size: "0.01"
# history: [BTCUSDT-1m.csv.gz] # what its candles begin with at a start
risk:
  positionMax: "0.01" # in the base coin
  positionNotionalMax: "1500" # the same by value, in the quote coin
  orderSizeMax: "0.01"
  openOrdersMax: 4
`
}

export function strategyTest(name: string): string {
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeries } from 'intentd/testing'
import strategy from './${name}.ts'

const params = { period: 5, size: '0.01' }

/** The positions that it wanted, in lots of 0.001, along these closes. */
function targetsOf(prices: readonly number[], gaps = {}) {
  return runSeries({ strategy, params, prices, gaps }).flatMap(({ intents }) =>
    intents.flatMap((intent) => (intent.kind === 'target' ? [intent.lots] : [])),
  )
}

const falling = Array.from({ length: 40 }, (_, index) => 60_000 - index * 50)
const rising = Array.from({ length: 40 }, (_, index) => 58_000 + index * 50)

test('it buys after a fall, and is flat again after a rise', () => {
  const targets = targetsOf([...falling, ...rising])
  assert.equal(targets[0], 10)
  assert.equal(targets.at(-1), 0)
})

test('it wants nothing before its indicator is warm', () => {
  assert.deepEqual(targetsOf(falling.slice(0, 20)), [])
})

test('it does not take the first price after a gap for a rise', () => {
  const after = [58_100, 58_110, 58_105, 58_115]
  assert.ok(!targetsOf([...falling, ...after], { 40: 19 }).includes(0))
})
`
}
