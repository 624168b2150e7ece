import { describe, expect, test } from 'vitest'
import { describeRefusedRelease } from '../../../src/daemon/account/command-inbox.ts'
import { judgeRelease, judgeScope } from '../../../src/daemon/account/listen-to-operator.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type LossLimits } from '../../../src/domain/loss-limits.ts'
import { type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { applyRecord } from '../../../src/engine/book/apply-record.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { showUtc } from '../../../src/lib/text/show-utc.ts'
import { accepted, EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const HOUR = 3_600_000
/** 100 lots of 0.001, bought at 10,000. */
const LOTS = 100
const SIZE = 0.1
const ENTRY = 10_000
const LONG = { longLots: LOTS, shortLots: 0 }

function limited(scope: Scope, limits: LossLimits): EngineBench {
  const losses = { timeZone: 'UTC', coolDownMs: HOUR, limits: new Map([[scope, limits]]) }
  return new EngineBench({ capital: decimal('1000'), losses }).start()
}

/** All lots are bought at 10,000, and the exchange says what they are worth. */
function holding(scope: Scope, limits: LossLimits): EngineBench {
  const bench = limited(scope, limits)
  trade(bench, LOTS, 0)
  worth(bench, 0)
  return bench
}

/** The strategy wants another position, and has it at 10,000, with the profit that the exchange states. */
function trade(bench: EngineBench, target: number, profit: number): void {
  const held = bench.book.holdings.get(`${STRATEGY}|${SYMBOL}`)?.longLots ?? 0
  const side = target > held ? 'buy' : 'sell'
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: target })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const order = {
    orderId: toOrderId(`${batch.batchId}001`),
    side,
    lots: Math.abs(target - held),
  } as const
  const fill = bench.fill({
    ...order,
    ticks: 100_000,
    profit: String(profit),
    fee: '0',
    scope: 'taker',
  })
  bench.step({
    kind: 'fillsRead',
    reading: { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now },
  })
}

/** New prices come, at which the position is worth so much, and it is read: the exchange says the same. */
function worth(bench: EngineBench, unrealised: number): void {
  bench.now += 100
  const { longLots } = bench.book.account.get(SYMBOL) ?? { longLots: 0 }
  const price = ENTRY + unrealised / SIZE
  bench.price(price)
  const row = {
    holdSide: 'long',
    lots: longLots,
    openPriceAvg: ENTRY,
    fundingFee: '',
    markPrice: price,
    liquidationPrice: 0,
    positionMode: 'one_way_mode',
    unrealisedProfit: String(unrealised),
  } as const
  const reading = { symbol: SYMBOL, rows: longLots > 0 ? [row] : [], isSilent: false }
  bench.step({
    kind: 'positionRead',
    reading: { ...reading, requestedAt: bench.now, exchangeTime: bench.now },
  })
}

/** Two readings, of different answers, say so. */
function worthTwice(bench: EngineBench, unrealised: number): void {
  worth(bench, unrealised)
  worth(bench, unrealised)
}

const release = (bench: EngineBench, scope: Scope, newPeak?: boolean): void => {
  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope, reason: 'looked', by: 'anna', newPeak },
  })
}

const codes = (bench: EngineBench): string[] =>
  [...bench.book.restrictions.values()].map(({ code }) => code)

const events = (bench: EngineBench): string[] => bench.take('announce').map(({ event }) => event)

describe('[RSK2] a daily loss', () => {
  test.each([['*'], [SYMBOL]])(
    'of %s lets only orders leave that reduce, from the limit on',
    (scope) => {
      const bench = holding(scope, { daily: 50 })

      worth(bench, -49.99)
      expect(codes(bench)).toEqual([])

      worth(bench, -50)
      expect(bench.engine.restrictions).toMatchObject([
        { scope, mode: 'reducing', code: 'dailyLoss' },
      ])
      expect(events(bench)).toContain('limits.reached')
    },
  )

  test('that is reached has the buys of a ladder cancelled, and its sells placed again', () => {
    const bench = holding('*', { daily: 5 })
    bench.quote(
      { side: 'buy', ticks: 99_400, lots: 10 },
      { side: 'sell', ticks: 100_010, lots: 10 },
    )
    bench.accept(bench.grantBatch())

    worth(bench, -5)
    bench.answerCancel(bench.grantCancel().cancelId, accepted({ successList: [], failureList: [] }))
    bench.pass(4000, { holding: LONG })

    const { clientOids } = bench.grantBatch()
    expect(clientOids.map((id) => bench.book.orders.get(id)?.terms.action)).toEqual(['openShort'])
  })

  test('is reached at the limit itself, whatever sums of floats come to', () => {
    for (let cents = 1; cents <= 100; cents += 1) {
      const limit = cents / 100
      const bench = holding('*', { daily: limit })
      worth(bench, -0.1)
      bench.now += 24 * HOUR
      worth(bench, -60.1)
      worth(bench, Number((-60.1 - limit).toFixed(2)))
      expect([limit, codes(bench).includes('dailyLoss')]).toEqual([limit, true])
    }
  })

  test('begins anew where the clock was ahead when the day began', () => {
    const bench = holding('*', { daily: 50 })
    bench.now += 40 * 24 * HOUR
    worth(bench, -1)
    bench.now -= 39 * 24 * HOUR
    for (const day of [1, 2, 3, 4, 5]) {
      worth(bench, -20 * day)
      bench.now += 24 * HOUR
    }

    expect(codes(bench)).toEqual([])
  })

  test('counts what was realised as well, once', () => {
    const bench = holding('*', { daily: 50 })
    worth(bench, -30)

    trade(bench, 0, -30)
    worth(bench, 0)

    expect(codes(bench)).toEqual([])
  })

  test('is not judged between a fill and the reading that knows of it', () => {
    const bench = holding('*', { daily: 50 })
    worth(bench, -30)

    trade(bench, 40, -30)

    expect(codes(bench)).toEqual([])
  })

  test('is not judged by a reading that was refused: what was worth something before was realised meanwhile', () => {
    const bench = holding('*', { daily: 50 })
    worth(bench, -30)
    trade(bench, 0, -30)

    const at = { requestedAt: bench.now, exchangeTime: bench.now - HOUR }
    bench.step({
      kind: 'positionRead',
      reading: { symbol: SYMBOL, rows: [], isSilent: false, ...at },
    })

    expect(events(bench)).toContain('read.failed')
    expect(codes(bench)).toEqual([])
  })

  test('counts from a release on, and from the next day on', () => {
    const bench = holding('*', { daily: 50 })
    worth(bench, -60)
    release(bench, '*')

    worth(bench, -100)
    expect(codes(bench)).toEqual([])
    bench.now += 24 * HOUR
    worth(bench, -100)
    worth(bench, -149.99)
    expect(codes(bench)).toEqual([])

    worth(bench, -150)
    expect(codes(bench)).toEqual(['dailyLoss'])
  })

  test.each([[-900], [900]])('[MON1] counts from no single reading: one says %s', (wrong) => {
    const bench = holding('*', { daily: 50 })
    worthTwice(bench, -20)
    bench.now += 24 * HOUR
    worth(bench, wrong)
    worthTwice(bench, -20)
    release(bench, '*')

    worth(bench, -69.99)
    expect(codes(bench)).toEqual([])
    worth(bench, -70)
    expect(codes(bench)).toEqual(['dailyLoss'])
  })

  test('of a strategy is what its own entry has lost', () => {
    const bench = holding(strategyScope(STRATEGY), { daily: 10 })
    worth(bench, -9.9)
    expect(codes(bench)).toEqual([])

    worth(bench, -10.1)
    expect(bench.engine.restrictions).toMatchObject([{ scope: 'strategy:s', code: 'dailyLoss' }])
  })

  test('is off where nothing is limited: nothing is written down', () => {
    const bench = new EngineBench().start()
    trade(bench, LOTS, 0)

    worth(bench, -900)

    expect(bench.recordsOf('watermark')).toEqual([])
    expect(codes(bench)).toEqual([])
  })
})

describe('[RSK2] a drawdown', () => {
  const drawdown = { warn: 0.05, reducing: 0.1, flatten: 0.2 }

  test('is a share of the peak of the equity: warned, reduced, closed and halted', () => {
    const bench = holding('*', { drawdown })
    worthTwice(bench, 1000) // equity 2000
    bench.take('announce')

    worth(bench, 901)
    expect(events(bench)).not.toContain('limits.warned')
    worth(bench, 900)
    expect(events(bench)).toContain('limits.warned')
    worth(bench, 890)
    expect(events(bench)).not.toContain('limits.warned')
    worth(bench, 800)
    expect(codes(bench)).toEqual(['drawdown'])
    worth(bench, 600)
    expect(codes(bench)).toEqual(['drawdown'])
    worth(bench, 600)

    expect(codes(bench)).toEqual(['drawdown', 'drawdownFlatten', 'flatten'])
    bench.pass(100, { holding: LONG })
    const [clientOid] = bench.grantBatch().clientOids
    expect(clientOid && bench.book.orders.get(clientOid)?.terms).toMatchObject({
      action: 'closeLong',
      lots: LOTS,
    })
  })

  /** Reducing at 12 % of the peak, from which the earlier steps count no more. */
  function releasedAt880(): EngineBench {
    const bench = holding('*', { drawdown })
    worthTwice(bench, -120)
    bench.now += HOUR
    bench.take('announce')
    release(bench, '*')
    return bench
  }

  test('has a last step that goes on from its peak when an earlier one is released', () => {
    const bench = releasedAt880()
    const [moved] = bench.take('announce').filter(({ event }) => event === 'limits.peakMoved')
    expect(moved?.fields).toMatchObject({
      from: '1000.00',
      to: '880.00',
      below: '12.00 %',
      limits: 'warn at 836.00, reducing at 792.00, flatten at 800.00',
    })
    worthTwice(bench, -199)
    expect(codes(bench)).toEqual([])
    expect(bench.engine.losses.get('*')).toMatchObject({
      lastDrawdown: 0.199,
      peak: -120,
      lastPeak: 0,
    })
    expect(bench.engine.equity).toMatchObject({ peak: 1000 })

    worthTwice(bench, -200)

    expect(codes(bench)).toEqual(['drawdownFlatten', 'flatten'])
  })

  test('[DET2] keeps the peak of its last step over a restart, until the others have risen above it', () => {
    const bench = releasedAt880()
    worthTwice(bench, -120)
    const { watermarks } = bench.book
    expect(watermarks.get('*')).toMatchObject({ peak: -120, lastPeak: 0 })
    expect([...fromBookRows(toBookRows(bench.book)).watermarks]).toEqual([...watermarks])

    bench.restart().start({ holding: LONG })

    expect(bench.book.watermarks.get('*')).toMatchObject({ peak: -120, lastPeak: 0 })
    worthTwice(bench, 10)
    expect(bench.book.watermarks.get('*')?.lastPeak).toBeUndefined()
    expect(bench.engine.losses.get('*')).toMatchObject({ peak: 10, lastPeak: 10 })
  })

  test('whose last step would fire again at once is not released, but for a new peak', () => {
    const bench = holding('*', { drawdown })
    worthTwice(bench, -210)
    bench.now += HOUR
    const held = codes(bench)
    bench.take('announce')

    const plan = bench.engine.planPeakRelease({ scope: '*', reason: 'looked', by: 'anna' })
    release(bench, '*')
    expect(codes(bench)).toEqual(held)
    expect(
      bench.take('announce').filter(({ event }) => event === 'limits.notReleased'),
    ).toMatchObject([{ fields: { from: '1000.00', to: '790.00', closesBelow: '800.00' } }])
    const answer = { held: [], lifted: [], killFiles: [], stillHeld: {}, isScopeUnknown: false }
    expect(
      describeRefusedRelease('*', [{ ...answer, unclosable: {}, ...(plan && { peak: plan }) }], ''),
    ).toBe(
      'not done: * is at 790.00, 21.00 % below its peak of 1000.00, and the last step of its drawdown (flatten at 800.00) would close everything again at once; release it when it is above that, or with --new-peak, which counts every step from 790.00',
    )

    release(bench, '*', true)
    expect(codes(bench)).toEqual([])
    const [moved] = bench.take('announce').filter(({ event }) => event === 'limits.peakMoved')
    expect(moved?.fields['limits']).toBe('warn at 750.50, reducing at 711.00, flatten at 632.00')
    worthTwice(bench, -210)
    expect(bench.engine.losses.get('*')).toMatchObject({ peak: -210, lastPeak: -210 })
  })

  test('is not released while a part of its profit is unknown, neither to a new peak', () => {
    const bench = holding('*', { drawdown })
    worthTwice(bench, -150)
    expect(codes(bench)).toEqual(['drawdown'])
    bench.now += HOUR
    bench.price(10_000, undefined, { lastPr: 0 })
    bench.take('announce')
    const row = { holdSide: 'long', lots: LOTS, openPriceAvg: ENTRY, fundingFee: '' } as const
    const mark = { markPrice: ENTRY, liquidationPrice: 0, unrealisedProfit: '0' } as const
    const rows = [{ ...row, ...mark, positionMode: 'one_way_mode' as const }]
    const read = { symbol: SYMBOL, isSilent: false, requestedAt: bench.now }
    const reading = { ...read, rows, exchangeTime: bench.now }
    bench.step({ kind: 'positionRead', reading })
    expect(bench.engine.losses.get('*')).toBeUndefined()

    for (const newPeak of [false, true]) {
      const order = { scope: '*', reason: 'looked', by: 'anna', newPeak }
      const refusal = bench.engine.objectToRelease(order)
      expect(refusal).toContain('how far * is below its peak is not known now')
      expect(judgeRelease(bench.engine, order)).toEqual({ refusal })
      release(bench, '*', newPeak)
    }
    expect(codes(bench)).toEqual(['drawdown'])
    expect(events(bench)).toEqual(['limits.notReleased', 'limits.notReleased'])

    worthTwice(bench, -150)
    release(bench, '*')
    expect(codes(bench)).toEqual([])
  })

  test('takes a new peak for every step also where nothing holds it', () => {
    const bench = releasedAt880()
    worthTwice(bench, -150)

    release(bench, '*', true)
    worthTwice(bench, -200)

    expect(codes(bench)).toEqual([])
    expect(bench.engine.losses.get('*')).toMatchObject({ lastPeak: -150 })
  })

  test('without a last step is counted from a new peak alone', () => {
    const bench = holding('*', { drawdown: { reducing: 0.1 } })
    worthTwice(bench, -150)
    bench.now += HOUR

    release(bench, '*')

    expect(bench.book.watermarks.get('*')).toMatchObject({ peak: null })
    expect(bench.book.watermarks.get('*')?.lastPeak).toBeUndefined()
  })

  test('[DET2] of a journal of before counts every step anew after its release', () => {
    const bench = holding('*', { drawdown })
    worthTwice(bench, -120)
    const book = fromBookRows(toBookRows(bench.book))
    const released = {
      kind: 'released',
      at: bench.now,
      scope: '*',
      reason: 'looked',
      by: 'anna',
    } as const

    applyRecord(book, released)

    expect(book.watermarks.get('*')).toMatchObject({ peak: null })
    expect(book.watermarks.get('*')?.lastPeak).toBeUndefined()
  })

  test('is judged after more was withdrawn than the capital, out of profit', () => {
    const bench = holding('*', { drawdown: { reducing: 0.2 } })
    for (const profit of [500, 1000, 1500, 2000, 2000]) worthTwice(bench, profit)
    const command = { kind: 'deposit', amount: '-1500', key: 'key-of-profit' } as const
    bench.step({ kind: 'commanded', command: { ...command, reason: 'spent', by: 'anna' } })
    expect(bench.engine.equity).toMatchObject({ equity: 1500 })

    worthTwice(bench, 1701)
    expect(codes(bench)).toEqual([])
    worthTwice(bench, 1699)
    expect(codes(bench)).toEqual(['drawdown'])
  })

  test('is released after the cool-down, and then counted from a new peak', () => {
    const bench = holding('*', { drawdown })
    worth(bench, -150)
    bench.take('announce')

    release(bench, '*')
    expect(codes(bench)).toEqual(['drawdown'])
    expect(bench.take('announce')).toMatchObject([
      { event: 'limits.coolDown', fields: { leftMs: HOUR } },
    ])
    const asked = { kind: 'release', scope: '*', reason: 'too early', by: 'a test' } as const
    const { coolsDownUntil } = judgeScope(asked, bench)
    expect(coolsDownUntil).toBe(bench.now + HOUR)
    expect(
      judgeScope(asked, { book: bench.book, settings: bench.settings, now: bench.now + HOUR }),
    ).not.toHaveProperty('coolsDownUntil')
    const answer = { held: [], lifted: [], killFiles: [], stillHeld: {}, isScopeUnknown: false }
    expect(describeRefusedRelease('*', [{ ...answer, unclosable: {}, coolsDownUntil }], '')).toBe(
      `not done: * cools down until ${showUtc(bench.now + HOUR)} (risk.losses.coolDownMs); release it then`,
    )

    bench.now += HOUR
    release(bench, '*')
    const [moved] = bench.take('announce').filter(({ event }) => event === 'limits.peakMoved')
    expect(moved?.fields).toMatchObject({
      scope: '*',
      by: 'anna',
      below: expect.stringMatching(/%$/),
    })
    expect(Number(moved?.fields['from'])).toBeGreaterThan(Number(moved?.fields['to']))
    expect(moved?.fields['limits']).toMatch(/ at \d/)
    expect(codes(bench)).toEqual([])
    worth(bench, -160)
    expect(codes(bench)).toEqual([])
    worth(bench, -160 - 85)
    expect(codes(bench)).toEqual(['drawdown'])
  })

  test('[MON1] is counted from no peak that a single reading says after a release', () => {
    const bench = holding('*', { drawdown })
    worthTwice(bench, -150)
    bench.now += HOUR
    release(bench, '*')

    worth(bench, 900)
    worthTwice(bench, -150)

    expect(codes(bench)).toEqual([])
    expect(bench.book.watermarks.get('*')?.peak).toBe(-150)
  })

  test('is released an hour into the run where the clock was ahead when it was reached', () => {
    const bench = holding('*', { drawdown })
    bench.now += 40 * 24 * HOUR
    worth(bench, -150)
    bench.now -= 39 * 24 * HOUR
    const again = bench.restart().start({ holding: LONG })
    release(again, '*')
    expect(codes(again)).toEqual(['drawdown'])

    again.now += HOUR
    release(again, '*')
    expect(codes(again)).toEqual([])
  })

  test('of an instrument is an amount below the peak of what it has made', () => {
    const bench = holding(SYMBOL, { drawdown: { reducing: 30 } })
    worthTwice(bench, 200)

    worth(bench, 171)
    expect(codes(bench)).toEqual([])
    worth(bench, 170)

    expect(bench.engine.restrictions).toMatchObject([
      { scope: SYMBOL, mode: 'reducing', code: 'drawdown' },
    ])
  })

  test('[DET2] peak and day survive a restart, but for a rise that is too small to be written down', () => {
    const bench = holding('*', { daily: 100, drawdown })
    worthTwice(bench, 100)
    worthTwice(bench, 100.5)
    const { watermarks } = bench.book

    bench.restart().start({ holding: LONG })

    expect([...bench.book.watermarks]).toEqual([...watermarks])
    expect(bench.book.watermarks.get('*')).toMatchObject({ dayNet: 0, peak: 100 })
    expect([...fromBookRows(toBookRows(bench.book)).watermarks]).toEqual([...watermarks])
    worth(bench, -10)
    expect(codes(bench)).toEqual(['drawdown'])
  })

  test('a stop writes down what the peak has risen since', () => {
    const bench = holding('*', { drawdown })
    worthTwice(bench, 0.5)

    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })

    expect(bench.book.watermarks.get('*')?.peak).toBe(0.5)
  })

  test('[BND1] what rises and falls all day is one entry of the book, and few records', () => {
    const bench = holding('*', { drawdown: { warn: 0.5 } })
    const before = bench.recordsOf('watermark').length

    for (let round = 0; round < 500; round++) worth(bench, 20 * Math.sin(round / 10))

    expect(bench.book.watermarks.size).toBe(1)
    expect(bench.recordsOf('watermark').length - before).toBeLessThanOrEqual(20)
  })
})

describe('[RSK2] a losing streak', () => {
  function lose(bench: EngineBench, profit: number): void {
    trade(bench, LOTS, 0)
    worth(bench, 0)
    trade(bench, 0, profit)
    worth(bench, 0)
  }

  test('halts the strategy at so many trades in a row that lost', () => {
    const bench = limited(strategyScope(STRATEGY), { streak: 2 })
    for (const profit of [-1, 1, -1]) lose(bench, profit)
    expect(codes(bench)).toEqual([])

    lose(bench, -1)

    expect(bench.engine.restrictions).toMatchObject([
      { scope: 'strategy:s', mode: 'halted', code: 'losingStreak' },
    ])
  })

  test('begins anew after a release', () => {
    const bench = limited(strategyScope(STRATEGY), { streak: 1 })
    lose(bench, -1)
    release(bench, strategyScope(STRATEGY))

    worth(bench, 0)

    expect(codes(bench)).toEqual([])
  })
})
