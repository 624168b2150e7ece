import { describe, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { findLiquidationPrices } from '../../src/risk/liquidation.ts'
import {
  computeScenario,
  type FillRule,
  findFirstLiquidation,
  type ScenarioAccount,
  type ScenarioInstrument,
  type ScenarioOrder,
} from '../../src/risk/scenario.ts'

/** Half a percent up to 100,000 of value and one percent above; closing costs a tenth of a percent. */
const RULES = {
  tiers: [
    { notionalMax: 100_000, rate: 0.005 },
    { notionalMax: Number.POSITIVE_INFINITY, rate: 0.01 },
  ],
  takerFeeRate: 0.001,
}

const NOTHING: ScenarioInstrument = {
  symbol: 'BTCUSDT',
  isInverse: false,
  price: 50_000,
  legs: [],
  orders: [],
  rules: RULES,
  takerFeeRate: 0.001,
  fundingRate: 0,
  leverage: 10,
}

const LONG = { holdSide: 'long', size: 1, entryPrice: 52_000 } as const

function account(
  instruments: readonly ScenarioInstrument[],
  change: Partial<ScenarioAccount> = {},
) {
  return {
    equity: 10_000,
    positionMode: 'one_way_mode',
    isIsolated: false,
    instruments,
    ...change,
  } as const
}

function fall(move: number, fill: FillRule = 'none') {
  return { moves: new Map([['BTCUSDT', move]]), fill }
}

describe('a long position that falls by a tenth, by hand', () => {
  test('loses what it is worth less, needs less than before, and pays the funding on what is left', () => {
    const outcome = computeScenario(
      account([{ ...NOTHING, legs: [LONG], fundingRate: 0.0001 }]),
      fall(-0.1),
    )

    // 45,000 - 50,000; 45,000 × 0.0001; 45,000 × (0.005 + 0.001).
    expect(outcome.equity).toBeCloseTo(10_000 - 5000 - 4.5, 9)
    expect(outcome.funding).toBeCloseTo(-4.5, 9)
    expect(outcome.need).toBeCloseTo(270, 9)
    expect(outcome.free).toBeCloseTo(4725.5, 9)
    expect(outcome.marginRatio).toBeCloseTo(270 / 4995.5, 9)
    expect(outcome.positions).toMatchObject([
      {
        symbol: 'BTCUSDT',
        holdSide: 'long',
        size: 1,
        entryPrice: 52_000,
        price: 45_000,
        worth: 45_000,
      },
    ])
    expect(outcome.positions[0]?.profit).toBeCloseTo(-7000, 9)
    expect(outcome.isLiquidated).toBe(false)
  })

  test('a short one is not credited with funding that it would receive', () => {
    const short = { holdSide: 'short', size: 1, entryPrice: 52_000 } as const

    const outcome = computeScenario(
      account([{ ...NOTHING, legs: [short], fundingRate: 0.0001 }]),
      fall(-0.1),
    )

    expect(outcome.equity).toBeCloseTo(15_000, 9)
    expect(outcome.funding).toBeCloseTo(0, 9)
  })

  test('beyond its tier it needs the rate of the next on the whole', () => {
    const legs = [{ ...LONG, size: 3 }]

    const outcome = computeScenario(account([{ ...NOTHING, legs }], { equity: 50_000 }), fall(-0.1))

    expect(outcome.need).toBeCloseTo(135_000 * 0.011, 9)
  })
})

describe('resting orders', () => {
  const buy = (price: number, size = 0.5): ScenarioOrder => ({ action: 'openLong', price, size })
  const sell = (price: number, size = 0.5): ScenarioOrder => ({ action: 'openShort', price, size })
  const resting = { ...NOTHING, legs: [LONG], orders: [buy(48_000), sell(51_000), buy(44_000)] }

  test('reached by the fall they are bought at their own price, with their fee', () => {
    const outcome = computeScenario(account([resting]), fall(-0.1, 'reached'))

    expect(outcome.filled).toBe(1)
    expect(outcome.fees).toBeCloseTo(24, 9)
    expect(outcome.positions).toMatchObject([{ size: 1.5, entryPrice: (52_000 + 24_000) / 1.5 }])
    // The held one loses 5,000, the bought one 0.5 × 3,000.
    expect(outcome.equity).toBeCloseTo(10_000 - 5000 - 1500 - 24, 9)
  })

  test('one at the price now is not reached by a move away from it, nor by none', () => {
    const orders = [buy(50_000), sell(50_000)]
    const filledBy = (move: number): number =>
      computeScenario(account([{ ...resting, orders }]), fall(move, 'reached')).filled

    expect([filledBy(-0.01), filledBy(0), filledBy(0.01)]).toEqual([1, 0, 1])
  })

  test('filled at the price now the same order loses the whole fall', () => {
    const outcome = computeScenario(account([resting]), {
      ...fall(-0.1, 'reached'),
      fillsAt: 'now',
    })

    expect(outcome.equity).toBeCloseTo(10_000 - 5000 - 2500 - 25, 9)
  })

  test('all of them: what sells against a long position in one-way mode closes it', () => {
    const outcome = computeScenario(account([resting]), fall(-0.1, 'all'))

    expect(outcome.filled).toBe(3)
    expect(outcome.positions).toMatchObject([{ holdSide: 'long', size: 1.5 }])
    expect(outcome.fees).toBeCloseTo(24 + 25.5 + 22, 9)
    // Sold 0.5 at 51,000, bought 0.5 at 48,000 and 0.5 at 44,000: cash and what is held at 45,000.
    const cash = 25_500 - 24_000 - 22_000
    expect(outcome.equity).toBeCloseTo(10_000 + cash + 1.5 * 45_000 - 50_000 - 71.5, 9)
  })

  test('a sell larger than the long position turns it round, in hedge mode it opens a short beside it', () => {
    const orders = [sell(51_000, 3)]

    const oneWay = computeScenario(account([{ ...resting, orders }]), fall(0.1, 'reached'))
    const hedged = computeScenario(
      account([{ ...resting, orders }], { positionMode: 'hedge_mode' }),
      fall(0.1, 'reached'),
    )

    expect(oneWay.positions).toMatchObject([{ holdSide: 'short', size: 2, entryPrice: 51_000 }])
    expect(oneWay.realised).toBeCloseTo(-1000, 9)
    expect(hedged.positions).toMatchObject([
      { holdSide: 'long', size: 1 },
      { holdSide: 'short', size: 3 },
    ])
    expect(hedged.equity).toBeCloseTo(oneWay.equity, 9)
    expect(hedged.need).toBeCloseTo(55_000 * 0.006 + 165_000 * 0.011, 9)
  })

  test('one that only closes closes no more than is held', () => {
    const orders = [{ action: 'closeLong', price: 51_000, size: 5 } as const]

    const outcome = computeScenario(account([{ ...resting, orders }]), fall(0.1, 'reached'))

    expect(outcome.positions).toEqual([])
    expect(outcome.equity).toBeCloseTo(10_000 + 1000 - 51, 9)
    expect([outcome.need, outcome.marginRatio, outcome.isLiquidated]).toEqual([0, 0, false])
  })
})

describe('an inverse contract', () => {
  const legs = [{ holdSide: 'long', size: 2, entryPrice: 50_000 } as const]
  const inverse = { ...NOTHING, symbol: 'BTCUSD', isInverse: true, legs }

  test('wins and loses coins: the lower the price, the more of them', () => {
    const moves = new Map([['BTCUSD', -0.2]])

    const outcome = computeScenario(account([inverse], { equity: 1 }), { moves, fill: 'none' })

    // 2 × (40,000 - 50,000) / 40,000 coins.
    expect(outcome.equity).toBeCloseTo(0.5, 12)
    expect(outcome.need).toBeCloseTo(2 * 0.006, 12)
    expect(outcome.positions[0]?.worth).toBe(2)
  })
})

describe('isolated margin', () => {
  const legs = [{ ...LONG, entryPrice: 50_000, margin: 5000 }]
  const isolated = account([{ ...NOTHING, legs }], { isIsolated: true })

  test('a position loses no more than it has set aside, and ends where that is used up', () => {
    const outcome = computeScenario(isolated, fall(-0.15))

    expect(outcome.isLiquidated).toBe(true)
    expect(outcome.equity).toBeCloseTo(5000, 9)
    const found = findFirstLiquidation(isolated, fall(-0.15))
    // 5,000 + p - 50,000 = 0.006 p.
    const price = 45_000 / 0.994
    expect(found).toMatchObject({ share: expect.closeTo((price / 50_000 - 1) / -0.15, 9) })
  })

  test('an order brings its value over the leverage', () => {
    const orders = [{ action: 'openLong', price: 48_000, size: 1 } as const]
    const empty = account([{ ...NOTHING, orders }], { isIsolated: true })

    // 4,800 + p - 48,000 = 0.006 p.
    expect(findFirstLiquidation(empty, fall(-0.2, 'reached'))).toMatchObject({
      moves: new Map([['BTCUSDT', expect.closeTo(43_200 / 0.994 / 50_000 - 1, 9)]]),
    })
    expect(findFirstLiquidation(empty, fall(-0.2))).toBe('none')
  })
})

describe('the first liquidation', () => {
  test('lies where the liquidation price lies, below and above, in every tier, linear and inverse', () => {
    const random = createRandom('first liquidations')
    const seen = { none: 0, found: 0 }
    for (let world = 0; world < 200; world++) {
      const isInverse = random.integer(2) === 0
      const draw = (): number => 0.1 + random.integer(50) / 10
      const legs = (['long', 'short'] as const)
        .filter(() => random.integer(3) > 0)
        .map((holdSide) => ({ holdSide, size: draw(), entryPrice: 48_000 + random.integer(4000) }))
      const equity = (isInverse ? 0.1 : 5000) * draw()
      const held = account([{ ...NOTHING, isInverse, legs }], {
        equity,
        positionMode: 'hedge_mode',
      })
      const now = computeScenario(held, fall(0))
      if (legs.length === 0 || now.isLiquidated) continue
      const profit = now.positions.reduce((sum, position) => sum + position.profit, 0)
      const prices = findLiquidationPrices(
        { legs, behind: equity - profit, rules: RULES, isInverse },
        50_000,
      )

      for (const [price, move] of [
        [prices.below, -0.1],
        [prices.above, 0.1],
      ] as const) {
        const found = findFirstLiquidation(held, fall(move))
        const isFar = Number.isNaN(price) || price < 50_000 * 0.01 || price > 50_000 * 10
        seen[isFar ? 'none' : 'found'] += 1
        if (isFar) continue
        expect(found).toMatchObject({
          moves: new Map([['BTCUSDT', expect.closeTo(price / 50_000 - 1, 7)]]),
        })
      }
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(20)
  })

  test('of two instruments that fall together comes before that of either, by hand', () => {
    const eth = { ...NOTHING, symbol: 'ETHUSDT', price: 2500 }
    const both = account([
      { ...NOTHING, legs: [{ ...LONG, entryPrice: 50_000 }] },
      { ...eth, legs: [{ holdSide: 'long', size: 20, entryPrice: 2500 }] },
    ])
    const moves = new Map([
      ['BTCUSDT', -0.1],
      ['ETHUSDT', -0.2],
    ])

    const found = findFirstLiquidation(both, { moves, fill: 'none' })

    // 10,000 - 50,000 × 0.3 s = 0.006 × 50,000 × (2 - 0.3 s).
    const share = (10_000 - 600) / (15_000 - 90)
    expect(found).toMatchObject({ share: expect.closeTo(share, 9) })
  })

  test('is not known without the tiers or the equity, and there is none where nothing moves', () => {
    const legs = [LONG]

    expect(
      findFirstLiquidation(account([{ ...NOTHING, legs, rules: undefined }]), fall(-0.1)),
    ).toBe('unknown')
    expect(
      findFirstLiquidation(account([{ ...NOTHING, legs }], { equity: Number.NaN }), fall(-0.1)),
    ).toBe('unknown')
    expect(findFirstLiquidation(account([{ ...NOTHING, legs }]), fall(0))).toBe('none')
    expect(findFirstLiquidation(account([NOTHING]), fall(-0.1))).toBe('none')
  })
})
