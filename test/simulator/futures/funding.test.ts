import { describe, expect, test } from 'vitest'
import { Bench, benchInstruments, market, START_AT, DELIVERED } from './bench.ts'

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

describe('times of funding', () => {
  const HOUR = 3_600_000
  const paidHours = (bench: Bench, hours: number): number[] => {
    const paid: number[] = []
    for (let hour = 0; hour < hours; hour++) {
      const before = bench.coin('2').funding
      bench.wait(hour === 0 ? START_AT + HOUR - bench.now : HOUR)
      if (bench.coin('2').funding !== before) paid.push(new Date(bench.now).getUTCHours())
    }
    return paid
  }

  test('are those of the instrument, which pays a part of the rate of eight hours each time', () => {
    const hourly = benchInstruments.map((one) => ({
      ...one,
      fundingMinutes: one.symbol === 'BTCUSDT' ? [0, 240, 480, 720, 960, 1200] : one.fundingMinutes,
    }))
    const bench = new Bench({}, undefined, hourly)
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open' })])
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open' })], { symbol: 'ETHUSDT' })

    expect(paidHours(bench, 24)).toEqual([8, 12, 16, 20, 0, 4])
    expect(bench.positions('2', 'ETHUSDT')[0]?.totalFee).not.toBe('')
    bench.core.pause(bench.now)
    const before = Number(bench.positions('2', 'ETHUSDT')[0]?.totalFee)
    bench.wait(6 * HOUR)
    expect(Number(bench.positions('2', 'ETHUSDT')[0]?.totalFee)).not.toBe(before)
  })

  test('are those that were recorded, whatever their distance, with their rates', () => {
    const at = [9, 10, 14, 22].map((hour) => START_AT + (hour - 6) * HOUR)
    const rate = [0.0001, -0.0002, 0.0003, 0.0004]
    const funding = new Map([
      ['BTCUSDT', { at: Float64Array.from(at), rate: Float64Array.from(rate) }],
    ])
    const bench = new Bench({}, undefined, undefined, { funding })
    bench.place('2', [market('buy', '0.2', { tradeSide: 'open' })])

    bench.wait(START_AT + 3 * HOUR - 1 - bench.now)
    // Before the record begins it is paid by the instrument's own times: 08:00.
    expect(Number(bench.positions('2')[0]?.totalFee)).toBeLessThan(0)
    const before = Number(bench.positions('2')[0]?.totalFee)
    expect(paidHours(bench, 14)).toEqual([9, 10, 14])
    const mark = Number(bench.positions('2')[0]?.markPrice)
    const paid = Number(bench.positions('2')[0]?.totalFee) - before
    expect(paid).toBeCloseTo(-0.2 * mark * (0.0001 - 0.0002 + 0.0003), 2)
  })
})

function sum(...texts: readonly (string | null | undefined)[]): string {
  return String(Number(texts.reduce((total, text) => total + Number(text), 0).toFixed(12)))
}
