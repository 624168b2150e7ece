import { describe, expect, test } from 'vitest'
import { detailOf } from '../../../src/domain/denial.ts'
import { toOrderId, toStrategyId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { type PositionRow } from '../../../src/domain/position.ts'
import { TickerTable } from '../../../src/domain/ticker-table.ts'
import { ACCOUNT } from '../../../src/domain/trading-mode.ts'
import { type SurvivalSettings } from '../../../src/domain/worst-case.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

/** 100 lots of 0.001, bought at 10,000, on 200. A fall of 12 % takes 12.4 % of what they are worth. */
const LOTS = 100
const SIZE = 0.1
const ENTRY = 10_000
const CAPITAL = 200
const NEED = 0.12 + 0.88 * (0.004 + 0.0006)
/** A share of the equity is used at this price: NEED × 0.1 × p = share × (200 + 0.1 × (p − 10,000)). */
const priceAt = (share: number): number =>
  (share * (SIZE * ENTRY - CAPITAL)) / (SIZE * (share - NEED))

const OTHER = 'ETHUSDT'
const RULES = new Map(
  [SYMBOL, OTHER].map((symbol) => [
    symbol,
    { tiers: [{ notionalMax: 1_000_000, rate: 0.004 }], takerFeeRate: 0.0006 },
  ]),
)
const MOVES = new Map([
  [SYMBOL, 0.12],
  [OTHER, 0.12],
])
const SURVIVES: SurvivalSettings = { moves: MOVES, jointMoves: MOVES, isGap: true }

function benchOf(
  change: Partial<EngineSettings> = {},
  mode: PositionMode = 'one_way_mode',
): EngineBench {
  const settings = {
    capital: decimal(String(CAPITAL)),
    liquidation: { rules: RULES },
    survives: SURVIVES,
  }
  const { limits } = new EngineBench().settings
  return new EngineBench(
    { ...settings, limits: { ...limits, priceCollarRatio: 0.3 }, ...change },
    mode,
  ).start()
}

/** What leaves is accepted and filled at a price. */
function fillNext(bench: EngineBench, price: number): void {
  const batch = bench.grantBatch()
  bench.accept(batch)
  const fills = batch.clientOids.map((clientOid, index) => {
    const terms = bench.book.orders.get(clientOid)?.terms
    const isLongSide = terms?.action === 'openLong' || terms?.action === 'closeLong'
    const buys = terms?.action === 'openLong' || terms?.action === 'closeShort'
    const isHedge = bench.book.positionMode === 'hedge_mode'
    return bench.fill({
      orderId: toOrderId(`${batch.batchId}00${index + 1}`),
      symbol: terms?.symbol ?? SYMBOL,
      lots: terms?.lots ?? 0,
      ticks: price * 10,
      side: (isHedge ? isLongSide : buys) ? 'buy' : 'sell',
      tradeSide: terms?.action.startsWith('open') === true ? 'open' : 'close',
      fee: '0',
      profit: '0',
      scope: 'taker',
    })
  })
  const reading = { fills, sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
}

function holding(change: Partial<EngineSettings> = {}, lots = LOTS): EngineBench {
  const bench = benchOf(change)
  bench.decide({ kind: 'target', symbol: SYMBOL, lots })
  fillNext(bench, ENTRY)
  return bench
}

/** An answer comes in which the rows of some instruments alone are fresh. */
function priceOnly(bench: EngineBench, ...fresh: readonly string[]): void {
  bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
  const tickers = new TickerTable(2)
  tickers.readAt = bench.now
  tickers.requestTime = bench.now
  for (const symbol of [SYMBOL, OTHER]) {
    const row = tickers.claimRow(symbol)
    const ts = fresh.includes(symbol) ? bench.now : bench.now - 1100
    const values = { bidPr: ENTRY, askPr: ENTRY + 0.1, lastPr: ENTRY, ts }
    for (const [column, value] of Object.entries(values))
      tickers.columns[column as 'bidPr'][row] = value
  }
  bench.step({ kind: 'snapshotTaken', tickers })
}

/** New prices come, and the position is read at them. */
function fallTo(
  bench: EngineBench,
  price: number,
  stated: Partial<PositionRow> = {},
  priced = price,
): void {
  bench.now += 100
  bench.price(priced)
  const held = bench.book.account.get(SYMBOL) ?? { longLots: 0, shortLots: 0 }
  const rows = (['long', 'short'] as const).flatMap((holdSide) => {
    const lots = held[`${holdSide}Lots`]
    const row: PositionRow = {
      holdSide,
      lots,
      openPriceAvg: ENTRY,
      fundingFee: '',
      markPrice: price,
      liquidationPrice: Number.NaN,
      positionMode: bench.book.positionMode,
      unrealisedProfit: String((holdSide === 'long' ? 1 : -1) * (price - ENTRY) * lots * 0.001),
      ...stated,
    }
    return lots > 0 ? [row] : []
  })
  const reading = {
    symbol: SYMBOL,
    rows,
    isSilent: false,
    requestedAt: bench.now,
    exchangeTime: bench.now,
  }
  bench.step({ kind: 'positionRead', reading })
}

/** The strategy trades both instruments. */
function onBoth(): Pick<EngineSettings, 'instruments' | 'strategies'> {
  const instruments = new Map([SYMBOL, OTHER].map((symbol) => [symbol, madeInstrument({ symbol })]))
  const [strategy] = benchOf().settings.strategies.values()
  if (!strategy) throw new Error('no strategy')
  const limits = new Map(
    [SYMBOL, OTHER].map((symbol) => [symbol, strategy.limits.get(SYMBOL) ?? fail()]),
  )
  return {
    instruments,
    strategies: new Map([[STRATEGY, { ...strategy, symbols: [SYMBOL, OTHER], limits }]]),
  }
}

const codes = (bench: EngineBench): string[] =>
  [...bench.book.restrictions.values()].map(({ code }) => code)
const eventsOf = (bench: EngineBench, ...names: readonly string[]) =>
  bench.take('announce').filter(({ event }) => names.includes(event))
const lastTerms = (bench: EngineBench) => [...bench.book.orders.values()].at(-1)?.terms
const denialsOf = (bench: EngineBench): string[] =>
  bench.records.flatMap((record) =>
    record.kind === 'denial' ? [`${record.code}: ${detailOf(record)}`] : [],
  )

describe('[RSK1] an order after which the account would not survive a stated move', () => {
  test('is denied with what would fit; what fits is approved', () => {
    const bench = holding()
    fallTo(bench, ENTRY)
    // 200 less 124.05 are left, and a lot takes 1.246 with the fee of opening it.
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS + 62 })

    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
    expect(denialsOf(bench)).toEqual([
      'WORST_CASE: BTCUSDT down 12 % would take 100.7 % of 200.00, with all that rests filled; 75.95 are left without it, 0.06 would fit',
    ])
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS + 60 })
    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })

  test('counts what was lost at the prices since the position was read', () => {
    const bench = holding()
    fallTo(bench, ENTRY)
    bench.now += 100
    bench.price(ENTRY - 400)
    // By the mark price of the reading 174 would be used: of 200 then, and of 160 now.
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS + 40 })

    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
    expect(denialsOf(bench).join()).toContain('of 160.00')
  })

  test('counts what all instruments take that fall at once', () => {
    const bench = holding(onBoth())
    fallTo(bench, ENTRY)
    priceOnly(bench, SYMBOL, OTHER)
    // Alone BTCUSDT takes 124 of 200, and ETHUSDT as much: together more than there is.
    bench.decide({
      kind: 'quote',
      symbol: OTHER,
      levels: [{ side: 'buy', ticks: 99_000, lots: LOTS }],
    })

    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
    expect(denialsOf(bench).join()).toContain('all instruments against us at once')
  })

  test('counts everything that rests on its side, and nothing on the other', () => {
    const bench = holding()
    fallTo(bench, ENTRY)
    bench.quote(
      { side: 'buy', ticks: 99_000, lots: 40 },
      { side: 'buy', ticks: 98_000, lots: 40 },
      { side: 'sell', ticks: 101_000, lots: 80 },
    )

    expect(bench.grantBatch().clientOids).toHaveLength(2)
    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
  })

  test('counts each order at its own price where resting ladders are filled on the way', () => {
    const bench = holding({ survives: { ...SURVIVES, isGap: false } })
    fallTo(bench, ENTRY)
    bench.quote({ side: 'buy', ticks: 92_000, lots: 100 })
    bench.accept(bench.grantBatch())
    // Of 76 left, this one takes 40 on the way from 9200 to 8800, and another is beyond the move.
    bench.quote(
      { side: 'buy', ticks: 92_000, lots: 100 },
      { side: 'buy', ticks: 87_000, lots: 100 },
    )
    bench.accept(bench.grantBatch())
    bench.quote(
      { side: 'buy', ticks: 92_000, lots: 100 },
      { side: 'buy', ticks: 87_000, lots: 100 },
      { side: 'buy', ticks: 91_900, lots: 100 },
    )

    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
  })

  test('counts what was approved for the same batch, also at its own price', () => {
    for (const isGap of [true, false]) {
      const bench = holding({ survives: { ...SURVIVES, isGap } })
      fallTo(bench, ENTRY)
      bench.quote(
        { side: 'buy', ticks: 99_900, lots: 40 },
        { side: 'buy', ticks: 99_800, lots: 40 },
      )

      expect(bench.grantBatch().clientOids).toHaveLength(1)
      expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
    }
  })

  test('passes where it lowers the worst case, however far that is beyond the budget', () => {
    const bench = holding()
    fallTo(bench, priceAt(1.5))
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 50 })

    expect(bench.grantBatch().clientOids).toHaveLength(1)
    expect(bench.engine.denied.get('WORST_CASE')).toBeUndefined()
  })

  test('passes where it only closes, also while one of two figures says that nothing is left', () => {
    const bench = holding()
    fallTo(bench, ENTRY, { unrealisedProfit: '-205' })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })

    expect(bench.engine.worstCase?.equity).toBeLessThan(0)
    expect(bench.grantBatch().clientOids).toHaveLength(1)
    expect(bench.engine.denied.get('WORST_CASE')).toBeUndefined()
  })

  test('is denied then where it would close what another order may close before it', () => {
    const bench = holding()
    fallTo(bench, ENTRY)
    bench.quote({ side: 'sell', ticks: 101_000, lots: 60 })
    bench.accept(bench.grantBatch())
    fallTo(bench, ENTRY, { unrealisedProfit: '-205' })
    bench.quote(
      { side: 'sell', ticks: 101_000, lots: 60 },
      { side: 'sell', ticks: 102_000, lots: 50 },
    )
    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
  })

  test('is denied while a price of what is held is not known', () => {
    const bench = holding({ ...onBoth(), capital: decimal('100000') })
    fallTo(bench, ENTRY)
    bench.now += 1100
    priceOnly(bench, OTHER)
    bench.decide({
      kind: 'quote',
      symbol: OTHER,
      levels: [{ side: 'buy', ticks: 99_000, lots: 10 }],
    })

    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
    expect(denialsOf(bench).join()).toContain('is not known')
  })

  test.each(['one_way_mode', 'hedge_mode'] as const)(
    '[RSK1] leaves while a price of another instrument is not known, where it closes in %s',
    (mode) => {
      const bench = benchOf({ ...onBoth(), capital: decimal('100000') }, mode)
      for (const symbol of [OTHER, SYMBOL]) {
        bench.decide({ kind: 'target', symbol, lots: LOTS })
        fillNext(bench, ENTRY)
      }
      fallTo(bench, ENTRY)
      if (mode === 'hedge_mode') {
        const hedge = { kind: 'place', symbol: SYMBOL, key: 'hedge', action: 'openShort' } as const
        bench.decide({ ...hedge, lots: 50 })
        fillNext(bench, ENTRY)
      }
      bench.now += 1100
      priceOnly(bench, SYMBOL)
      const close = { kind: 'place', symbol: SYMBOL, lots: 50 } as const
      bench.decide({ ...close, key: 'long', action: 'closeLong' })
      if (mode === 'hedge_mode') bench.decide({ ...close, key: 'short', action: 'closeShort' })
      bench.decide({ ...close, key: 'more', action: 'openLong', lots: 1 })
      const leaves = bench.grantBatch().clientOids
      const actions = leaves.map((clientOid) => bench.book.orders.get(clientOid)?.terms.action)

      expect(new Set(actions)).toEqual(
        new Set(mode === 'hedge_mode' ? ['closeLong', 'closeShort'] : ['closeLong']),
      )
      expect(bench.engine.denied.get('WORST_CASE')).toBeGreaterThan(0)
    },
  )
})

const AGING = {
  ...new EngineBench().settings.limits,
  priceCollarRatio: 0.3,
  accountAgeMaxMs: 5000,
}

describe('[MON1] an account beyond its budget', () => {
  test('is warned once at 80 %, and again after it was clearly less', () => {
    const bench = holding()
    fallTo(bench, priceAt(0.79))
    expect(eventsOf(bench, 'worstCase.near')).toEqual([])
    fallTo(bench, priceAt(0.82))
    fallTo(bench, priceAt(0.78))
    fallTo(bench, priceAt(0.83))
    expect(eventsOf(bench, 'worstCase.near')).toMatchObject([
      {
        fields: {
          reason: expect.stringMatching(
            /^BTCUSDT down 12 % would take 11\d\.\d\d of 14\d\.\d\d: 82\.0 %, limit 80 %$/,
          ),
        },
      },
    ])
    expect(bench.engine.worstCase?.used).toBeGreaterThan(0.82)

    fallTo(bench, priceAt(0.7))
    fallTo(bench, priceAt(0.83))
    expect(eventsOf(bench, 'worstCase.near')).toHaveLength(1)
    expect(codes(bench)).toEqual([])
  })

  test('[MON2] is warned of once, also if the equity is unknown for a while', () => {
    const bench = holding({ limits: AGING })
    fallTo(bench, priceAt(0.82))
    bench.now += 60_000
    bench.step({ kind: 'timePassed' })
    expect(bench.engine.worstCase).toBeUndefined()

    fallTo(bench, priceAt(0.82))
    expect(eventsOf(bench, 'worstCase.near')).toHaveLength(1)
  })

  test('[MON2] is reduced by no prices alone, and released by none', () => {
    const bench = holding({ limits: AGING })
    const hear = (share: number): void => {
      for (let passed = 0; passed < 60_000; passed += 500) {
        bench.now += 500
        bench.price(Math.round(priceAt(share)))
        bench.step({ kind: 'timePassed' })
      }
    }
    fallTo(bench, priceAt(0.7))

    hear(1.2)
    expect(bench.engine.worstCase?.used).toBeGreaterThan(1.1)
    expect(codes(bench)).toEqual([])

    for (let readings = 0; readings < 2; readings++) fallTo(bench, Math.round(priceAt(1.05)))
    expect(codes(bench)).toEqual(['worstCase'])
    hear(0.5)
    expect(codes(bench)).toEqual(['worstCase'])
  })

  test('is reduced to 80 % when two readings say so, and released when it is there', () => {
    const bench = holding()
    bench.quote({ side: 'buy', ticks: 90_000, lots: 10 })
    bench.accept(bench.grantBatch())
    const price = Math.round(priceAt(1.05))
    fallTo(bench, price)
    expect(codes(bench)).toEqual([])
    fallTo(bench, price)

    expect(codes(bench)).toEqual(['worstCase'])
    const said = eventsOf(bench, 'limits.reached', 'position.reducing', 'trading.reducing')
    expect(said.map(({ event }) => event)).toEqual([
      'limits.reached',
      'trading.reducing',
      'position.reducing',
    ])
    // 100 lots take 12.4 % of their value: as many are closed as lead to 80 % of the equity, less their own cost.
    expect(said[2]?.fields).toMatchObject({ symbol: SYMBOL, holdSide: 'long', size: '0.024' })
    // What rests and adds is cancelled first.
    expect(bench.grantCancel()).toBeDefined()
  })

  test.each([0, 1, Number.NaN])(
    'is reduced although the row states an impossible mark of %d',
    (markPrice) => {
      const bench = holding()
      const price = Math.round(priceAt(1.05))
      for (let reading = 0; reading < 2; reading++) fallTo(bench, price, { markPrice })

      expect(codes(bench)).toEqual(['worstCase'])
    },
  )

  test('closes only as much as leads back to 80 %, and ends by itself', () => {
    const bench = holding()
    const price = Math.round(priceAt(1.05))
    fallTo(bench, price)
    fallTo(bench, price)
    fillNext(bench, price)
    const { lots = 0, purpose, action } = lastTerms(bench) ?? {}

    expect({ purpose, action }).toEqual({ purpose: 'flatten', action: 'closeLong' })
    expect(lots).toBe(24)
    expect(codes(bench)).toEqual([])
    expect(eventsOf(bench, 'trading.released')).toMatchObject([
      { fields: { code: 'worstCase', scope: ACCOUNT } },
    ])
    fallTo(bench, price)
    fallTo(bench, price)
    expect(codes(bench)).toEqual([])
    expect(bench.engine.worstCase?.used).toBeLessThanOrEqual(0.81)
    expect(bench.book.account.get(SYMBOL)?.longLots).toBe(LOTS - 24)
  })

  test.each<[string, Partial<PositionRow>, number | undefined]>([
    ['price of the tickers', {}, priceAt(1.5)],
    [
      'mark price, with its profit',
      { markPrice: priceAt(1.5), unrealisedProfit: String((priceAt(1.5) - ENTRY) * SIZE) },
      undefined,
    ],
    ['profit', { unrealisedProfit: '-150' }, undefined],
  ])('is not reduced for one wrong %s, however often it comes', (_, stated, priced) => {
    const bench = holding()
    for (let reading = 0; reading < 5; reading++) fallTo(bench, ENTRY, stated, priced ?? ENTRY)

    expect(codes(bench)).toEqual([])
    expect(bench.effects.some(({ kind }) => kind === 'askGrant')).toBe(false)
  })

  const DEEP = Math.round(priceAt(1.05))

  test.each<[string, Partial<PositionRow>, number | undefined]>([
    ['stated profit', { unrealisedProfit: '0' }, undefined],
    ['stated profit that is missing', { unrealisedProfit: '' }, undefined],
    ['mark price', { markPrice: DEEP / 2 }, undefined],
    ['mark price, with its profit', { markPrice: ENTRY, unrealisedProfit: '0' }, undefined],
    ['price of the tickers', {}, ENTRY],
  ])('is reduced although every second answer has a wrong %s', (_, stated, priced) => {
    const bench = holding()
    fallTo(bench, DEEP)
    fallTo(bench, DEEP, stated, priced)
    fallTo(bench, DEEP)

    expect(codes(bench)).toEqual(['worstCase'])
  })

  test('is reduced within the time of a dispute although the row lies about mark and profit for good', () => {
    const bench = holding()
    const markPrice = DEEP / 2
    const lie = { markPrice, unrealisedProfit: String((markPrice - ENTRY) * SIZE) }
    for (let reading = 0; reading < 110; reading++) fallTo(bench, DEEP, lie)

    expect(codes(bench)).toEqual(['worstCase'])
  })

  test.each<[string, Partial<PositionRow>, number | undefined]>([
    ['stated profit', { unrealisedProfit: '0' }, undefined],
    ['price of the tickers', {}, ENTRY],
  ])('is not released for one wrong %s, and goes on closing', (_, stated, priced) => {
    const bench = holding()
    fallTo(bench, DEEP)
    fallTo(bench, DEEP)
    fallTo(bench, DEEP, stated, priced)

    expect(codes(bench)).toEqual(['worstCase'])
    fillNext(bench, DEEP)
    expect(lastTerms(bench)).toMatchObject({ purpose: 'flatten', action: 'closeLong', lots: 24 })
  })

  test('is not reduced for an earlier reading of long ago', () => {
    const { limits } = new EngineBench().settings
    const bench = holding({ limits: { ...limits, priceCollarRatio: 0.3, accountAgeMaxMs: 1000 } })
    fallTo(bench, DEEP)
    bench.now += 11_000
    fallTo(bench, DEEP)
    expect(codes(bench)).toEqual([])

    fallTo(bench, DEEP)
    expect(codes(bench)).toEqual(['worstCase'])
  })

  test('a short is not reduced for one wrong price of the tickers either', () => {
    const bench = benchOf()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: -LOTS })
    fillNext(bench, ENTRY)
    for (let reading = 0; reading < 5; reading++) fallTo(bench, ENTRY, {}, ENTRY * 1.7)

    expect(bench.book.account.get(SYMBOL)?.shortLots).toBe(LOTS)
    expect(codes(bench)).toEqual([])
  })

  test('lets nothing more be held while a wrong figure makes it look worse', () => {
    const bench = holding()
    fallTo(bench, ENTRY, { unrealisedProfit: '-60' })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS + 30 })

    expect(bench.engine.denied.get('WORST_CASE')).toBe(1)
  })

  test('goes on after a restart, and an operator may end it', () => {
    const bench = holding()
    const price = Math.round(priceAt(1.05))
    fallTo(bench, price)
    fallTo(bench, price)
    bench.restart()
    expect(codes(bench)).toEqual(['worstCase'])
    // A start at better prices finds the account within its budget again.
    bench.start({ holding: { longLots: LOTS, shortLots: 0 } })
    expect(codes(bench)).toEqual([])

    fallTo(bench, price)
    fallTo(bench, price)
    const command = { kind: 'release', scope: ACCOUNT, reason: 'looked', by: 'anna' } as const
    bench.step({ kind: 'commanded', command })
    expect(codes(bench)).toEqual([])
    fallTo(bench, price)
    fallTo(bench, price)
    expect(codes(bench)).toEqual(['worstCase'])
  })

  test('in hedge mode only what one side has more than the other is reduced', () => {
    const bench = benchOf({ capital: decimal('120') }, 'hedge_mode')
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 80 })
    fillNext(bench, ENTRY)
    bench.decide({
      kind: 'place',
      symbol: SYMBOL,
      key: 'hedge',
      action: 'openShort',
      lots: 20,
      force: 'ioc',
      ticks: 99_000,
    } as never)
    fillNext(bench, ENTRY)
    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 80, shortLots: 20 })
    const price = 9100
    fallTo(bench, price)
    fallTo(bench, price)

    expect(codes(bench)).toEqual(['worstCase'])
    fillNext(bench, price)
    expect(lastTerms(bench)).toMatchObject({ purpose: 'flatten', action: 'closeLong' })
    expect(bench.book.account.get(SYMBOL)?.shortLots).toBe(20)
    fallTo(bench, price)
    fallTo(bench, price)
    expect(codes(bench)).toEqual([])
  })

  test('what several strategies hold is closed in their order, and none more than it holds', () => {
    const second = toStrategyId('t')
    const [strategy] = benchOf().settings.strategies.values()
    if (!strategy) throw new Error('no strategy')
    const strategies = new Map([
      [STRATEGY, strategy],
      [second, { ...strategy, id: second }],
    ])
    const bench = benchOf({ strategies })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    fillNext(bench, ENTRY)
    bench.decideAs(second, { kind: 'target', symbol: SYMBOL, lots: LOTS - 10 })
    fillNext(bench, ENTRY)
    const price = Math.round(priceAt(1.05))
    fallTo(bench, price)
    fallTo(bench, price)
    fillNext(bench, price)
    fallTo(bench, price)
    fillNext(bench, price)

    const closes = [...bench.book.orders.values()].filter(
      ({ terms }) => terms.purpose === 'flatten',
    )
    expect(closes.map(({ terms }) => [terms.strategyId, terms.lots])).toEqual([
      [STRATEGY, 10],
      [second, 14],
    ])
  })

  test('what no strategy holds is taken over where they do not hold enough, and no more of it is closed', () => {
    const bench = holding({ foreignFills: 'adopt' }, 10)
    const byHand = bench.fill({
      orderId: toOrderId('777'),
      lots: LOTS - 10,
      ticks: ENTRY * 10,
      fee: '0',
      source: 'WEB',
    })
    const reading = { fills: [byHand], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading })
    const price = Math.round(priceAt(1.05))
    for (let turn = 0; turn < 6; turn++) {
      fallTo(bench, price)
      if (bench.effects.some((effect) => effect.kind === 'askGrant')) fillNext(bench, price)
    }

    expect(codes(bench)).toEqual([])
    expect(bench.recordsOf('assigned')).toHaveLength(1)
    expect(bench.book.account.get(SYMBOL)?.longLots).toBe(LOTS - 24)
  })
})

function fail(): never {
  throw new Error('no limits')
}
