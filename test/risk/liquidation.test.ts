import { expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { findLiquidationPrices, maintenanceAt } from '../../src/risk/liquidation.ts'
import { Bench, market, openAccount } from '../simulator/futures/bench.ts'

/** As the simulator's BTCUSDT. */
const RULES = {
  tiers: [
    { notionalMax: 1_000_000, rate: 0.004 },
    { notionalMax: 5_000_000, rate: 0.005 },
    { notionalMax: 20_000_000, rate: 0.01 },
    { notionalMax: Number.POSITIVE_INFINITY, rate: 0.025 },
  ],
  takerFeeRate: 0.0006,
}

test('the price of a liquidation is within a tick of that of the exchange, hedged and not, in every tier', () => {
  const random = createRandom('liquidation prices')
  const seen = { none: 0, below: 0, above: 0 }
  for (let world = 0; world < 300; world++) {
    const balance = 2000 + random.integer(2_000_000)
    const bench = new Bench({ takerFeeRate: '0.0006' }, [
      openAccount('2', 'hedge_mode', { balances: { USDT: String(balance) }, leverage: 100 }),
    ])
    bench.quote({ bid: 60_000, ask: 60_000.1, bidSize: 1000, askSize: 1000 })
    const sizeMax = Math.min(400, (balance * 20) / 60_000)
    for (const side of ['buy', 'sell'] as const) {
      const size = Math.floor((random.integer(1000) / 1000) * sizeMax * 1000) / 1000
      if (random.integer(3) > 0 && size > 0)
        bench.place('2', [market(side, String(size), { tradeSide: 'open' })])
    }
    const positions = bench.positions('2')
    if (positions.length === 0) continue
    bench.quote({ bid: 59_000 + random.integer(2000), ask: 61_000.1, bidSize: 1000, askSize: 1000 })
    const legs = positions.map(({ holdSide, total, openPriceAvg }) => ({
      holdSide,
      size: Number(total),
      entryPrice: Number(openPriceAvg),
    }))
    const mark = Number(bench.positions('2')[0]?.markPrice)
    const of = { legs, behind: Number(bench.coin('2').balance), rules: RULES, isInverse: false }

    const { below, above } = findLiquidationPrices(of, mark)
    const nearer = Number.isNaN(below) || above - mark < mark - below ? above : below
    const stated = Number(bench.positions('2')[0]?.liquidationPrice)

    seen[stated === 0 ? 'none' : stated < mark ? 'below' : 'above'] += 1
    if (stated === 0) expect(nearer).toBeNaN()
    else expect(Math.abs(nearer - stated)).toBeLessThan(0.1)
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(5)
})

test('of an inverse contract it is where what the margin is worth in coins is what the position needs', () => {
  const of = {
    legs: [{ holdSide: 'long' as const, size: 2, entryPrice: 50_000 }],
    behind: 0.5,
    rules: RULES,
    isInverse: true,
  }

  const { below, above } = findLiquidationPrices(of, 50_000)

  const profit = (2 * (below - 50_000)) / below
  expect(0.5 + profit).toBeCloseTo(maintenanceAt(of, below), 9)
  expect(above).toBeNaN()
})
