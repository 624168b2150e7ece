import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { describeUncounted, sumMoney, uncountedOf } from '../../../src/domain/fill-money.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type TickerColumn, TickerTable } from '../../../src/domain/ticker-table.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { rebuildBook, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { createRecount, findDifference, recountRecord } from '../../../src/engine/book/recount.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'
import { madeInstrument } from '../../support/market-moment.ts'

const MODES: readonly PositionMode[] = ['one_way_mode', 'hedge_mode']
const FEES = [{ coin: 'BGB', amount: '0.5' }]
const CLOSE: Readonly<Record<PositionMode, Partial<Fill>>> = {
  one_way_mode: { side: 'sell', tradeSide: 'close', orderId: toOrderId('77'), source: 'SYS' },
  hedge_mode: { side: 'buy', tradeSide: 'close', orderId: toOrderId('77'), source: 'SYS' },
}

function read(bench: EngineBench, ...fills: readonly Fill[]): void {
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills })
}

/** A core whose strategy has bought ten lots at 9999. */
function holding(
  mode: PositionMode = 'one_way_mode',
  settings: ConstructorParameters<typeof EngineBench>[0] = {},
  opened: Partial<Fill> = {},
) {
  const bench = new EngineBench({ foreignFills: 'adopt', ...settings }, mode).start()
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  bench.accept(bench.grantBatch())
  read(bench, bench.fill({ lots: 10, ...opened }))
  return bench
}

function recorded(bench: EngineBench): Fill | undefined {
  return bench.recordsOf('fills').at(-1)?.fills.at(-1)
}

/** Fees, and what is said not to be counted. */
function moneyOf({ book }: EngineBench) {
  const money = sumMoney(book.money.values())
  return [money.fees.toString(), money.profit.toString(), describeUncounted(uncountedOf(money))]
}

/** The same records give the same book, and a second count of them the same sums. */
function expectSameAfterRestart({ records, book }: EngineBench): void {
  const again = rebuildBook({ checkpoint: undefined, records }, book.positionMode)
  expect(toBookRows(again)).toEqual(toBookRows(book))
  const recount = createRecount(
    rebuildBook({ checkpoint: undefined, records: [] }, book.positionMode),
  )
  for (const record of records) if (record.kind === 'fills') recountRecord(recount, record, book)
  expect(findDifference(recount, book)).toBeUndefined()
}

function said(bench: EngineBench, event: string) {
  return bench.take('announce').filter((one) => one.event === event)
}

describe('[MON2] a fee in another coin', () => {
  test('is counted at the price of the configuration, which is recorded with it', () => {
    const bench = holding(
      'one_way_mode',
      { feeCoins: new Map([['BGB', '4.2']]) },
      { otherFees: FEES },
    )

    expect(recorded(bench)?.otherFees).toEqual([{ coin: 'BGB', amount: '0.5', price: '4.2' }])
    expect(moneyOf(bench)).toEqual(['2.11', '0', ''])
    expect(said(bench, 'fees.uncounted')).toEqual([])
    expect(bench.book.ownTrades.get(`s|${SYMBOL}`)).toMatchObject({
      dayFees: '2.11',
      tradeNet: '-2.11',
    })
    expectSameAfterRestart(bench)
  })

  test.each([
    ['of its ticker', { bidPr: 4.1, askPr: 4.3, lastPr: 4.2 }, '4.2'],
    ['of its ticker, held inside bid and ask', { bidPr: 4.1, askPr: 4.3, lastPr: 42 }, '4.3'],
    [
      'of the configuration where its ticker has none',
      { bidPr: 4.1, askPr: 4.3, lastPr: Number.NaN },
      '4',
    ],
  ])('is counted at the price %s', (_, values, price) => {
    const bench = new EngineBench({ feeCoins: new Map([['BGB', '4']]) }).start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    const tickers = new TickerTable(1)
    tickers.readAt = bench.now
    tickers.requestTime = bench.now + 1
    const row = tickers.claimRow('BGBUSDT')
    for (const [column, value] of Object.entries({ ...values, ts: bench.now }))
      tickers.columns[column as TickerColumn][row] = value
    bench.step({ kind: 'snapshotTaken', tickers })
    read(bench, bench.fill({ lots: 10, otherFees: FEES }))

    expect(recorded(bench)?.otherFees).toEqual([{ coin: 'BGB', amount: '0.5', price }])
    expectSameAfterRestart(bench)
  })

  test('without a price is not counted, and warned of once', () => {
    const bench = holding('one_way_mode', {}, { otherFees: FEES })
    const first = said(bench, 'fees.uncounted')
    read(bench, bench.fill({ orderId: toOrderId('5'), source: 'WEB', otherFees: FEES }))

    expect(first).toMatchObject([{ level: 'warn', fields: { coin: 'BGB', amount: '0.5' } }])
    expect(said(bench, 'fees.uncounted')).toEqual([])
    expect(moneyOf(bench)).toEqual(['0.02', '0', '+ 1 BGB not counted'])
    expectSameAfterRestart(bench)
  })
})

describe.each(MODES)('[MON2] in %s, what the exchange does not state', (mode) => {
  const unstated = ({ profit: _profit, ...fill }: Fill): Fill => fill

  test('is zero where a fill opened, and our own count where it closed', () => {
    const bench = new EngineBench({ foreignFills: 'adopt' }, mode).start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    const opened = unstated(bench.fill({ lots: 10 }))
    const closed = unstated(bench.fill({ ...CLOSE[mode], lots: 10, ticks: 98_990 }))
    read(bench, opened, closed)

    const [first, second] = bench.recordsOf('fills').flatMap(({ fills }) => fills)
    expect(first).toMatchObject({ profit: '0' })
    // 100 down, on ten lots of 0.001.
    expect(second).toMatchObject({ profit: '-1', isProfitOurs: true })
    expect(moneyOf(bench)).toEqual(['0.02', '-1', 'the profit of 1 fill by our own count'])
    expectSameAfterRestart(bench)
  })

  test('is our own count of the profit also where others have opened it; the fee is unknown', () => {
    const bench = new EngineBench({ foreignFills: 'adopt' }, mode).start()
    read(bench, bench.fill({ orderId: toOrderId('5'), source: 'WEB', lots: 10 }))
    const { fee: _fee, ...closed } = unstated(bench.fill({ ...CLOSE[mode], lots: 10 }))
    bench.take('announce')
    read(bench, closed)

    expect(said(bench, 'fill.incomplete')).toMatchObject([
      { level: 'warn', fields: { missing: ['fee'] } },
    ])
    expect(moneyOf(bench)).toEqual([
      '0.01',
      '0',
      '+ the fee of 1 fill not counted; the profit of 1 fill by our own count',
    ])
    expectSameAfterRestart(bench)
  })
})

describe('[MON1] what the exchange states of a fill that cannot be', () => {
  test('is not booked: a profit is our own count, a fee is not known, and both are said', () => {
    const bench = new EngineBench({ foreignFills: 'adopt' }).start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    read(bench, bench.fill({ lots: 10, profit: '1000000' }))
    const closed = {
      side: 'sell',
      tradeSide: 'close',
      orderId: toOrderId('77'),
      source: 'WEB',
    } as const
    read(bench, bench.fill({ ...closed, lots: 10, ticks: 98_990, profit: '-3000', fee: '3000' }))

    expect(said(bench, 'fill.incredible').map(({ fields }) => fields['stated'])).toEqual([
      'profit 1000000, by our own count 0',
      'fee 3000',
      'profit -3000, by our own count -1',
    ])
    const [fees, profit] = moneyOf(bench)
    expect([fees, profit]).toEqual(['0.01', '-1'])
    expectSameAfterRestart(bench)
  })

  test('is not booked of a coin-margined contract either, where profit and fee are in the coin', () => {
    const coin = { ...madeInstrument(), productType: 'COIN-FUTURES', marginCoin: 'BTC' } as const
    const bench = holding(
      'one_way_mode',
      { instruments: new Map([[SYMBOL, coin]]) },
      { fee: '0.000002' },
    )
    bench.take('announce')
    const closed = {
      side: 'sell',
      tradeSide: 'close',
      orderId: toOrderId('77'),
      source: 'WEB',
    } as const
    read(bench, bench.fill({ ...closed, lots: 10, ticks: 98_990, profit: '-0.5', fee: '0.02' }))

    // 100 dollars down on 0.01 BTC, at 9899 dollars each.
    expect(said(bench, 'fill.incredible').map(({ fields }) => fields['stated'])).toEqual([
      'fee 0.02',
      'profit -0.5, by our own count -0.00010102',
    ])
    expect(moneyOf(bench).slice(0, 2)).toEqual(['0.000002', '-0.00010102'])
    expectSameAfterRestart(bench)
  })

  test.each([
    [{ side: 'buy', ticks: 99_990 }, 150_000, 99_990],
    [{ side: 'sell', ticks: 100_010 }, 50_000, 100_010],
    [{ side: 'buy', ticks: 99_990 }, 99_000, 99_000],
  ] as const)('is no price worse than the limit of its order %j: %d', (level, stated, booked) => {
    const bench = new EngineBench().start()
    bench.quote({ ...level, lots: 10 })
    bench.accept(bench.grantBatch())
    read(bench, bench.fill({ side: level.side, lots: 10, ticks: stated, profit: '0' }))

    expect(recorded(bench)).toMatchObject({ ticks: booked, profit: '0' })
    const { longTicks, shortTicks } = bench.book.entries.get(SYMBOL) ?? {}
    expect(level.side === 'buy' ? longTicks : shortTicks).toBe(booked)
    expect(said(bench, 'fill.incredible')).toHaveLength(stated === booked ? 0 : 1)
    expectSameAfterRestart(bench)
  })

  test.each([
    [99_500, 99_500],
    [98_000, 99_000],
  ])(
    'of a sell that closes a long in hedge mode, called a buy there, is %d: %d',
    (stated, booked) => {
      const bench = holding('hedge_mode')
      const close = { action: 'closeLong', lots: 10, ticks: 99_000, force: 'ioc' } as const
      bench.decide({ kind: 'place', symbol: SYMBOL, key: 'out', ...close })
      bench.accept(bench.grantBatch())
      bench.take('announce')
      read(
        bench,
        bench.fill({
          side: 'buy',
          tradeSide: 'close',
          lots: 10,
          ticks: stated,
          orderId: toOrderId('2001'),
        }),
      )

      expect(recorded(bench)?.ticks).toBe(booked)
      const prices = said(bench, 'fill.incredible').filter(({ fields }) =>
        String(fields?.['stated']).startsWith('price'),
      )
      expect(prices).toHaveLength(stated === booked ? 0 : 1)
    },
  )

  test('is booked where the system closed: a liquidation costs more than its price tells', () => {
    const bench = holding()
    read(
      bench,
      bench.fill({
        ...CLOSE.one_way_mode,
        fillKind: 'liquidation',
        lots: 10,
        ticks: 98_990,
        profit: '-60',
      }),
    )

    expect(moneyOf(bench)[1]).toBe('-60')
    expect(said(bench, 'fill.incredible')).toEqual([])
  })

  test('does not become a fee by one wrong ticker of its coin', () => {
    const bench = holding(
      'one_way_mode',
      { feeCoins: new Map([['BGB', '40000']]) },
      { otherFees: FEES },
    )

    expect(recorded(bench)?.otherFees).toEqual(FEES)
    expect(said(bench, 'fees.uncounted')).toHaveLength(1)
  })
})

test.each([
  ['takeProfit', 105_100],
  ['stopLoss', 94_000],
] as const)('a close by the system at the price of our %s is called that', (kind, ticks) => {
  const bench = new EngineBench({ foreignFills: 'halt' }).start()
  bench.decide({
    kind: 'place',
    key: 'a',
    symbol: SYMBOL,
    action: 'openLong',
    lots: 10,
    ticks: 99_990,
    force: 'gtc',
    takeProfitTicks: 105_000,
    stopLossTicks: 95_000,
  } as never)
  bench.accept(bench.grantBatch())
  const [order] = [...bench.book.orders.values()]
  read(bench, bench.fill({ lots: 10, orderId: order?.orderId ?? toOrderId('1001') }))
  bench.take('announce')
  read(bench, bench.fill({ ...CLOSE.one_way_mode, lots: 10, ticks, profit: '-5' }))

  const price = kind === 'takeProfit' ? '10500' : '9500'
  const clientOid = order?.terms.clientOid
  expect(recorded(bench)).toMatchObject({
    fillKind: kind,
    exit: { clientOid, strategyId: 's', price },
  })
  const announced = bench.take('announce')
  expect(announced.find(({ event }) => event === 'fill.exit')?.fields).toMatchObject({
    kind,
    set: price,
    clientOid,
  })
  expect(announced.filter(({ event }) => event === 'fill.foreign')).toEqual([])
  expect(announced.find(({ event }) => event === 'trading.halted')?.fields['reason']).toContain(
    ` at ${price}, set by order ${clientOid}`,
  )
  expectSameAfterRestart(bench)
})

test('a close by the system that nothing explains is said as such, and not guessed', () => {
  const bench = holding('one_way_mode', { foreignFills: 'halt' })
  bench.take('announce')
  read(
    bench,
    bench.fill({ ...CLOSE.one_way_mode, lots: 10, fillKind: 'system', systemWord: 'melt_sell' }),
  )

  const announced = bench.take('announce')
  expect(announced.find(({ event }) => event === 'fill.foreign')?.fields).toMatchObject({
    word: 'melt_sell',
  })
  expect(announced.find(({ event }) => event === 'trading.halted')?.fields['reason']).toContain(
    '"melt_sell"',
  )
})

test('a delivery is no emergency', () => {
  const bench = holding('one_way_mode', { foreignFills: 'halt' })
  bench.take('announce')
  read(bench, bench.fill({ ...CLOSE.one_way_mode, lots: 10, fillKind: 'delivery' }))

  expect(bench.halts.has(SYMBOL)).toBe(false)
  expect(bench.take('announce').find(({ event }) => event === 'fill.delivered')?.level).toBe('info')
})
