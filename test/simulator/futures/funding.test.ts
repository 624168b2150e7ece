import { describe, expect, test } from 'vitest'
import { Bench, market, START_AT, DELIVERED } from './bench.ts'

const EIGHT = Date.UTC(2025, 5, 2, 8)

describe('funding', () => {
  test('is paid at 08:00 UTC of the exchange’s clock, longs to shorts at a positive rate', () => {
    const bench = new Bench()
    bench.place('2', [
      market('buy', '0.2', { tradeSide: 'open' }),
      market('sell', '0.1', { tradeSide: 'open' }),
    ])

    bench.wait(EIGHT - 1 - bench.now)
    expect(bench.positions('2').map(({ totalFee }) => totalFee)).toEqual(['', ''])
    bench.wait(1)

    const [long, short] = bench.positions('2')
    expect(Number(long?.totalFee) / Number(short?.totalFee)).toBeCloseTo(-2, 10)
    expect(Math.abs(Number(long?.totalFee))).toBeGreaterThan(0)
    expect(bench.coin('2').funding).toBe(sum(long?.totalFee, short?.totalFee))
    expect(bench.core.books().map((book) => book.sum)).toEqual(['0', '0'])
  })

  test('comes three times a day, also while the market is paused', () => {
    const bench = new Bench()
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open' })])
    bench.core.pause(bench.now)

    const seen = new Set<string>()
    for (let hour = 0; hour < 24; hour++) {
      bench.wait(3_600_000)
      seen.add(bench.coin('2').funding)
    }

    expect(seen.size).toBe(1 + 3)
  })

  test('of an isolated position moves its margin', () => {
    const bench = new Bench()
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open' })], { marginMode: 'isolated' })
    const before = Number(bench.positions('2')[0]?.marginSize)

    bench.wait(EIGHT - START_AT)

    const [row] = bench.positions('2')
    expect(Number(row?.marginSize)).toBeCloseTo(before + Number(row?.totalFee), 8)
  })

  test('is not paid on a delivery contract', () => {
    const bench = new Bench({ deliverySettlementMs: 24 * 3_600_000 })
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open' })], { symbol: DELIVERED })

    bench.wait(EIGHT - START_AT)

    expect(bench.positions('2', DELIVERED)).toMatchObject([{ totalFee: '' }])
  })
})

function sum(...texts: readonly (string | null | undefined)[]): string {
  return String(Number(texts.reduce((total, text) => total + Number(text), 0).toFixed(12)))
}
