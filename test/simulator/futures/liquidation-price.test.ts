import { expect, test } from 'vitest'
import { Bench, market, openAccount } from './bench.ts'

const FEE = 0.0006

/** A hedge of long and short at 60,000. */
function hedged(long: string, short: string, balance = '10000') {
  const bench = new Bench({ takerFeeRate: '0.0006' }, [
    openAccount('2', 'hedge_mode', { balances: { USDT: balance }, leverage: 100 }),
  ])
  bench.quote({ bid: 60_000, ask: 60_000.1, bidSize: 1000, askSize: 1000 })
  for (const [side, size] of [
    ['buy', long],
    ['sell', short],
  ] as const) {
    if (Number(size) > 0) bench.place('2', [market(side, size, { tradeSide: 'open' })])
  }
  return bench
}

const pricesOf = (bench: Bench): number[] =>
  bench.positions('2').map(({ liquidationPrice }) => Number(liquidationPrice))

test('a hedge that no price ends has no liquidation price, on neither side', () => {
  expect(pricesOf(hedged('1', '0.9'))).toEqual([0, 0])
})

test('both legs of a hedge show the one price at which what backs them is what they need', () => {
  const bench = hedged('1', '0.4', '20000')
  const [price = 0, other] = pricesOf(bench)
  const balance = Number(bench.coin('2').balance)

  expect(other).toBe(price)
  const rate = 0.004 + FEE
  expect(balance + (price - 60_000.1) - 0.4 * (price - 60_000)).toBeCloseTo(1.4 * price * rate, 3)
})

test('the market liquidates there', () => {
  const bench = hedged('1', '0.4', '20000')
  const [price = 0] = pricesOf(bench)

  bench.settleAt(Math.ceil(price * 1.001))
  expect(bench.positions('2')).toHaveLength(2)
  bench.settleAt(Math.floor(price * 0.999))
  expect(bench.fills('2').map(({ tradeSide }) => tradeSide)).toContain('offset_close_long')
})

test('a short that grows into a higher tier needs that of the price it is solved at', () => {
  // 1,000,000 USDT of 0.4 % end at 66,667 for 15 BTC; above that the rate is 0.5 %.
  const bench = hedged('0', '15', '200000')
  const [price = 0] = pricesOf(bench)
  const balance = Number(bench.coin('2').balance)
  const entry = Number(bench.positions('2')[0]?.openPriceAvg)

  expect(price).toBeGreaterThan(66_667)
  expect(balance - 15 * (price - entry)).toBeCloseTo(15 * price * (0.005 + FEE), 2)
})
