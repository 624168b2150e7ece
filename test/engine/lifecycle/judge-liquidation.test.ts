import { describe, expect, test } from 'vitest'
import { candleKey, type CandleRow } from '../../../src/domain/candles.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type ReadPosition, toPositionRows } from '../../../src/exchange/readers/position-reader.ts'
import type {
  EngineSettings,
  LiquidationSettings,
  StrategySettings,
} from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { madeInstrument, MOMENT_AT } from '../../support/market-moment.ts'
import { makeLimits } from '../../support/made-limits.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

/** 100 lots of 0.001, bought at 10,000, on 200: a fifth of the value, less what is needed. */
const LOTS = 100
const SIZE = 0.1
const ENTRY = 10_000
const CAPITAL = 200
const RATE = 0.004 + 0.0006
/** 200 + 0.1 × (p − 10,000) = 0.1 × p × 0.0046. */
const LIQUIDATION = (SIZE * ENTRY - CAPITAL) / (SIZE * (1 - RATE))

const HOUR_MS = 3_600_000

const RULES = new Map([
  [SYMBOL, { tiers: [{ notionalMax: 1_000_000, rate: 0.004 }], takerFeeRate: 0.0006 }],
])
const STEPS = { warn: 0.15, reduce: 0.08, flatten: 0.04 }

function holding(
  liquidation: LiquidationSettings,
  change: Partial<EngineSettings> = {},
): EngineBench {
  const bench = new EngineBench({
    capital: decimal(String(CAPITAL)),
    liquidation,
    ...change,
  }).start()
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
  readonly holdSide?: 'short'
  readonly liquidationPrice?: number
  readonly markPrice?: number
  readonly unrealisedProfit?: string
  readonly marginRatio?: number
  readonly marginMode?: 'crossed' | 'isolated'
  readonly margin?: number
}

/** New prices come, and the position is read at them. */
function fallTo(bench: EngineBench, price: number, stated: Stated = {}, afterMs = 100): void {
  bench.now += afterMs
  bench.price(price)
  readPosition(bench, price, stated)
}

function readPosition(bench: EngineBench, price: number, stated: Stated): void {
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

const codes = (bench: EngineBench): string[] =>
  [...bench.book.restrictions.values()].map(({ code }) => code)
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
    expect(warnings(bench)).toMatchObject([
      { fields: { symbol: SYMBOL, holdSide: 'long', trust: 'agreed' } },
    ])
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

  test('[MON2] warns by our own count alone while the position is not read', () => {
    const limits = makeLimits({ accountAgeMaxMs: 5000, dataAgeMaxMs: 1000 })
    const bench = holding({ steps: STEPS, rules: RULES }, { limits })
    fallTo(bench, ENTRY)
    const hear = (share: number, ms: number): void => {
      for (let passed = 0; passed < ms; passed += 500) {
        bench.now += 500
        bench.price(priceAt(share))
        bench.step({ kind: 'timePassed' })
      }
    }

    hear(0.03, 60_000)
    expect(distanceOf(bench)).toMatchObject({ trust: 'ours', stated: Number.NaN })
    expect(distanceOf(bench)?.nearest).toBeCloseTo(0.03, 6)
    expect(warnings(bench)).toHaveLength(1)
    expect(codes(bench)).toEqual([])

    // A step that was taken is not taken back by prices alone.
    fallTo(bench, priceAt(0.079))
    fallTo(bench, priceAt(0.079))
    const planned = bench.take('announce').filter(({ event }) => event === 'position.reducing')
    expect(planned).toHaveLength(1)
    hear(0.3, 10_000)
    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })

  test('is said in words where no price liquidates by our own count', () => {
    const bench = holding({ steps: STEPS, rules: RULES }, { capital: decimal('10000') })
    fallTo(bench, ENTRY, { markPrice: 10, liquidationPrice: 9.9, unrealisedProfit: '-999' })
    const [warning] = warnings(bench)
    expect(warning?.fields?.['reason']).toBe(
      'the long position is liquidated at no price by our own count at 10000, and 1.00 % from 9.900000 as the exchange states it at a mark of 10 (they differ), limit 15.00 %',
    )
  })

  test('closes nothing more once the price is far from there again', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    for (let readings = 0; readings < 2; readings++) fallTo(bench, priceAt(0.079))
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'batchPlaceOrder' }])
    fallTo(bench, ENTRY)

    expect(() => bench.grantBatch()).toThrow('nothing was sent')
    expect(codes(bench)).toEqual(['liquidationNear'])
  })

  test('leaves an exit that is placed by name wanted while a part is closed', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    for (let readings = 0; readings < 2; readings++) fallTo(bench, priceAt(0.079))
    bench.decide({
      kind: 'place',
      symbol: SYMBOL,
      key: 'exit',
      action: 'closeLong',
      lots: 10,
      ticks: Math.round(priceAt(0.2) * 10),
      force: 'gtc',
    })
    bench.pass(100)

    expect([...bench.book.places.values()]).toMatchObject([{ key: 'exit' }])
  })

  test('closes as few lots of a short as lead a tenth beyond the step again', () => {
    const bench = new EngineBench({
      capital: decimal(String(CAPITAL)),
      liquidation: { steps: STEPS, rules: RULES },
    }).start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: -LOTS })
    const batch = bench.grantBatch()
    bench.accept(batch)
    const orderId = toOrderId(`${batch.batchId}001`)
    const fill = bench.fill({ orderId, side: 'sell', lots: LOTS, ticks: 100_000, fee: '0' })
    const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading })
    const liquidationOf = (size: number, balance: number): number =>
      (balance + size * ENTRY) / (size * (1 + RATE))
    const price = Math.round(liquidationOf(SIZE, CAPITAL) / 1.079)
    for (let readings = 0; readings < 2; readings++)
      fallTo(bench, price, {
        holdSide: 'short',
        liquidationPrice: liquidationOf(SIZE, CAPITAL),
        unrealisedProfit: String((ENTRY - price) * SIZE),
      })

    // 200 pay for what the lots lose that are closed, and for their fee; the rest is 8.8 % away then.
    const distanceAfter = (lots: number): number => {
      const closed = lots / 1000
      const balance = CAPITAL + closed * (ENTRY - price) - closed * price * 0.0006
      return liquidationOf(SIZE - closed, balance) / price - 1
    }
    const [said] = bench.take('announce').filter(({ event }) => event === 'position.reducing')
    const lots = Math.round(Number(said?.fields['size']) * 1000)
    expect(said?.fields).toMatchObject({ symbol: SYMBOL, holdSide: 'short' })
    expect(distanceAfter(lots)).toBeGreaterThan(0.088)
    expect(distanceAfter(lots - 1)).toBeLessThanOrEqual(0.088)
  })

  test('is that of the margin of its own where the position is isolated, whatever is configured', () => {
    const bench = holding(
      { steps: STEPS, rules: RULES },
      { capital: decimal('10000'), marginMode: 'crossed' },
    )
    // As at a leverage of 10: 100 + 0.1 × (p − 10,000) = 0.1 × p × 0.0046.
    const end = (SIZE * ENTRY - 100) / (SIZE * (1 - RATE))
    const isolated = { marginMode: 'isolated', margin: 100, liquidationPrice: end } as const
    for (let readings = 0; readings < 2; readings++) fallTo(bench, ENTRY, isolated)
    expect(codes(bench)).toEqual(['marginMode'])
    fallTo(bench, ENTRY, isolated)

    expect(distanceOf(bench)).toMatchObject({ trust: 'agreed' })
    expect(distanceOf(bench)?.ourPrice).toBeCloseTo(end, 6)
    for (let readings = 0; readings < 2; readings++) fallTo(bench, end / (1 - 0.035), isolated)
    expect(codes(bench)).toContain('liquidationFlatten')
  })

  test('looks at both sides of isolated margin: the short is near, the long beside it far', () => {
    const settings = {
      instruments: new Map([[SYMBOL, { ...madeInstrument(), leverage: 5 }]]),
      marginMode: 'isolated',
      capital: decimal('10000'),
      liquidation: { steps: STEPS, rules: RULES },
    } as const
    const bench = new EngineBench(settings, 'hedge_mode').start()
    bench.decide(
      {
        kind: 'place',
        symbol: SYMBOL,
        key: 'long',
        action: 'openLong',
        lots: 20,
        ticks: 100_010,
        force: 'ioc',
      },
      {
        kind: 'place',
        symbol: SYMBOL,
        key: 'short',
        action: 'openShort',
        lots: LOTS,
        ticks: 99_990,
        force: 'ioc',
      },
    )
    const batch = bench.grantBatch()
    bench.accept(batch)
    const fill = { ticks: 100_000, fee: '0' } as const
    const fills = [
      bench.fill({ ...fill, orderId: toOrderId(`${batch.batchId}001`), lots: 20 }),
      bench.fill({ ...fill, orderId: toOrderId(`${batch.batchId}002`), lots: LOTS, side: 'sell' }),
    ]
    const answer = { fills, sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading: answer })
    // 100 + 0.1 × (10,000 − p) = 0.1 × p × 0.0046.
    const end = (100 + SIZE * ENTRY) / (SIZE * (1 + RATE))
    const riseTo = (price: number): void => {
      bench.now += 100
      bench.price(price)
      const row = {
        openPriceAvg: ENTRY,
        fundingFee: '',
        markPrice: price,
        margin: 100,
        positionMode: 'hedge_mode',
      } as const
      const [long, short] = [String((price - ENTRY) * 0.02), String((ENTRY - price) * SIZE)]
      const rows = [
        { ...row, holdSide: 'long', lots: 20, liquidationPrice: 5023, unrealisedProfit: long },
        { ...row, holdSide: 'short', lots: LOTS, liquidationPrice: end, unrealisedProfit: short },
      ] as const
      const reading = { symbol: SYMBOL, rows, isSilent: false, requestedAt: bench.now }
      bench.step({ kind: 'positionRead', reading: { ...reading, exchangeTime: bench.now } })
    }

    riseTo(end * (1 - 0.07))
    expect(codes(bench)).toEqual(['liquidationNear'])
    riseTo(end * (1 - 0.035))
    riseTo(end * (1 - 0.035))
    expect(codes(bench)).toContain('liquidationFlatten')
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
    for (const [wrong, trust] of [
      [{ markPrice: LIQUIDATION * 1.01 }, 'agreed'],
      [{ liquidationPrice: ENTRY * 0.99 }, 'disputed'],
    ] as const) {
      fallTo(bench, ENTRY, wrong)
      fallTo(bench, ENTRY, wrong)
      expect(distanceOf(bench)?.trust).toBe(trust)
    }
    expect(codes(bench)).toEqual([])
    expect(warnings(bench)).toHaveLength(1)
  })

  test('closes nothing by one wrong answer of the tickers, however often the position is read by it', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    bench.now += 1000
    const wrong = priceAt(0.03)
    bench.price(wrong)
    for (let reading = 0; reading < 3; reading++) {
      bench.now += 100
      readPosition(bench, wrong, {})
    }
    expect(codes(bench)).not.toContain('liquidationFlatten')

    fallTo(bench, wrong)
    expect(codes(bench)).toContain('liquidationFlatten')
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

    // Once our own profit is judged alone, so is this.
    for (let reading = 0; reading < 12; reading++)
      fallTo(disputed, priceAt(0.03), { ...silent, unrealisedProfit: '' }, 1000)
    expect(codes(disputed)).toContain('liquidationFlatten')
  })

  test('is shown, and nothing follows from it, where no steps are set', () => {
    const bench = holding({ rules: RULES })
    fallTo(bench, priceAt(0.01))
    fallTo(bench, priceAt(0.01))

    expect(distanceOf(bench)?.nearest).toBeCloseTo(0.01, 6)
    expect([codes(bench), warnings(bench)]).toEqual([[], []])
  })
})

describe('a maintenance ratio', () => {
  /** 0.46 % of the value, over 200 and the loss. */
  const ratioAt = (price: number): number =>
    (SIZE * price * RATE) / (CAPITAL + (price - ENTRY) * SIZE)

  test('is counted by ourselves and held against that of the exchange', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    const price = priceAt(0.1)
    fallTo(bench, price, { marginRatio: ratioAt(price) * 0.9 })
    expect(distanceOf(bench)?.ratio).toBeCloseTo(ratioAt(price), 9)
    expect(distanceOf(bench)).toMatchObject({
      statedRatio: ratioAt(price) * 0.9,
      ratioTrust: 'agreed',
    })

    fallTo(bench, price, { marginRatio: 2 * ratioAt(price) })
    expect(distanceOf(bench)).toMatchObject({ trust: 'agreed', ratioTrust: 'disputed' })
    fallTo(bench, price)
    expect(distanceOf(bench)?.ratioTrust).toBe('ours')
    expect([codes(bench), warnings(bench).length]).toEqual([[], 1])
  })

  test('[MON1] is a second witness of our own figure where the price of the exchange is wrong or missing', () => {
    for (const liquidationPrice of [1000, Number.NaN]) {
      const bench = holding({ steps: STEPS, rules: RULES })
      const price = priceAt(0.03)
      const stated = { liquidationPrice, marginRatio: ratioAt(price), unrealisedProfit: '' }
      for (let reading = 0; reading < 2; reading++) fallTo(bench, price, stated)

      expect(codes(bench)).toContain('liquidationFlatten')
    }
  })
})

test('[MON1] a ratio of nothing agrees with no ratio', () => {
  const bench = holding({ steps: STEPS, rules: RULES })
  // By these prices all of the capital is gone.
  for (let reading = 0; reading < 3; reading++)
    fallTo(bench, 5000, { liquidationPrice: 100, marginRatio: 0.01 })

  expect(distanceOf(bench)).toMatchObject({
    ratio: Number.POSITIVE_INFINITY,
    ratioTrust: 'disputed',
  })
  expect(codes(bench)).toEqual([])
})

describe('[MON1] a price of the exchange that is no price of ours', () => {
  /** Where it is far enough from ours to be another one. */
  const STUCK = LIQUIDATION * 0.8

  /** Reads the position once a second. */
  function read(bench: EngineBench, times: number, price: number, stated: Stated): void {
    for (let reading = 0; reading < times; reading++) fallTo(bench, price, stated, 1000)
  }

  test('keeps the steps away for ten minutes of readings, which is said, and then ours counts alone', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    const price = priceAt(0.03)
    read(bench, 600, price, { liquidationPrice: STUCK })
    expect(codes(bench)).toEqual([])
    expect(distanceOf(bench)?.trust).toBe('disputed')
    const said = bench.take('announce')
    expect(said.filter(({ event }) => event === 'equity.disputed')).toMatchObject([
      {
        fields: {
          figure: 'liquidation',
          scope: `${SYMBOL} long`,
          ours: expect.stringMatching(/^8036\.97\S* \(3\.00 %/),
          theirs: expect.stringMatching(/^6429/),
        },
      },
    ])

    read(bench, 2, price, { liquidationPrice: STUCK })
    expect(distanceOf(bench)).toMatchObject({ trust: 'alone' })
    expect(distanceOf(bench)?.nearest).toBeCloseTo(0.03, 6)
    expect(codes(bench)).toContain('liquidationFlatten')
    expect(
      bench.take('announce').filter(({ event }) => event === 'liquidation.judgedAlone'),
    ).toMatchObject([
      {
        level: 'error',
        fields: { reason: expect.stringMatching(/10 minutes, so ours alone takes/) },
      },
    ])
    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })

  test('counts only as long as the position is read, and never by prices out of their band', () => {
    const silent = holding({ steps: STEPS, rules: RULES })
    const price = priceAt(0.03)
    read(silent, 500, price, { liquidationPrice: STUCK })
    // Longer than risk.accountAgeMaxMs: what was said before proves nothing of now.
    silent.now += silent.settings.limits.accountAgeMaxMs + 1
    read(silent, 500, price, { liquidationPrice: STUCK })
    expect(codes(silent)).toEqual([])

    const outOfBand = holding({ steps: STEPS, rules: RULES })
    for (let reading = 0; reading < 700; reading++) {
      outOfBand.now += 1000
      outOfBand.price(price, undefined, { indexPrice: ENTRY * 2 })
      readPosition(outOfBand, price, { liquidationPrice: STUCK })
    }
    expect(codes(outOfBand)).toEqual([])
  })

  test('sells nothing where only the exchange is near, however long', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    read(bench, 700, ENTRY, { liquidationPrice: ENTRY * 0.99 })

    expect(codes(bench)).toEqual([])
    expect(distanceOf(bench)).toMatchObject({ trust: 'alone' })
    expect(distanceOf(bench)?.nearest).toBeCloseTo((ENTRY - LIQUIDATION) / ENTRY, 6)
    expect(warnings(bench)).toHaveLength(1)
  })

  test('is no second witness from the other side of the mark', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    for (let reading = 0; reading < 3; reading++)
      fallTo(bench, priceAt(0.03), { liquidationPrice: priceAt(0.03) * 1.03 })

    expect(distanceOf(bench)?.trust).toBe('disputed')
  })

  test('ends with the position', () => {
    const bench = holding({ steps: STEPS, rules: RULES })
    read(bench, 10, priceAt(0.3), { liquidationPrice: STUCK })
    expect([...bench.engine.disputes.keys()]).toEqual([`liquidation|${SYMBOL} long`])
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    const batch = bench.grantBatch()
    bench.accept(batch)
    const closed = bench.fill({
      orderId: toOrderId(`${batch.batchId}001`),
      lots: LOTS,
      ticks: 1e5,
      fee: '0',
      scope: 'taker',
      side: 'sell',
    })
    bench.step({
      kind: 'fillsRead',
      reading: { fills: [closed], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now },
    })
    expect(bench.engine.disputes.size).toBe(0)
  })
})

describe('[MON1] an exchange that lies about where it liquidates', () => {
  /** A lie, as the wire has it, and after how many readings a near liquidation of our own count closes the position. */
  const LIES: readonly (readonly [
    what: string,
    liquidationPrice: string | null,
    readings: number,
  ])[] = [
    ['a price that stands still far away', String(LIQUIDATION * 0.8), 602],
    ['a tenth of it', String(LIQUIDATION / 10), 602],
    ['ten times as much', String(LIQUIDATION * 10), 602],
    ['the other side of the mark', String(ENTRY * 1.02), 602],
    ['one right beside the mark', String(ENTRY * 0.995), 602],
    ['zero', '0', 2],
    ['a negative price', '-1', 2],
    ['null', null, 2],
    ['no number', 'NaN', 2],
    ['nothing', '', 2],
  ]

  /** Once a second a row of the wire is read, through the reader of a daemon. */
  function readWire(bench: EngineBench, price: number, liquidationPrice: string | null): void {
    bench.now += 1000
    bench.price(price)
    const wire: ReadPosition = {
      symbol: SYMBOL,
      holdSide: 'long',
      marginSize: '50',
      total: String(SIZE),
      posMode: 'one_way_mode',
      openPriceAvg: String(ENTRY),
      unrealizedPL: String((price - ENTRY) * SIZE),
      totalFee: '',
      markPrice: String(price),
      liquidationPrice,
    }
    const rows = toPositionRows(madeInstrument(), [wire])
    if (typeof rows === 'string') throw new Error(rows)
    const reading = { symbol: SYMBOL, rows, isSilent: false, requestedAt: bench.now }
    bench.step({ kind: 'positionRead', reading: { ...reading, exchangeTime: bench.now } })
  }

  test.each(LIES)(
    '%s: nothing is sold for it, and nothing near is overlooked',
    (_, lie, readings) => {
      const far = holding({ steps: STEPS, rules: RULES })
      for (let reading = 0; reading < 700; reading++) readWire(far, ENTRY, lie)
      expect(codes(far)).toEqual([])
      expect(distanceOf(far)?.ours).toBeCloseTo((ENTRY - LIQUIDATION) / ENTRY, 6)

      const near = holding({ steps: STEPS, rules: RULES })
      for (let reading = 1; reading < readings; reading++) readWire(near, priceAt(0.03), lie)
      expect(codes(near)).not.toContain('liquidationFlatten')
      expect(warnings(near)).toHaveLength(1)
      readWire(near, priceAt(0.03), lie)
      expect(codes(near)).toContain('liquidationFlatten')
    },
  )
})

describe('[MON1] a mark price that cannot be', () => {
  const MARKS = [0, -5, Number.NaN, 1e12, ENTRY]

  test.each(MARKS)('%f keeps no step away: both state the same liquidation price', (markPrice) => {
    const bench = holding({ steps: STEPS, rules: RULES })
    for (let reading = 0; reading < 2; reading++) fallTo(bench, priceAt(0.03), { markPrice })

    expect(distanceOf(bench)).toMatchObject({ trust: 'agreed' })
    expect(distanceOf(bench)?.nearest).toBeCloseTo(0.03, 6)
    expect(codes(bench)).toContain('liquidationFlatten')
  })

  test.each(MARKS)('%f sells nothing far from a liquidation', (markPrice) => {
    const bench = holding({ steps: STEPS, rules: RULES })
    for (let reading = 0; reading < 700; reading++) fallTo(bench, ENTRY, { markPrice }, 1000)

    expect(codes(bench)).toEqual([])
    expect(distanceOf(bench)?.nearest).toBeGreaterThan(0.15)
  })
})

test('[MON1] tickers alone sell nothing, however many answers of them agree, where mark and profit say otherwise', () => {
  const bench = holding({ steps: STEPS, rules: RULES })
  for (let reading = 0; reading < 20; reading++) {
    bench.now += 1000
    bench.price(priceAt(0.03), undefined, { indexPrice: priceAt(0.03) })
    readPosition(bench, ENTRY, {})
  }

  expect(codes(bench)).not.toContain('liquidationFlatten')
  expect(codes(bench)).not.toContain('liquidationNear')
})

test.each<[string, Stated, number | undefined]>([
  ['liquidation price', { liquidationPrice: 1 }, undefined],
  [
    'liquidation price that is missing, with a wrong profit',
    { liquidationPrice: Number.NaN, unrealisedProfit: '0' },
    undefined,
  ],
  ['mark price', { markPrice: ENTRY }, undefined],
  ['mark price, with its profit', { markPrice: ENTRY, unrealisedProfit: '0' }, undefined],
  ['profit', { unrealisedProfit: '0' }, undefined],
  ['price of the tickers', {}, ENTRY],
])(
  '[MON1] every second answer with a wrong %s: the readings between them confirm each other',
  (_, stated, priced) => {
    const bench = holding({ steps: STEPS, rules: RULES })
    fallTo(bench, priceAt(0.03), {}, 1000)
    bench.now += 1000
    bench.price(priced ?? priceAt(0.03))
    readPosition(bench, priceAt(0.03), stated)
    fallTo(bench, priceAt(0.03), {}, 1000)

    expect(codes(bench)).toContain('liquidationFlatten')
  },
)

test('[MON1] an earlier reading of long ago confirms nothing', () => {
  const limits = makeLimits({ accountAgeMaxMs: 6000 })
  const bench = holding({ steps: STEPS, rules: RULES }, { limits })
  fallTo(bench, priceAt(0.03))
  for (let second = 0; second <= 60; second++)
    fallTo(bench, priceAt(0.03), { liquidationPrice: 1 }, 1000)
  fallTo(bench, priceAt(0.03), {}, 1000)
  expect(codes(bench)).not.toContain('liquidationFlatten')

  fallTo(bench, priceAt(0.03), {}, 1000)
  expect(codes(bench)).toContain('liquidationFlatten')
})

test('[MON1] rows alone that call the position isolated, with little margin, sell nothing', () => {
  const bench = holding(
    { steps: STEPS, rules: RULES },
    { capital: decimal('10000'), marginMode: 'crossed' },
  )
  const lie = { marginMode: 'isolated', margin: 30, liquidationPrice: 0 } as const
  for (let reading = 0; reading < 700; reading++) fallTo(bench, ENTRY, lie, 1000)

  expect(codes(bench)).toEqual(['marginMode'])
})

describe('crossed margin in hedge mode', () => {
  /** 100 lots short and so many long, bought and sold at 10,000, on 200. */
  function hedged(longLots: number): EngineBench {
    const bench = new EngineBench(
      { capital: decimal('200'), liquidation: { steps: STEPS, rules: RULES } },
      'hedge_mode',
    ).start()
    const terms = { kind: 'place', symbol: SYMBOL, force: 'ioc' } as const
    bench.decide(
      { ...terms, key: 'long', action: 'openLong', lots: longLots, ticks: 100_010 },
      { ...terms, key: 'short', action: 'openShort', lots: LOTS, ticks: 99_990 },
    )
    const batch = bench.grantBatch()
    bench.accept(batch)
    const fill = { ticks: 100_000, fee: '0' } as const
    const of = (place: string): { orderId: ReturnType<typeof toOrderId> } => ({
      orderId: toOrderId(`${batch.batchId}${place}`),
    })
    const fills = [
      bench.fill({ ...fill, ...of('001'), lots: longLots }),
      bench.fill({ ...fill, ...of('002'), lots: LOTS, side: 'sell' }),
    ]
    const answer = { fills, sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading: answer })
    return bench
  }

  /** 200 − 0.1 × (p − 10,000) + L × (p − 10,000) = (0.1 + L) × p × 0.0046. */
  const endOf = (longLots: number): number => {
    const [long, short] = [longLots / 1000, SIZE]
    return (CAPITAL + (short - long) * ENTRY) / (short - long + RATE * (short + long))
  }

  function riseTo(bench: EngineBench, longLots: number, price: number): void {
    bench.now += 100
    bench.price(price)
    const row = {
      openPriceAvg: ENTRY,
      fundingFee: '',
      markPrice: price,
      liquidationPrice: endOf(longLots),
      positionMode: 'hedge_mode',
    } as const
    const rows = [
      {
        ...row,
        holdSide: 'long',
        lots: longLots,
        unrealisedProfit: String(((price - ENTRY) * longLots) / 1000),
      },
      { ...row, holdSide: 'short', lots: LOTS, unrealisedProfit: String((ENTRY - price) * SIZE) },
    ] as const
    const reading = { symbol: SYMBOL, rows, isSilent: false, requestedAt: bench.now }
    bench.step({ kind: 'positionRead', reading: { ...reading, exchangeTime: bench.now } })
  }

  test('closes of the side in danger, and nothing of what hedges it', () => {
    const bench = hedged(20)
    for (let reading = 0; reading < 2; reading++) riseTo(bench, 20, endOf(20) / 1.075)
    const said = bench.take('announce').find(({ event }) => event === 'position.reducing')
    bench.grantBatch()

    expect(said?.fields).toMatchObject({ symbol: SYMBOL, holdSide: 'short' })
    const sent = [...bench.book.orders.values()].filter(({ state }) => state === 'sent')
    expect(sent).toMatchObject([{ terms: { action: 'closeShort' } }])
    expect(sent[0]?.terms.lots).toBeLessThan(LOTS - 20)
  })

  test('denies what closes the hedge of a position that is then near its end', () => {
    const bench = hedged(90)
    riseTo(bench, 90, ENTRY * 1.8)
    bench.decide({
      kind: 'place',
      symbol: SYMBOL,
      key: 'unhedge',
      action: 'closeLong',
      lots: 90,
      ticks: 179_000,
      force: 'ioc',
    })
    bench.take('askGrant')

    expect(bench.engine.denied.get('LIQUIDATION_NEAR')).toBe(1)
  })
})

describe('the distance in typical moves of an hour', () => {
  test('is held against the median of the moves that were seen, of three hours or more', () => {
    const bench = holding({ rules: RULES })
    // From 10,000, at which it was opened, 1 %, 0 %, 1 % and 10 %: the median is 1 %.
    const prices = [10_100, 10_100, 9999, 10_998.9, 10_998.9]
    const seen = prices.map((price) => {
      fallTo(bench, price, {}, 3_600_000)
      return distanceOf(bench)?.moves
    })

    expect(seen.slice(0, 3)).toEqual([Number.NaN, Number.NaN, Number.NaN])
    for (const moves of seen.slice(3))
      expect(moves).toBeCloseTo((distanceOf(bench)?.nearest ?? 0) / 0.01, 6)
  })
})

describe('the distance in moves at a start', () => {
  test('is known from the candles that strategies keep, but for those that nobody saw', () => {
    const beforeAt = MOMENT_AT - 6 * HOUR_MS
    const closes = [10_000, 10_200, 9996, 9996, 10_195.92, 9992]
    const rows = closes.map((close, hour): CandleRow => [
      ...([beforeAt + hour * HOUR_MS, close, close, close, close] as const),
      // The fourth close repeats the third: no move of it counts, nor one to the next.
      hour === 3 ? 0 : 5,
    ])
    const { strategies } = new EngineBench().settings
    const strategy = {
      ...(strategies.get(STRATEGY) as StrategySettings),
      candles: new Map([[HOUR_MS, 30]]),
      history: new Map([[candleKey(SYMBOL, HOUR_MS), rows]]),
    }
    const bench = holding({ rules: RULES }, { strategies: new Map([[STRATEGY, strategy]]) })
    fallTo(bench, ENTRY)

    // 2 %, 2 % and 2 % are left.
    expect(distanceOf(bench)?.moves).toBeCloseTo((distanceOf(bench)?.nearest ?? 0) / 0.02, 4)
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
    const bench = new EngineBench({
      ...settings,
      liquidation: { steps: STEPS, rules: RULES },
    }).start()
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
