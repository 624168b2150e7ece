import { describe, expect, it } from 'vitest'
import { type QuoteLevel } from '../../src/domain/intent.ts'
import type { Order } from '../../src/domain/order.ts'
import { createRandom } from '../../src/lib/random.ts'
import { type DecisionResult, StrategyRunner } from '../../src/strategy/strategy-runner.ts'
import { checkBinding } from '../../src/strategy/load-strategy.ts'
import grid from '../../strategies/grid.ts'
import { ManualTime } from '../support/manual-time.ts'
import {
  holdingOf,
  madeInstrument,
  madeOrder,
  madeSnapshot,
  MOMENT_AT,
} from '../support/market-moment.ts'

const PARAMS = { spacingBps: 10, levels: 3, size: '0.01' }

function runnerOf(params: object = {}, stateText?: string) {
  return new StrategyRunner({
    strategyId: 'grid-btc',
    strategy: grid,
    params: grid.params.parse({ ...PARAMS, ...params }),
    instruments: [madeInstrument()],
    stateText,
    clock: new ManualTime(MOMENT_AT),
  })
}

/** The levels of the one quote, sorted by price, as `side@ticks`. */
function laddered(result: DecisionResult): string[] {
  return levelsOf(result)
    .toSorted((a, b) => a.ticks - b.ticks)
    .map(({ side, ticks }) => `${side}@${ticks}`)
}

function levelsOf(result: DecisionResult): readonly QuoteLevel[] {
  expect(result).toMatchObject({
    kind: 'decided',
    denials: [],
    intents: [{ kind: 'quote', symbol: 'BTCUSDT' }],
  })
  const intent = result.kind === 'decided' ? result.intents[0] : undefined
  return intent?.kind === 'quote' ? intent.levels : []
}

/** A moment with a spread of two ticks round a mid price in ticks. */
const momentAt = (midTicks: number, { netLots = 0, orders = [] as readonly Order[] } = {}) =>
  madeSnapshot([
    { bid: (midTicks - 1) / 10, ask: (midTicks + 1) / 10, holding: holdingOf(netLots), orders },
  ])

/** At 1000.0 (10000 ticks) ten basis points are ten ticks, and 0.01 is ten lots. */
describe('the grid', () => {
  it('lays a ladder round the price and leaves the middle empty', () => {
    expect(laddered(runnerOf().decide(momentAt(10_000)))).toEqual([
      'buy@9970',
      'buy@9980',
      'buy@9990',
      'sell@10010',
      'sell@10020',
      'sell@10030',
    ])
  })

  it('names the nearest levels first, all of the exact size', () => {
    const levels = levelsOf(runnerOf().decide(momentAt(10_000)))

    expect(levels.map(({ ticks }) => Math.abs(ticks - 10_000))).toEqual([10, 10, 20, 20, 30, 30])
    expect(levels.every(({ lots }) => lots === 10)).toBe(true)
  })

  it('says the very same while the price moves between two levels', () => {
    const runner = runnerOf()
    const first = runner.decide(momentAt(10_000))

    const later = [10_004, 9_994, 10_008, 9_992].map((midTicks) =>
      runner.decide(momentAt(midTicks)),
    )

    for (const result of later) expect(result).toEqual(first)
  })

  it('leaves a filled level empty and sells one level above it what was bought there', () => {
    const runner = runnerOf()
    runner.decide(momentAt(10_000))

    const bought = runner.decide(momentAt(9_992, { netLots: 10 }))

    expect(laddered(bought)).toEqual([
      'buy@9970',
      'buy@9980',
      'sell@10000',
      'sell@10010',
      'sell@10020',
      'sell@10030',
    ])
  })

  it('buys at a level again once the level above it was sold', () => {
    const runner = runnerOf()
    const first = runner.decide(momentAt(10_000))
    runner.decide(momentAt(9_992, { netLots: 10 }))

    expect(laddered(runner.decide(momentAt(10_002, { netLots: 0 })))).toEqual(laddered(first))
  })

  it('keeps asking for a level that is filled in part, on the way down and on the way back', () => {
    const runner = runnerOf()
    const first = laddered(runner.decide(momentAt(10_000)))

    expect(laddered(runner.decide(momentAt(9_992, { netLots: 7 })))).toEqual(first)
    const bought = laddered(runner.decide(momentAt(9_992, { netLots: 10 })))
    expect(laddered(runner.decide(momentAt(9_999, { netLots: 4 })))).toEqual(bought)
    expect(laddered(runner.decide(momentAt(10_002, { netLots: 0 })))).toEqual(first)
  })

  it('follows several fills that became known at once', () => {
    const runner = runnerOf()
    runner.decide(momentAt(10_000))

    expect(laddered(runner.decide(momentAt(10_024, { netLots: -20 })))).toEqual([
      'buy@9970',
      'buy@9980',
      'buy@9990',
      'buy@10000',
      'buy@10010',
      'sell@10030',
    ])
  })

  it('keeps a tick away from the other side, but takes nothing back that rests there already', () => {
    const runner = runnerOf()
    runner.decide(momentAt(10_000))
    const resting = madeOrder({ action: 'openShort', ticks: 10_010 })

    // The bid has reached 10010 and 10020 before any fill became known.
    expect(laddered(runner.decide(momentAt(10_021)))).toEqual([
      'buy@9970',
      'buy@9980',
      'buy@9990',
      'sell@10030',
    ])
    expect(laddered(runner.decide(momentAt(10_021, { orders: [resting] })))).toContain('sell@10010')
  })

  it('builds a new ladder when the price has left the old one, and only then', () => {
    const runner = runnerOf()
    runner.decide(momentAt(10_000))

    expect(laddered(runner.decide(momentAt(10_039, { netLots: -30 })))).toContain('buy@9970')
    const recentred = laddered(runner.decide(momentAt(10_041, { netLots: -30 })))

    expect(recentred).toEqual([
      'buy@10011',
      'buy@10021',
      'buy@10031',
      'sell@10051',
      'sell@10061',
      'sell@10071',
    ])
  })

  it('builds it sooner when told to', () => {
    const runner = runnerOf({ recentreAfterLevels: 1 })
    runner.decide(momentAt(10_000))

    expect(laddered(runner.decide(momentAt(9_979)))).toContain('buy@9970')
    expect(laddered(runner.decide(momentAt(9_979)))).toEqual(
      laddered(runner.decide(momentAt(9_979))),
    )
    expect(laddered(runner.decide(momentAt(9_979)))).toContain('sell@9988')
  })

  it('stands where it stood after a restart', () => {
    const before = runnerOf()
    before.decide(momentAt(10_000))
    before.decide(momentAt(9_992, { netLots: 10 }))

    const after = runnerOf({}, before.stateText)

    expect(after.decide(momentAt(9_998, { netLots: 10 }))).toEqual(
      before.decide(momentAt(9_998, { netLots: 10 })),
    )
  })

  it('keeps levels apart by a tick at least, and above zero', () => {
    const runner = runnerOf({ spacingBps: 0.1, levels: 5 })

    expect(laddered(runner.decide(momentAt(3)))).toEqual([
      'buy@1',
      'buy@2',
      'sell@4',
      'sell@5',
      'sell@6',
      'sell@7',
      'sell@8',
    ])
  })

  it('wants nothing of an instrument without prices', () => {
    expect(runnerOf().decide(madeSnapshot([{}]))).toMatchObject({ kind: 'decided', intents: [] })
  })

  it('replenishes for as long as the price swings, and holds what its fills say', () => {
    const runner = runnerOf({ levels: 5 })
    const random = createRandom('grid')
    let resting: readonly QuoteLevel[] = []
    let netLots = 0
    let fills = 0
    let cashTicks = 0

    for (let step = 0; step < 5000; step++) {
      const midTicks = 10_000 + Math.round(40 * Math.sin(step / 15) + random.integer(9) - 4)
      for (const { side, ticks, lots } of resting) {
        if (side === 'buy' ? midTicks >= ticks : midTicks <= ticks) continue
        netLots += side === 'buy' ? lots : -lots
        cashTicks += side === 'buy' ? -ticks * lots : ticks * lots
        fills += 1
      }
      resting = levelsOf(runner.decide(momentAt(midTicks, { netLots })))

      expect(resting.length).toBeGreaterThanOrEqual(8)
      expect(Math.abs(netLots)).toBeLessThanOrEqual(50)
      for (const { side, ticks } of resting)
        expect(side === 'buy' ? ticks <= midTicks : ticks >= midTicks).toBe(true)
    }

    expect(fills).toBeGreaterThan(500)
    // Valued at the price that all the swings begin and end at, each pair of fills has earned the spacing.
    expect(cashTicks + netLots * 10_000).toBeGreaterThan((fills / 2) * 10 * 10 * 0.9)
  })

  it('objects to a size that no order can have', () => {
    const instruments = [madeInstrument({ lotsMin: 5 })]
    const check = (size: string) =>
      checkBinding({ strategy: grid, params: { ...PARAMS, size }, instruments })

    expect(check('0.005')).toEqual([])
    expect(check('0.004')).toEqual(['size 0.004 is below the smallest order of BTCUSDT'])
    expect(check('0.0045')).toEqual([expect.stringContaining('SIZE_OFF_GRID')])
  })
})
