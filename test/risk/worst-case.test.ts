import { describe, expect, test } from 'vitest'
import { createGrid } from '../../src/lib/grid.ts'
import { createRandom } from '../../src/lib/random.ts'
import { findLiquidationPrices, type Leg } from '../../src/risk/liquidation.ts'
import { planReduction, type ReducibleRisk } from '../../src/risk/reduction.ts'
import {
  addRung,
  createLadder,
  fillLadder,
  type RestingLadder,
  type Rung,
} from '../../src/risk/resting-ladder.ts'
import { findWorstCase, needAt, needsOf, type InstrumentRisk } from '../../src/risk/worst-case.ts'

const RULES = {
  tiers: [
    { notionalMax: 50_000, rate: 0.004 },
    { notionalMax: 250_000, rate: 0.01 },
    { notionalMax: Number.POSITIVE_INFINITY, rate: 0.025 },
  ],
  takerFeeRate: 0.0006,
}
/** Whole units of both coins, so that ticks and lots are prices and sizes. */
const GRIDS = { tick: createGrid('1'), lot: createGrid('1') }

function buildLadder(direction: 'down' | 'up', rungs: readonly Rung[]): RestingLadder {
  const ladder = createLadder(direction, GRIDS)
  for (const rung of rungs) addRung(ladder, rung)
  return ladder
}

const NOTHING = { size: 0, entryPrice: Number.NaN }
const NO_ORDERS = { opening: 0, closing: 0 }

function riskOf(change: Partial<InstrumentRisk>): InstrumentRisk {
  return {
    symbol: 'BTCUSDT',
    isInverse: false,
    isNet: true,
    rules: {
      tiers: [{ notionalMax: Number.POSITIVE_INFINITY, rate: 0.004 }],
      takerFeeRate: 0.0006,
    },
    move: 0.12,
    jointMove: 0.12,
    price: 100_000,
    fundingRate: 0,
    long: NOTHING,
    short: NOTHING,
    buys: NO_ORDERS,
    sells: NO_ORDERS,
    ...change,
  }
}

describe('[RSK1] what a move of the market takes', () => {
  test('the example by hand: loss, fees and maintenance of 0.5 BTC and a buy of 0.3', () => {
    const risk = riskOf({
      long: { size: 0.5, entryPrice: 90_000 },
      buys: { opening: 0.3, closing: 0 },
    })

    expect(needAt(risk, 'down', 0.12)).toBeCloseTo(9600 + 60.24 + 281.6, 9)
    expect(findWorstCase([needsOf(risk)], 20_000)?.used).toBeCloseTo(0.497_092, 9)
    // On the way up the position gains, and the buy is not filled.
    expect(needAt(risk, 'up', 0.12)).toBeCloseTo(-6000 + 56_000 * 0.0046, 9)
  })

  test('the next funding counts where the side that is larger pays it', () => {
    const long = riskOf({ long: { size: 1, entryPrice: 100_000 }, fundingRate: 0.001 })

    expect(
      needAt(long, 'down', 0.1) - needAt({ ...long, fundingRate: 0 }, 'down', 0.1),
    ).toBeCloseTo(100, 9)
    expect(needAt({ ...long, fundingRate: -0.001 }, 'down', 0.1)).toBe(
      needAt({ ...long, fundingRate: 0 }, 'down', 0.1),
    )
  })

  test('a close of a short takes a hedge away, and frees no margin', () => {
    const hedged = riskOf({
      isNet: false,
      long: { size: 1, entryPrice: 100_000 },
      short: { size: 1, entryPrice: 100_000 },
    })
    const closing = { ...hedged, buys: { opening: 0, closing: 1 } }

    expect(needAt(hedged, 'down', 0.12)).toBeCloseTo(2 * 88_000 * 0.0046, 9)
    expect(needAt(closing, 'down', 0.12)).toBeCloseTo(
      12_000 + 60 + 88_000 * 0.0006 + 2 * 88_000 * 0.004,
      9,
    )
  })

  test('an inverse contract loses size - cost / price in its coin', () => {
    const risk = riskOf({
      isInverse: true,
      long: { size: 2, entryPrice: 80_000 },
      buys: { opening: 1, closing: 0 },
    })
    const held = 2 - (2 * 80_000) / 100_000 - (2 - (2 * 80_000) / 90_000)
    const filled = 100_000 / 90_000 - 1

    expect(needAt(risk, 'down', 0.1)).toBeCloseTo(held + filled + 0.0006 + 3 * 0.0046, 12)
  })

  test('the tier of the largest value on the way counts, by hand: before a fall, after a rise', () => {
    const long = riskOf({ rules: RULES, long: { size: 1, entryPrice: 100_000 } })
    const short = riskOf({ rules: RULES, short: { size: 1, entryPrice: 100_000 } })

    // 40,000 would be of the first tier, but 100,000 was of the second.
    expect(needAt(long, 'down', 0.6)).toBeCloseTo(60_000 + 40_000 * (0.0006 + 0.01), 9)
    // 300,000 is of the third.
    expect(needAt(short, 'up', 2)).toBeCloseTo(200_000 + 300_000 * (0.0006 + 0.025), 9)
  })

  test('two instruments that fall together, with orders on the way at their own prices, by hand', () => {
    const buys = (price: number) => ({
      opening: 2,
      closing: 0,
      ladder: buildLadder('down', [
        { ticks: price * 0.95, opening: 1, closing: 0 },
        { ticks: price * 0.8, opening: 1, closing: 0 },
      ]),
    })
    const btc = riskOf({ long: { size: 1, entryPrice: 100_000 }, buys: buys(100_000) })
    const eth = riskOf({
      symbol: 'ETHUSDT',
      price: 2000,
      long: { size: 10, entryPrice: 2000 },
      buys: buys(2000),
    })

    // Each falls by 12 %: what is held loses it, the order at -5 % the rest of it, the one at -20 % rests on.
    const ofBtc = 12_000 + 7000 + 0.0006 * (95_000 + 2 * 88_000) + 0.004 * 2 * 88_000
    const ofEth = 2400 + 140 + 0.0006 * (1900 + 11 * 1760) + 0.004 * 11 * 1760
    const worst = findWorstCase([needsOf(btc), needsOf(eth)], 25_000)
    expect(worst?.scenario).toEqual({ kind: 'joint' })
    expect(worst?.need).toBeCloseTo(ofBtc + ofEth, 9)
    expect(worst?.used).toBeCloseTo((ofBtc + ofEth) / 25_000, 9)
  })

  test('several instruments: alone, at once, and what stands still needs its margin', () => {
    const btc = riskOf({ long: { size: 0.1, entryPrice: 100_000 }, jointMove: 0.05 })
    const eth = riskOf({
      symbol: 'ETHUSDT',
      price: 2500,
      short: { size: 4, entryPrice: 2500 },
      jointMove: 0.05,
    })
    const alone = findWorstCase([needsOf(btc), needsOf(eth)], 10_000)
    const atOnce = findWorstCase(
      [btc, eth].map((one) => needsOf({ ...one, jointMove: 0.12 })),
      10_000,
    )

    // The short gains value on the way up, and so needs more there than a long on its way down.
    expect(alone).toMatchObject({
      scenario: { kind: 'single', symbol: 'ETHUSDT', direction: 'up' },
    })
    expect(alone?.need).toBeCloseTo(1200 + 11_200 * 0.0046 + 10_000 * 0.0046, 9)
    expect(atOnce?.scenario).toEqual({ kind: 'joint' })
    expect(atOnce?.need).toBeCloseTo(2400 + 11_200 * 0.0046 + 8800 * 0.0046, 9)
  })

  test('what is not known is not survived', () => {
    expect(
      findWorstCase([needsOf(riskOf({ buys: { opening: 1, closing: 0 }, price: Number.NaN }))], 1)
        ?.used,
    ).toBeNaN()
    expect(
      findWorstCase([needsOf(riskOf({ long: { size: 1, entryPrice: 1 } }))], Number.NaN)?.used,
    ).toBeNaN()
    expect(findWorstCase([needsOf(riskOf({ long: { size: 1, entryPrice: 1 } }))], 0)?.used).toBe(
      Infinity,
    )
  })

  test('orders at their own prices are filled only as far as the move reaches', () => {
    const rungs = [99_000, 95_000, 80_000].map((ticks) => ({ ticks, opening: 1, closing: 0 }))
    const risk = riskOf({ buys: { opening: 3, closing: 0, ladder: buildLadder('down', rungs) } })
    const fees = (99_000 + 95_000 + 2 * 90_000) * 0.0006 + 2 * 90_000 * 0.004

    expect(needAt(risk, 'down', 0.1)).toBeCloseTo(9000 + 5000 + fees, 6)
    expect(needAt({ ...risk, buys: { opening: 3, closing: 0 } }, 'down', 0.1)).toBeGreaterThan(
      30_000,
    )
  })
})

/** Random accounts of one to four crossed instruments, of which each uses up to the whole budget. */
function makeAccount(random: ReturnType<typeof createRandom>) {
  const unit = (): number => random.integer(1_000_000) / 1_000_000
  const isInverse = random.integer(4) === 0
  const isNet = random.integer(2) === 0
  const risks = Array.from({ length: 1 + random.integer(4) }, (_, index): InstrumentRisk => {
    const price = 10 ** (1 + 4 * unit())
    const size = (): number => (random.integer(3) === 0 ? 0 : (unit() * 200_000) / price)
    const entryPrice = price * (0.7 + 0.6 * unit())
    const [long, short] = [size(), size()]
    return {
      symbol: `S${index}`,
      isInverse,
      isNet,
      rules: RULES,
      move: 0.01 + 0.3 * unit(),
      jointMove: 0.01 + 0.2 * unit(),
      price,
      fundingRate: (unit() - 0.5) * 0.002,
      long: { size: long, entryPrice },
      short: { size: isNet && long > 0 ? 0 : short, entryPrice: entryPrice * (0.9 + 0.2 * unit()) },
      buys: { opening: size(), closing: isNet ? 0 : unit() * short },
      sells: { opening: size(), closing: isNet ? 0 : unit() * long },
    }
  })
  return { risks, worst: findWorstCase(risks.map(needsOf), 1), unit }
}

/** What is held once a side of the orders is filled at the price now, and what that has cost and realised. */
function fillSide(risk: InstrumentRisk, side: 'buys' | 'sells' | undefined, part: number) {
  const { isNet, isInverse, price, rules } = risk
  const legs = { long: { ...risk.long }, short: { ...risk.short } }
  const [into, other] =
    side === 'buys' ? (['long', 'short'] as const) : (['short', 'long'] as const)
  const orders = side === undefined ? NO_ORDERS : risk[side]
  const all = (orders.opening + orders.closing) * part
  const closed = Math.min(isNet ? all : orders.closing * part, legs[other].size)
  const opened = isNet ? all - closed : orders.opening * part
  const sign = other === 'long' ? 1 : -1
  const realised =
    closed === 0 ? 0 : (sign * closed * (price - legs[other].entryPrice)) / (isInverse ? price : 1)
  const before = legs[into].size
  // Of an inverse contract the cost in coins is what adds up.
  const entryPrice =
    before + opened === 0
      ? Number.NaN
      : (before * (legs[into].entryPrice || 0) + opened * price) / (before + opened)
  legs[other] = { ...legs[other], size: legs[other].size - closed }
  legs[into] = { size: before + opened, entryPrice }
  return { legs, money: realised - rules.takerFeeRate * all * (isInverse ? 1 : price) }
}

test('[RSK1] an account within its budget is liquidated by none of the stated moves, whatever is filled', () => {
  const random = createRandom('accounts within their budget')
  const profitOf = (
    { isInverse }: InstrumentRisk,
    side: 'long' | 'short',
    { size, entryPrice }: InstrumentRisk['long'],
    at: number,
  ): number =>
    size === 0 ? 0 : ((side === 'long' ? 1 : -1) * size * (at - entryPrice)) / (isInverse ? at : 1)
  let [judged, closest] = [0, Number.POSITIVE_INFINITY]
  for (let account = 0; account < 3000; account++) {
    const { risks, worst, unit } = makeAccount(random)
    if (worst === undefined || worst.need <= 0) continue
    judged += 1
    const equity = worst.need
    const settled =
      equity -
      risks.reduce(
        (sum, one) =>
          sum +
          profitOf(one, 'long', one.long, one.price) +
          profitOf(one, 'short', one.short, one.price),
        0,
      )
    for (let way = 0; way < 6; way++) {
      const mover = way < 3 ? random.integer(risks.length) : undefined
      const part = [0, 1, unit()][way % 3] ?? 1
      const moved = risks.map((risk, index) => {
        const direction = random.integer(2) === 0 ? 'down' : 'up'
        const share = mover === undefined ? risk.jointMove : mover === index ? risk.move : 0
        const { legs, money } = fillSide(risk, direction === 'down' ? 'buys' : 'sells', part)
        const to = risk.price * (direction === 'down' ? 1 - share : 1 + share)
        const net = legs.long.size - legs.short.size
        const value = risk.isInverse ? 1 : Math.max(risk.price, to)
        return { risk, legs, to, money: money - Math.max(0, risk.fundingRate * net) * value }
      })
      // One after the other is at the price to which it moves, while all others are there already.
      for (const { risk, legs, to } of moved) {
        const held = (['long', 'short'] as const).flatMap((holdSide): Leg[] =>
          legs[holdSide].size > 0 ? [{ holdSide, ...legs[holdSide] }] : [],
        )
        if (held.length === 0) continue
        let behind = settled
        for (const other of moved) {
          behind += other.money
          if (other.risk === risk) continue
          for (const side of ['long', 'short'] as const) {
            const leg = other.legs[side]
            const rate =
              RULES.takerFeeRate +
              (RULES.tiers.find(({ notionalMax }) => leg.size * other.to <= notionalMax)?.rate ?? 0)
            behind +=
              profitOf(other.risk, side, leg, other.to) -
              rate * leg.size * (risk.isInverse ? 1 : other.to)
          }
        }
        const of = { legs: held, behind, rules: RULES, isInverse: risk.isInverse }
        const prices = findLiquidationPrices(of, risk.price)
        const nearest = to < risk.price ? prices.below : prices.above
        const isLiquidated = to < risk.price ? nearest > to * (1 + 1e-9) : nearest < to * (1 - 1e-9)
        expect({ account, way, symbol: risk.symbol, isLiquidated, to, nearest }).toMatchObject({
          isLiquidated: false,
        })
        if (Number.isFinite(nearest)) closest = Math.min(closest, Math.abs(nearest - to) / to)
      }
    }
  }
  expect(judged).toBeGreaterThan(2500)
  // The budget is not only never exceeded, it is also used up: the worst scenario ends at the liquidation.
  expect(closest).toBeLessThan(1e-6)
})

test('[RSK1] running sums of 3,000 steps of orders that come, change and go are to the last bit those of all orders counted anew', () => {
  const random = createRandom('orders that come and go')
  const grids = { tick: createGrid('0.1'), lot: createGrid('0.003') }
  const isReached = (ticks: number | undefined, direction: 'down' | 'up', to: number): boolean =>
    ticks === undefined || (direction === 'down' ? ticks / 10 >= to : ticks / 10 <= to)
  for (const direction of ['down', 'up'] as const) {
    const resting: Rung[] = []
    const kept = createLadder(direction, grids)
    let partly = 0
    for (let step = 0; step < 1500; step++) {
      if (resting.length > 0 && random.integer(5) < 2) {
        const [gone] = resting.splice(random.integer(resting.length), 1)
        if (gone) addRung(kept, { ...gone, opening: -gone.opening, closing: -gone.closing })
      } else if (resting.length < 60) {
        const lots = 1 + random.integer(50)
        const closes = random.integer(2) === 0
        const ticks = random.integer(10) === 0 ? undefined : 9000 + random.integer(200) * 10
        const rung = { ticks, opening: closes ? 0 : lots, closing: closes ? lots : 0 }
        resting.push(rung)
        addRung(kept, rung)
      }
      const anew = createLadder(direction, grids)
      for (const rung of resting.toReversed()) addRung(anew, rung)
      const to = direction === 'down' ? 1000 - random.integer(150) : 1000 + random.integer(150)
      const [filled, counted] = [kept, anew].map((one) => fillLadder(one, { from: 1000, to }, []))
      if (JSON.stringify(filled) !== JSON.stringify(counted)) expect(filled).toEqual(counted)
      const reached = resting.filter(({ ticks }) => isReached(ticks, direction, to))
      if (reached.length > 0 && reached.length < resting.length) partly += 1
      let [opening, closing, cost] = [0, 0, 0]
      for (const rung of reached) {
        opening += rung.opening
        closing += rung.closing
        cost += (rung.ticks ?? 10_000) * (rung.opening + rung.closing)
      }
      const lots = opening + closing
      expect(filled?.opening).toBe((opening * 3) / 1000)
      expect(filled?.closing).toBe((closing * 3) / 1000)
      expect(filled?.price).toBeCloseTo(lots > 0 ? cost / 10 / lots : 1000, 9)
    }
    for (const rung of resting)
      addRung(kept, { ...rung, opening: -rung.opening, closing: -rung.closing })
    expect(kept.prices.ticks).toEqual([])
    expect(kept.atOnce).toEqual({ opening: 0, closing: 0 })
    expect(partly).toBeGreaterThan(500)
  }
})

describe('what leads back into the budget', () => {
  const reducible = (change: Partial<ReducibleRisk>): ReducibleRisk => ({
    ...riskOf({}),
    lotSize: 0.001,
    lotsMin: 1,
    halfSpread: 0,
    ...change,
  })
  const usedBy = (
    risks: readonly ReducibleRisk[],
    equity: number,
    closed: ReturnType<typeof planReduction>,
  ): number => {
    const left = risks.map((risk) => {
      const { holdSide = 'long', lots = 0 } =
        closed.find(({ symbol }) => symbol === risk.symbol) ?? {}
      const held = risk[holdSide]
      return { ...risk, [holdSide]: { ...held, size: held.size - lots * risk.lotSize } }
    })
    return findWorstCase(left.map(needsOf), equity)?.used ?? 0
  }

  test('nothing is closed within it, and as little as is enough beyond it', () => {
    const risks = [reducible({ long: { size: 1, entryPrice: 100_000 } })]
    const need = 12_000 + 88_000 * 0.0046

    expect(planReduction(risks, need / 0.8)).toEqual([])
    const [closed] = planReduction(risks, need)
    expect(closed).toMatchObject({ symbol: 'BTCUSDT', holdSide: 'long' })
    expect(
      usedBy(risks, need, [closed ?? { symbol: '', holdSide: 'long', lots: 0 }]),
    ).toBeLessThanOrEqual(0.8)
    // One lot less would not be enough, once what closing costs is paid.
    const lots = closed?.lots ?? 0
    const usedAfter = (count: number): number =>
      (need * (1 - count / 1000)) / (need - count * 0.001 * 100_000 * 0.0006)
    expect(usedAfter(lots)).toBeLessThanOrEqual(0.8)
    expect(usedAfter(lots - 1)).toBeGreaterThan(0.8)
  })

  test('it begins where a lot frees most for its cost, and leaves what does not help', () => {
    const risks = [
      reducible({ long: { size: 1, entryPrice: 100_000 }, halfSpread: 0.001 }),
      reducible({ symbol: 'ETHUSDT', price: 2500, short: { size: 40, entryPrice: 2500 } }),
    ]
    const equity = 24_000

    const closed = planReduction(risks, equity)
    expect(closed.map(({ symbol }) => symbol)).toEqual(['ETHUSDT'])
    expect(usedBy(risks, equity, closed)).toBeLessThanOrEqual(0.8)
  })

  test('two equal sides are closed in turn, in small steps, until their margin fits', () => {
    const sides = {
      long: { size: 1, entryPrice: 100_000 },
      short: { size: 1, entryPrice: 100_000 },
    }
    let risk = reducible({ ...sides, isNet: false })
    const equity = (findWorstCase([needsOf(risk)], 1)?.need ?? 0) / 1.01
    let mostUsed = 0
    let steps = 0
    for (let next = planReduction([risk], equity); next.length > 0; steps += 1) {
      const [{ holdSide, lots } = { holdSide: 'long', lots: 0 } as const] = next
      expect(lots).toBeGreaterThan(0)
      const held = risk[holdSide]
      risk = { ...risk, [holdSide]: { ...held, size: held.size - lots * risk.lotSize } }
      mostUsed = Math.max(mostUsed, findWorstCase([needsOf(risk)], equity)?.used ?? 0)
      if (steps > 1000) break
      next = planReduction([risk], equity)
    }
    expect(findWorstCase([needsOf(risk)], equity)?.used).toBeLessThanOrEqual(0.8)
    expect(mostUsed).toBeLessThanOrEqual(1.01 + 0.05 + 1e-9)
    expect(risk.long.size).toBeGreaterThan(0.5)
    expect(risk.short.size).toBeGreaterThan(0.5)
    expect(steps).toBeGreaterThan(2)
  })

  test('seeded accounts beyond their budget are led back into it wherever one side of the orders can do that', () => {
    const random = createRandom('accounts beyond their budget')
    let helped = 0
    for (let account = 0; account < 500; account++) {
      const { risks } = makeAccount(random)
      const held = risks.map((risk) =>
        reducible({
          ...risk,
          buys: NO_ORDERS,
          sells: NO_ORDERS,
          lotSize: 1 / risk.price,
          isNet: true,
          isInverse: false,
          short: risk.long.size > 0 ? { ...risk.short, size: 0 } : risk.short,
        }),
      )
      const worst = findWorstCase(held.map(needsOf), 1)
      if (worst === undefined || worst.need <= 0) continue
      const equity = worst.need / (1.01 + random.integer(100) / 100)
      const closed = planReduction(held, equity)
      helped += 1
      expect(usedBy(held, equity, closed)).toBeLessThanOrEqual(0.8 + 1e-4)
    }
    expect(helped).toBeGreaterThan(350)
  })
})
