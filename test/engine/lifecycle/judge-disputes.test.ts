import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type LossLimits } from '../../../src/domain/loss-limits.ts'
import { type PositionRow } from '../../../src/domain/position.ts'
import { type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

/** 100 lots of 0.001 at 10,000: worth 1000, with a capital of 3000. */
const LOTS = 100
const SIZE = 0.1
const ENTRY = 10_000
const DRAWDOWN = { drawdown: { warn: 0.03, reducing: 0.05, flatten: 0.08 } }

interface Moment {
  /** The last price; bid and ask lie by it. Absent: no answer of the tickers comes. */
  readonly price?: number
  /** What the row of the position says otherwise; undefined: no position is read. */
  readonly row?: Partial<PositionRow> | undefined
}

class Account extends EngineBench {
  /** A moment later. What is not said is right. */
  see({ price = ENTRY, row = {} }: Moment = {}): this {
    this.now += 250
    this.price(price)
    return this.readRow(price, row)
  }

  /** New prices, and no reading of the position. */
  hear(price: number, afterMs = 250): this {
    this.now += afterMs
    this.price(price)
    return this
  }

  readRow(price: number, change: Partial<PositionRow> = {}): this {
    const { longLots } = this.book.account.get(SYMBOL) ?? { longLots: 0 }
    const row: PositionRow = {
      holdSide: 'long',
      lots: longLots,
      openPriceAvg: ENTRY,
      unrealisedProfit: ((price - ENTRY) * SIZE).toFixed(4),
      fundingFee: '',
      markPrice: price,
      liquidationPrice: 0,
      positionMode: 'one_way_mode',
      ...change,
    }
    const at = { requestedAt: this.now, exchangeTime: this.now }
    this.step({
      kind: 'positionRead',
      reading: { symbol: SYMBOL, rows: longLots > 0 ? [row] : [], isSilent: false, ...at },
    })
    return this
  }

  /** Fills are known beyond the reading that waits, so that it is compared with the book. */
  compare(): this {
    this.now += this.settings.execution.fillVisibilityMs + 1
    const at = { requestedAt: this.now, exchangeTime: this.now }
    this.step({ kind: 'fillsRead', reading: { fills: [], sinceAt: 0, ...at } })
    return this
  }

  get codes(): string[] {
    return this.engine.restrictions.map(({ code }) => code)
  }

  get recorded(): string[] {
    return [...this.book.restrictions.values()].map(({ code }) => code)
  }

  events(): string[] {
    return this.take('announce').map(({ event }) => event)
  }

  said(name: string): readonly unknown[] {
    return this.take('announce').flatMap(({ event, fields }) => (event === name ? [fields] : []))
  }
}

/** Long enough for tests that do not read, but for that of silence. */
const { limits: RISK } = new EngineBench().settings

function holding(
  limits: LossLimits = DRAWDOWN,
  scope: Scope = '*',
  accountAgeMaxMs = 1e12,
  change: Partial<EngineSettings> = {},
): Account {
  const losses = { timeZone: 'UTC', coolDownMs: 0, limits: new Map([[scope, limits]]) }
  const bench = new Account({
    capital: decimal('3000'),
    losses,
    limits: { ...RISK, accountAgeMaxMs },
    ...change,
  }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, lots: LOTS, ticks: ENTRY * 10, fee: '0', scope: 'taker' })
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading: { fills: [fill], sinceAt: 0, ...at } })
  bench.see().see()
  bench.take('announce')
  bench.take('readPosition')
  return bench
}

describe('[MON1] one wrong row of a position', () => {
  test('reduces while it stands alone, is asked again at once, and leaves nothing behind', () => {
    const bench = holding()

    bench.see({ row: { markPrice: 0, unrealisedProfit: '-999.97' } })

    expect(bench.codes).toEqual(['equityDisputed'])
    expect(bench.recorded).toEqual([])
    expect(bench.take('readPosition')).toMatchObject([{ symbol: SYMBOL, isUrgent: true }])
    expect(bench.engine.disputes.size).toBe(1)
    const said = bench.take('announce').find(({ event }) => event === 'equity.disputed')
    expect(said?.fields).toMatchObject({ scope: SYMBOL, ours: '0.00', theirs: '-999.97' })

    // One better reading does not end it, as one wrong reading would.
    bench.see()
    expect(bench.codes).toEqual(['equityDisputed'])
    bench.see()
    expect(bench.codes).toEqual([])
    expect(bench.events()).toContain('equity.agreed')
    expect(bench.engine.disputes.size).toBe(0)
  })

  test('asks for no other while our own price is too old, and agrees with the next price', () => {
    const bench = holding()
    bench.now += bench.settings.limits.dataAgeMaxMs + 1

    bench.readRow(ENTRY)

    expect(bench.engine.disputes.size).toBe(1)
    expect(bench.take('readPosition')).toEqual([])

    bench.hear(ENTRY)
    expect(bench.engine.disputes.size).toBe(0)
    expect(bench.take('readPosition')).toEqual([])
  })

  test('that differed before our own price was too old needs two that agree, all the same', () => {
    const bench = holding()
    bench.see({ row: { unrealisedProfit: '-999.97' } })
    bench.now += bench.settings.limits.dataAgeMaxMs + 1
    bench.readRow(ENTRY)

    bench.hear(ENTRY)

    expect(bench.engine.disputes.size).toBe(1)
  })

  test('of a coin-margined account is logged with the digits of its coin', () => {
    const coin = { ...madeInstrument(), productType: 'COIN-FUTURES', marginCoin: 'BTC' } as const
    const bench = holding(DRAWDOWN, '*', 1e12, { instruments: new Map([[SYMBOL, coin]]) })

    bench.see({ price: 10_010, row: { unrealisedProfit: '0.00912345' } })

    // 0.1 coin times (10,010 - 10,000) / 10,010.
    expect(bench.said('equity.disputed')).toMatchObject([
      { ours: '0.00009990', theirs: '0.00912345' },
    ])
    expect([...bench.engine.disputes.values()]).toMatchObject([{ ours: '0.00009990' }])
  })

  test('that is wrong by a little is logged only when it has lasted', () => {
    const bench = holding()
    const row = { unrealisedProfit: '15' }
    bench.see({ row })
    expect(bench.engine.disputes.size).toBe(1)
    expect(bench.events()).not.toContain('equity.disputed')

    for (let readings = 0; readings < 30; readings++) bench.see({ row })
    expect(bench.events()).toContain('equity.disputed')
  })

  test('in a loss that only one figure shows is no leave to add risk', () => {
    const bench = holding()
    const row = { markPrice: ENTRY, unrealisedProfit: '0' }
    bench.see({ price: ENTRY * 0.7, row })
    expect(bench.codes).toEqual(['equityDisputed'])

    bench.see({ price: ENTRY * 1.2, row })
    expect(bench.codes).toEqual(['equityDisputed'])
  })

  test.each(['-900', '900'])(
    'with a funding counter of %s books nothing and raises no peak',
    (fundingFee) => {
      const bench = holding().compare()
      bench.see({ row: { fundingFee } }).compare()
      for (let readings = 0; readings < 20; readings++) bench.see().compare()

      expect(bench.book.funding.get(SYMBOL)?.toString() ?? '0').toBe('0')
      expect(bench.engine.equity).toMatchObject({ equity: 3000, peak: 3000 })
      expect(bench.recorded).toEqual([])

      // Another reading that states it too is a second witness.
      for (let readings = 0; readings < 2; readings++) bench.see({ row: { fundingFee } }).compare()
      expect(bench.book.funding.get(SYMBOL)?.toString()).toBe(fundingFee)
    },
  )

  test('that is stale every second time delays a real loss by the time of a dispute, and no more', () => {
    const bench = holding()
    for (
      let seconds = 0;
      seconds < 15 && !bench.recorded.includes('drawdownFlatten');
      seconds += 0.5
    ) {
      bench.see({ price: ENTRY * 0.7 })
      bench.see({ price: ENTRY * 0.7, row: { markPrice: ENTRY, unrealisedProfit: '0' } })
    }

    expect(bench.recorded).toContain('drawdownFlatten')
  })

  test.each<[string, Partial<PositionRow>, number | undefined]>([
    ['profit', { unrealisedProfit: '0' }, undefined],
    ['profit that is missing', { unrealisedProfit: '' }, undefined],
    ['mark price, with its profit', { markPrice: ENTRY, unrealisedProfit: '0' }, undefined],
    ['price of the tickers', {}, ENTRY],
  ])(
    'far from the index, with every second %s wrong, keeps no real loss from its limit',
    (_, row, priced) => {
      const bench = holding()
      const fallen = ENTRY * 0.7
      const read = (price: number, change: Partial<PositionRow> = {}): void => {
        bench.now += 250
        bench.price(price, bench.now, { indexPrice: ENTRY })
        bench.readRow(fallen, change)
      }
      read(fallen)
      read(priced ?? fallen, row)
      expect(bench.recorded).not.toContain('drawdownFlatten')
      read(fallen)

      expect(bench.recorded).toContain('drawdownFlatten')
    },
  )

  test('that is right once and wrong once, for minutes, closes nothing and restricts nothing for good', () => {
    const bench = holding()

    for (let seconds = 0; seconds < 300; seconds += 0.5) {
      bench.see()
      bench.see({ row: { markPrice: 0, unrealisedProfit: '-999.97' } })
    }

    expect(bench.recorded).toEqual([])
  })

  test('that stays wrong closes nothing', () => {
    const bench = holding()

    for (let readings = 0; readings < 2000; readings++) {
      bench.see({ row: { markPrice: ENTRY / 2, unrealisedProfit: '-500' } })
    }

    expect(bench.recorded).toEqual([])
    expect(bench.codes).toEqual(['equityDisputed'])
    expect(bench.take('readPosition').length).toBeLessThanOrEqual(2000 / 4 + 1)
  })

  test('raises no peak, however often it is read', () => {
    const bench = holding()

    for (let readings = 0; readings < 100; readings++) {
      bench.see({ row: { markPrice: 5 * ENTRY, unrealisedProfit: '4000' } })
    }
    bench.see()

    expect(bench.engine.equity).toEqual({ equity: 3000, peak: 3000, drawdown: 0 })
    expect(bench.recorded).toEqual([])
  })
})

describe('[MON2] a profit that the exchange does not state', () => {
  test('is not zero: a real loss reduces at once and fires the limit within the time of a dispute', () => {
    const bench = holding()
    const blank = { unrealisedProfit: '', markPrice: Number.NaN }

    bench.see({ price: 7000, row: blank })
    expect(bench.codes).toEqual(['equityDisputed'])
    const startedAt = bench.now
    while (!bench.recorded.includes('flatten')) {
      bench.see({ price: 7000, row: blank })
      if (bench.now - startedAt > 11_000) break
    }

    expect(bench.recorded).toEqual(['drawdownFlatten', 'flatten'])
    expect(bench.now - startedAt).toBeGreaterThanOrEqual(10_000)
  })

  test('is shown as a dispute and changes nothing where nothing was lost', () => {
    const bench = holding()

    for (let readings = 0; readings < 100; readings++) bench.see({ row: { unrealisedProfit: '' } })

    expect(bench.codes).toEqual([])
    expect([...bench.engine.disputes.values()]).toMatchObject([
      { ours: '0.00', theirs: 'not known' },
    ])
  })
})

describe('[MON1] one wrong answer of the tickers', () => {
  test.each([
    ['half', ENTRY / 2],
    ['twice', ENTRY * 2],
  ])('with %s of the price, beside a row that is right, is no more than a dispute', (_, price) => {
    const bench = holding()

    bench.hear(price).readRow(ENTRY)
    bench.see().see()

    expect(bench.recorded).toEqual([])
    expect(bench.codes).toEqual([])
    expect(bench.engine.equity).toEqual({ equity: 3000, peak: 3000, drawdown: 0 })
  })

  test('after the time of a dispute closes nothing, two of them with prices near their index do', () => {
    const bench = holding()
    const blank = { unrealisedProfit: '' }
    for (let readings = 0; readings < 50; readings++) bench.see({ row: blank })

    bench.see({ price: 7000, row: blank })
    expect(bench.recorded).toEqual([])
    // The same answer of the tickers again, with another reading of the position.
    bench.now += 100
    bench.readRow(7000, blank)
    expect(bench.recorded).toEqual([])

    bench.see({ price: 7000, row: blank })
    expect(bench.recorded).toContain('flatten')
  })
})

test('[MON1] a fall that both figures show flattens with the second reading, and asks for that at once', () => {
  const bench = holding()

  bench.see({ price: 7000 })
  expect(bench.recorded).toEqual(['drawdown'])
  expect(bench.take('readPosition')).toMatchObject([{ symbol: SYMBOL, isUrgent: true }])

  bench.now += 100
  bench.readRow(7000)
  expect(bench.recorded).toEqual(['drawdown'])
  bench.hear(7000, 100)
  expect(bench.recorded).toEqual(['drawdown', 'drawdownFlatten', 'flatten'])
})

test('[MON1] a crash of 20 % with a mark that lags behind reaches every limit', () => {
  const bench = holding({
    daily: 100,
    ...DRAWDOWN,
    drawdown: { warn: 0.01, reducing: 0.03, flatten: 0.06 },
  })
  const events: string[] = []
  let mark = ENTRY
  for (let step = 1; step <= 80; step++) {
    const price = Math.max(8000, ENTRY - 100 * step)
    mark += (price - mark) / 20
    bench.see({
      price,
      row: { markPrice: mark, unrealisedProfit: ((mark - ENTRY) * SIZE).toFixed(4) },
    })
    events.push(...bench.events())
  }

  expect(bench.recorded.toSorted()).toEqual(['dailyLoss', 'drawdown', 'drawdownFlatten', 'flatten'])
  expect(events).toContain('limits.warned')
})

test('[MON1] nothing follows from prices alone while the account is not read', () => {
  const bench = holding(DRAWDOWN, '*', 3000)
  bench.see({ row: { unrealisedProfit: '' } })

  for (let polls = 0; polls < 400; polls++) bench.hear(7000)

  expect(bench.recorded).toEqual([])
})

describe('[MON1] lots that no fill explains', () => {
  function adopted(): Account {
    const bench = new Account({ capital: decimal('3000') }).start({
      holding: { longLots: LOTS, shortLots: 0 },
    })
    bench.pass(3000, { holding: { longLots: LOTS, shortLots: 0 } })
    return bench
  }

  test('take the average price of the exchange once two readings agree, over restarts', () => {
    const bench = adopted()

    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: LOTS, shortLots: 0 })
    expect(bench.recordsOf('entry')).toMatchObject([
      { holdSide: 'long', lots: LOTS, statedLots: LOTS, ticks: ENTRY * 10 },
    ])
    const entry = { longLots: LOTS, longTicks: ENTRY * 10, statedLongLots: LOTS }
    expect(bench.book.entries.get(SYMBOL)).toMatchObject(entry)
    expect(fromBookRows(toBookRows(bench.book)).entries.get(SYMBOL)).toMatchObject(entry)
    expect(bench.restart().book.entries.get(SYMBOL)).toMatchObject(entry)
  })

  test('take a price that two later readings state instead, and no other', () => {
    const bench = adopted()
    const entryOf = () => bench.book.entries.get(SYMBOL)?.longTicks

    bench.see({ row: { openPriceAvg: 9000 } })
    bench.see({ row: { openPriceAvg: 9500 } })
    bench.see()
    expect(entryOf()).toBe(ENTRY * 10)
    bench.see({ row: { openPriceAvg: 9000 } })
    // The same answer is no second witness.
    bench.readRow(ENTRY, { openPriceAvg: 9000 })
    expect(entryOf()).toBe(ENTRY * 10)

    bench.see({ row: { openPriceAvg: 9000 } })
    expect(entryOf()).toBe(90_000)
    expect(bench.recordsOf('entry')).toMatchObject([
      { ticks: ENTRY * 10 },
      { holdSide: 'long', lots: LOTS, statedLots: LOTS, ticks: 90_000 },
    ])
    expect(bench.restart().book.entries.get(SYMBOL)).toMatchObject({
      longLots: LOTS,
      longTicks: 90_000,
      statedLongLots: LOTS,
    })
  })

  test('are worth nothing that is known before', () => {
    const bench = new Account({ capital: decimal('3000') }).start()
    const fill = bench.fill({
      orderId: toOrderId('77'),
      lots: LOTS,
      ticks: ENTRY * 10,
      source: 'SYS',
    })
    const at = { requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading: { fills: [fill], sinceAt: 0, ...at } })
    bench.see()
    expect(bench.recordsOf('entry')).toEqual([])
    expect(bench.engine.equity?.equity).toBeCloseTo(3000 - 0.01, 8)
  })
})

describe('[MON1] the loss of a strategy', () => {
  test('is not judged by a mark that is nonsense in one row', () => {
    const bench = holding({ daily: 50 }, strategyScope(STRATEGY))

    bench.see({ row: { markPrice: 0 } })
    bench.see({ row: { markPrice: 0, unrealisedProfit: '-999.97' } })

    expect(bench.recorded).toEqual([])
    bench.see({ price: 9490 })
    expect(bench.recorded).toEqual(['dailyLoss'])
  })
})

test('[MON2] a funding counter that is missing once is not paid again', () => {
  const bench = holding()
  const read = (fundingFee: string): void => {
    bench.now += 2000
    bench.price()
    bench.step({
      kind: 'fillsRead',
      reading: { fills: [], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now },
    })
    bench.readRow(ENTRY, { fundingFee })
    bench.now += 2000
    bench.price()
    bench.step({
      kind: 'fillsRead',
      reading: { fills: [], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now },
    })
  }
  for (const counter of ['5', '', '5']) read(counter)

  expect(bench.recordsOf('funding').map(({ change }) => change)).toEqual(['5'])
})
