import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Time passes, and fills are polled; the exchange gives whatever lies since the moment that it is asked for. */
function live(bench: EngineBench, ms: number, stepMs: number, fills: readonly Fill[] = []): void {
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.now += stepMs
    bench.price()
    bench.step({ kind: 'timePassed' })
    poll(bench, fills, lots)
  }
}

/** Returns how far back the read went, ms. */
function poll(bench: EngineBench, fills: readonly Fill[] = [], lots = 0): number {
  bench.take('readFills')
  bench.step({ kind: 'pollDue', what: 'fills' })
  const asked = bench.effects.find((effect) => effect.kind === 'readFills')
  const sinceAt = asked?.kind === 'readFills' ? asked.sinceAt : Number.NaN
  bench.read({
    fills: fills.filter(({ filledAt }) => filledAt >= sinceAt),
    holding: { longLots: lots, shortLots: 0 },
  })
  return bench.now - sinceAt
}

describe('where the read of fills begins', () => {
  test('moves on without a fill, so that a month of silence costs one short read', () => {
    const bench = new EngineBench().start()

    live(bench, 30 * DAY_MS, HOUR_MS)

    expect(poll(bench)).toBeLessThan(2 * HOUR_MS)
    live(bench, 5 * MINUTE_MS, MINUTE_MS)
    expect(poll(bench)).toBeLessThan(3 * MINUTE_MS)
  })

  test('is remembered over a restart', () => {
    const bench = new EngineBench().start()
    live(bench, 30 * DAY_MS, HOUR_MS)
    live(bench, 5 * MINUTE_MS, MINUTE_MS)

    bench.restart()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })

    const [asked] = bench.take('readFills')
    expect(bench.now - (asked?.sinceAt ?? 0)).toBeLessThan(2 * HOUR_MS)
  })

  test('[ORD5] after a repair lies behind no trade that was forgotten: nothing is counted twice', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({ lots: 7 })]
    poll(bench, fills, 7)
    live(bench, 5 * HOUR_MS, 5 * MINUTE_MS, fills)
    expect(bench.book.trades.size).toBe(0)
    const repaired = { strategies: [STRATEGY], symbols: [SYMBOL], reason: 'damaged' }
    bench.records.push({ kind: 'repaired', at: bench.now, ...repaired })

    bench.restart().start({ fills, holding: { longLots: 7, shortLots: 0 } })
    bench.pass(10_000, { fills, holding: { longLots: 7, shortLots: 0 } })

    expect(bench.states()).toEqual(['unknown'])
    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 7, shortLots: 0 })
  })

  test('[ORD5] of a read that took minutes may lie behind it: what was forgotten meanwhile is not counted twice', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({ lots: 7 })]
    poll(bench, fills, 7)
    const late = {
      fills,
      sinceAt: bench.now - MINUTE_MS,
      requestedAt: bench.now,
      exchangeTime: bench.now,
    }
    live(bench, 10 * MINUTE_MS, MINUTE_MS, fills)
    expect(bench.book.trades.size).toBe(0)

    bench.step({ kind: 'fillsRead', reading: late })

    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 7, shortLots: 0 })
  })

  test("[ORD5] goes back with the exchange's clock, and brings back no trade that was forgotten", () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({ lots: 10 })]
    poll(bench, fills, 10)
    live(bench, 4 * MINUTE_MS, MINUTE_MS, fills)
    expect([bench.book.trades.size, bench.states()]).toEqual([0, ['filled']])
    const forgottenBefore = bench.book.tradesSinceAt

    bench.step({ kind: 'clockSynchronised', offsetMs: -HOUR_MS })
    bench.now += 2 * MINUTE_MS
    bench.step({ kind: 'timePassed' })
    expect(bench.recordsOf('prune').at(-1)?.tradesBefore).toBeLessThan(forgottenBefore)
    poll(bench, fills, 10)

    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 10, shortLots: 0 })
  })

  test.each([
    ['an answer says', DAY_MS, 0],
    ['was measured', 0, DAY_MS],
  ])("is not moved by what %s of the exchange's clock alone", (_, exchangeAheadMs, offsetMs) => {
    const bench = new EngineBench().start()
    live(bench, 10 * MINUTE_MS, MINUTE_MS)
    bench.step({ kind: 'pollDue', what: 'fills' })
    const [asked] = bench.take('readFills')
    const reading = { fills: [], sinceAt: asked?.sinceAt ?? 0, requestedAt: bench.now }
    bench.step({ kind: 'clockSynchronised', offsetMs })
    bench.step({
      kind: 'fillsRead',
      reading: { ...reading, exchangeTime: bench.now + exchangeAheadMs },
    })
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })

    // As much margin is left as the clocks may be off by.
    expect(poll(bench)).toBeGreaterThan(MINUTE_MS)
  })

  test('[ORD5] does not lie in a time to come that public answers told a first run', () => {
    const bench = new EngineBench()
    bench.step({ kind: 'clockSynchronised', offsetMs: HOUR_MS, isPublic: true })
    bench.step({ kind: 'started' })
    expect(bench.book.fillsThroughAt).toBe(bench.now + HOUR_MS)
    const begunAt = bench.now

    bench.read({ fills: [] })
    bench.restart()
    bench.now += 2 * HOUR_MS
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })

    const [asked] = bench.take('readFills')
    expect(asked?.sinceAt).toBeLessThan(begunAt)
  })
})
