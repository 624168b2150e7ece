import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import { drawLatency } from '../../../src/simulator/shared/latency.ts'
import { Bench, fillTexts, limit, market } from './bench.ts'

describe('latency', () => {
  test('has the median and the tail that are stated, and is bounded', () => {
    const random = createRandom('latency')

    const drawn = Array.from({ length: 20_000 }, () =>
      drawLatency({ medianMs: 1000, deviation: 0.5 }, random),
    ).sort((one, other) => one - other)

    expect(drawn[10_000]).toBeGreaterThan(980)
    expect(drawn[10_000]).toBeLessThan(1020)
    expect(drawn[19_800]).toBeGreaterThan(3000)
    expect(drawn[19_800]).toBeLessThan(3400)
    expect(drawn[0]).toBeGreaterThanOrEqual(246)
    expect(drawn.at(-1)).toBeLessThanOrEqual(4056)
  })

  test('is none where there is no median, and the median where there is no deviation', () => {
    const random = createRandom('latency')

    expect(drawLatency({ medianMs: 0, deviation: 0.5 }, random)).toBe(0)
    expect(drawLatency({ medianMs: 7, deviation: 0 }, random)).toBe(7)
  })
})

describe('an order on its way to the market', () => {
  test('meets the quote of its arrival, together with the others of its batch', () => {
    const bench = new Bench({ entryLatency: { medianMs: 250, deviation: 0.5 } })
    bench.place('1', [market('buy', '0.1'), market('buy', '0.2')])
    expect(bench.fills('1')).toEqual([])

    for (let step = 0; step < 12; step++)
      bench.quote({ bid: 60_000 + step, ask: 60_000.1 + step, askSize: 9 })

    const [first, second] = fillTexts(bench.fills('1'))
    expect(first).toMatch(/^0\.1 @ 600\d\d\.1 taker$/)
    expect(second?.replace('0.2', '0.1')).toBe(first)
  })

  test('may be overtaken by one that was sent after it', () => {
    const bench = new Bench({ entryLatency: { medianMs: 1000, deviation: 2 } })
    for (let order = 0; order < 20; order++) {
      bench.place('1', [limit('buy', '0.001', '60005', { clientOid: `order-${order}` })])
      bench.quote({ bid: 60_000, ask: 60_000.1 })
    }
    bench.wait(600_000)

    const arrived = bench.fills('1').map(({ orderId }) => orderId)
    expect(arrived).toHaveLength(20)
    expect(arrived).not.toEqual([...arrived].sort())
  })
})
