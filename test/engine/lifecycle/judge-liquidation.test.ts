import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import type { LiquidationSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

/** 100 lots of 0.001, bought at 10,000, on 200: a fifth of the value, less what is needed. */
const LOTS = 100
const SIZE = 0.1
const ENTRY = 10_000
const CAPITAL = 200
const RATE = 0.004 + 0.0006
/** 200 + 0.1 × (p − 10,000) = 0.1 × p × 0.0046. */
const LIQUIDATION = (SIZE * ENTRY - CAPITAL) / (SIZE * (1 - RATE))

const RULES = new Map([[SYMBOL, { tiers: [{ notionalMax: 1_000_000, rate: 0.004 }], takerFeeRate: 0.0006 }]])
const STEPS = { warn: 0.15, reduce: 0.08, flatten: 0.04 }

function holding(liquidation: LiquidationSettings): EngineBench {
  const bench = new EngineBench({ capital: decimal(String(CAPITAL)), liquidation }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const fill = bench.fill({
    orderId: toOrderId(`${batch.batchId}001`),
    lots: LOTS,
    ticks: 100_000,
    fee: '0',
    scope: 'taker',
  })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
  return bench
}

interface Stated {
  readonly liquidationPrice?: number
  readonly markPrice?: number
  readonly unrealisedProfit?: string
}

/** New prices come, and the position is read at them. */
function fallTo(bench: EngineBench, price: number, stated: Stated = {}): void {
  bench.now += 100
  bench.price(price)
  const row = {
    holdSide: 'long',
    lots: LOTS,
    openPriceAvg: ENTRY,
    fundingFee: '',
    markPrice: price,
    liquidationPrice: LIQUIDATION,
    positionMode: 'one_way_mode',
    unrealisedProfit: String((price - ENTRY) * SIZE),
    ...stated,
  } as const
  const reading = { symbol: SYMBOL, rows: [row], isSilent: false, requestedAt: bench.now }
  bench.step({ kind: 'positionRead', reading: { ...reading, exchangeTime: bench.now } })
}

const codes = (bench: EngineBench): string[] => [...bench.book.restrictions.values()].map(({ code }) => code)
const distanceOf = (bench: EngineBench) => bench.engine.distances.get(SYMBOL)?.[0]
const warnings = (bench: EngineBench) =>
  bench.take('announce').filter(({ event }) => event === 'liquidation.near')

/** The price at which a liquidation is such a share of it away. */
const priceAt = (share: number): number => LIQUIDATION / (1 - share)

describe('[MON1] the distance to a liquidation', () => {
  test('is counted from balance, entry and tiers, and agrees with the exchange', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, ENTRY)

    expect(distanceOf(bench)).toMatchObject({ holdSide: 'long', trust: 'agreed' })
    expect(distanceOf(bench)?.ourPrice).toBeCloseTo(LIQUIDATION, 6)
    expect(distanceOf(bench)?.nearest).toBeCloseTo((ENTRY - LIQUIDATION) / ENTRY, 6)
    expect(codes(bench)).toEqual([])
  })

  test('warns once, reduces, and closes the instrument at the second reading', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, priceAt(0.149))
    fallTo(bench, priceAt(0.148))
    expect(warnings(bench)).toMatchObject([{ fields: { symbol: SYMBOL, holdSide: 'long', trust: 'agreed' } }])
    expect(codes(bench)).toEqual([])

    fallTo(bench, priceAt(0.079))
    expect(codes(bench)).toEqual(['liquidationNear'])

    fallTo(bench, priceAt(0.039))
    expect(codes(bench)).toEqual(['liquidationNear'])
    fallTo(bench, priceAt(0.039))
    expect(codes(bench)).toContain('liquidationFlatten')
    expect(bench.grantBatch().clientOids).toHaveLength(1)
    expect([...bench.book.orders.values()].at(-1)?.terms).toMatchObject({
      purpose: 'flatten',
      lots: LOTS,
    })
  })

  test('warns anew after it was clearly farther', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, priceAt(0.149))
    fallTo(bench, priceAt(0.155))
    fallTo(bench, priceAt(0.149))
    expect(warnings(bench)).toHaveLength(1)

    fallTo(bench, priceAt(0.17))
    fallTo(bench, priceAt(0.149))
    expect(warnings(bench)).toHaveLength(1)
  })

  test('restricts and closes nothing by one wrong mark price of the exchange, nor by one wrong liquidation price', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    for (const wrong of [{ markPrice: LIQUIDATION * 1.01 }, { liquidationPrice: ENTRY * 0.99 }]) {
      fallTo(bench, ENTRY, wrong)
      fallTo(bench, ENTRY, wrong)
      expect(distanceOf(bench)?.trust).toBe('disputed')
    }
    expect(codes(bench)).toEqual([])
    expect(warnings(bench)).toMatchObject([{ fields: { trust: 'disputed' } }])
  })

  test('is our own whatever profit the exchange states', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, ENTRY, { unrealisedProfit: '-190' })
    fallTo(bench, ENTRY, { unrealisedProfit: '-190' })

    expect(distanceOf(bench)?.ourPrice).toBeCloseTo(LIQUIDATION, 6)
    expect(codes(bench)).toEqual([])
  })

  test('only warns where the exchange alone knows it', () => {
    const bench = holding({ steps: STEPS, rules: new Map() })
    for (const share of [0.14, 0.07, 0.03, 0.02]) fallTo(bench, priceAt(share))

    expect(warnings(bench)).toMatchObject([{ fields: { trust: 'stated' } }])
    expect(codes(bench)).toEqual([])
  })

  test('is believed alone where the exchange states none and agrees on the profit', () => {
    const silent = { liquidationPrice: Number.NaN }
    const [agreed, disputed] = [
      holding({ steps: STEPS, rules: RULES }),
      holding({ steps: STEPS, rules: RULES }),
    ]
    for (let reading = 0; reading < 2; reading++) {
      fallTo(agreed, priceAt(0.03), silent)
      fallTo(disputed, priceAt(0.03), { ...silent, unrealisedProfit: '' })
    }

    expect(codes(agreed)).toContain('liquidationFlatten')
    expect(codes(disputed)).toEqual([])
  })

  test('is shown, and nothing follows from it, where no steps are set', () => {
    const bench = holding({ rules: RULES })
    fallTo(bench, priceAt(0.01))
    fallTo(bench, priceAt(0.01))

    expect(distanceOf(bench)?.nearest).toBeCloseTo(0.01, 6)
    expect([codes(bench), warnings(bench)]).toEqual([[], []])
  })
})

describe('[RSK1] an order that would open nearer to a liquidation than where positions are reduced', () => {
  test('is denied; one that stays farther leaves', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, priceAt(0.12))
    const ticks = Math.floor(priceAt(0.12) * 10) - 10
    bench.quote({ side: 'buy', ticks, lots: 90 })
    bench.take('askGrant')

    expect(bench.engine.denied.get('LIQUIDATION_NEAR')).toBe(1)
    expect([...bench.book.orders.values()].filter(({ state }) => state !== 'filled')).toEqual([])

    bench.quote({ side: 'buy', ticks, lots: 20 })
    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })

  test.each([
    [11, 0],
    [12, 1],
  ])('with isolated margin follows from the leverage: at %i, %i denials', (leverage, denials) => {
    const instruments = new Map([[SYMBOL, { ...madeInstrument(), leverage }]])
    const settings = { instruments, marginMode: 'isolated', capital: decimal('10000') } as const
    const bench = new EngineBench({ ...settings, liquidation: { steps: STEPS, rules: RULES } }).start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })

    expect(bench.engine.denied.get('LIQUIDATION_NEAR') ?? 0).toBe(denials)
  })

  test('reduces all the same', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, priceAt(0.07))
    bench.decideAs(STRATEGY, { kind: 'target', symbol: SYMBOL, lots: 50 })

    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })
})
