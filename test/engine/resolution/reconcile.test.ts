import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { holdingOf } from '../../../src/engine/book/book.ts'
import { EngineBench, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const HELD = { longLots: 7, shortLots: 0 }

function poll(bench: EngineBench, account: Parameters<EngineBench['read']>[0] = {}): void {
  bench.step({ kind: 'pollDue', what: 'positions' })
  bench.read(account)
  bench.pass(1_100, account)
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read(account)
}

describe('[ORD5] the position of the exchange', () => {
  test('that differs by as much for ten seconds is adopted, and its instrument halted', () => {
    const bench = new EngineBench().start()

    for (let polls = 0; polls < 8; polls++) poll(bench, { holding: HELD })
    expect(bench.recordsOf('adopt')).toEqual([])
    for (let polls = 0; polls < 5; polls++) poll(bench, { holding: HELD })

    expect(bench.recordsOf('adopt')).toMatchObject([
      { holding: HELD, was: { longLots: 0, shortLots: 0 } },
    ])
    expect(bench.halts.get(SYMBOL)).toMatch(/position/)
    const said = bench.take('announce').filter(({ event }) => event.startsWith('position.'))
    expect(said).toMatchObject([
      { event: 'position.unexplained', level: 'warn', fields: { longLots: 7, knownLongLots: 0 } },
      { event: 'position.adopted' },
    ])
  })

  test('that is empty, or another, for some seconds takes nothing from a strategy, and nothing that adds leaves', () => {
    const bench = new EngineBench({
      limits: { ...new EngineBench().settings.limits, accountAgeMaxMs: 3000 },
    }).start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const held = { longLots: 4, shortLots: 0 }
    poll(bench, { holding: held, fills: [bench.fill({})] })
    for (const wrong of [
      { longLots: 0, shortLots: 0 },
      { longLots: 0, shortLots: 10 },
    ]) {
      for (let polls = 0; polls < 4; polls++) poll(bench, { holding: wrong })
      const [stale] = bench.engine.staleReadings(bench.now)
      expect(stale).toMatchObject({
        what: `position ${SYMBOL}`,
        reason: 'it is not what the fills explain',
      })
      for (let polls = 0; polls < 3; polls++) poll(bench, { holding: held })
    }

    expect([bench.recordsOf('adopt'), bench.recordsOf('restricted')]).toEqual([[], []])
    expect(bench.engine.staleReadings(bench.now)).toEqual([])
  })

  test('that was wrong until it was believed, and is right again, gives strategies back what they had', () => {
    const bench = new EngineBench().start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
    const batch = bench.grantBatch()
    bench.accept(batch)
    const fill = bench.fill({
      orderId: `${batch.batchId}001` as Fill['orderId'],
      ticks: 100_010,
      scope: 'taker',
    })
    const held = { longLots: 4, shortLots: 0 }
    poll(bench, { holding: held, fills: [fill] })
    expect(holdingOf(bench.book, STRATEGY, SYMBOL)).toEqual(held)

    for (let polls = 0; polls < 14; polls++) poll(bench, { holding: { longLots: 0, shortLots: 0 } })
    expect(holdingOf(bench.book, STRATEGY, SYMBOL)).toEqual({ longLots: 0, shortLots: 0 })
    for (let polls = 0; polls < 14; polls++) poll(bench, { holding: held })

    expect(holdingOf(bench.book, STRATEGY, SYMBOL)).toEqual(held)
    expect([...bench.halts.keys()]).toEqual([SYMBOL])
    bench.step({
      kind: 'commanded',
      command: { kind: 'release', scope: SYMBOL, reason: 'looked', by: 'anna' },
    })
    bench.price()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
    bench.pass(1000, { holding: held })
    expect(bench.recordsOf('send')).toHaveLength(1)
  })

  test('that was wrong and is right again gives nothing back where somebody has traded in between', () => {
    const bench = new EngineBench({ foreignFills: 'adopt' }).start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
    const batch = bench.grantBatch()
    bench.accept(batch)
    const orderId = `${batch.batchId}001` as Fill['orderId']
    const fill = bench.fill({ orderId, ticks: 100_010, scope: 'taker' })
    const held = { longLots: 4, shortLots: 0 }
    poll(bench, { holding: held, fills: [fill] })
    for (let polls = 0; polls < 14; polls++) poll(bench, { holding: { longLots: 0, shortLots: 0 } })
    // Somebody has bought three lots and sold them again: nobody can say which four are left.
    const byHand = (['buy', 'sell'] as const).map((side, index) =>
      bench.fill({ side, lots: 3, source: 'WEB', orderId: `900${index}` as Fill['orderId'] }),
    )
    for (let polls = 0; polls < 20; polls++)
      poll(bench, { holding: held, fills: [fill, ...byHand] })

    expect(bench.book.account.get(SYMBOL)).toEqual(held)
    expect(holdingOf(bench.book, STRATEGY, SYMBOL)).toEqual({ longLots: 0, shortLots: 0 })
    expect(bench.recordsOf('assigned')).toEqual([])
  })

  test.each([
    ['says nothing', { isSilent: true, exchangeTime: 0 }],
    ['has a time that cannot be true', { isSilent: false, exchangeTime: 600_000 }],
  ])(
    'that %s is a read that failed: it proves nothing and holds nothing up',
    (_, { isSilent, exchangeTime }) => {
      const bench = new EngineBench().start({ holding: HELD })
      for (let times = 0; times < 14; times++) poll(bench, { holding: HELD })
      for (let times = 0; times < 3; times++) {
        const requestedAt = bench.now
        const reading = {
          symbol: SYMBOL,
          rows: [],
          isSilent,
          requestedAt,
          exchangeTime: bench.now + exchangeTime,
        }
        bench.step({ kind: 'positionRead', reading })
        poll(bench, { holding: HELD })
      }
      expect(bench.recordsOf('adopt')).toHaveLength(1)

      for (let times = 0; times < 14; times++)
        poll(bench, { holding: { longLots: 9, shortLots: 0 } })
      expect(bench.recordsOf('adopt').at(-1)).toMatchObject({ holding: { longLots: 9 }, was: HELD })
    },
  )

  test('that differs once is looked at again, and forgotten', () => {
    const bench = new EngineBench().start()

    poll(bench, { holding: HELD })
    poll(bench)
    poll(bench)

    expect([bench.recordsOf('adopt'), bench.recordsOf('restricted')]).toEqual([[], []])
  })

  test('is compared with the book as it stood then: a racing fill is no mismatch', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = []
    for (let round = 1; round <= 8; round++) {
      bench.step({ kind: 'pollDue', what: 'positions' })
      bench.read({ holding: { longLots: round - 1, shortLots: 0 }, fills })
      bench.now += 700
      fills.push(bench.fill({ lots: 1 }))
      bench.price()
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ holding: { longLots: round, shortLots: 0 }, fills })
    }

    expect([bench.recordsOf('adopt'), bench.recordsOf('restricted')]).toEqual([[], []])
    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 8, shortLots: 0 })
  })

  test('that a first run finds is adopted and halted too: its journal may have been lost', () => {
    const bench = new EngineBench().start({ holding: HELD })

    expect(bench.engine.phase).toBe('running')
    expect(bench.book.account.get(SYMBOL)).toEqual(HELD)
    expect(bench.halts.get(SYMBOL)).toMatch(/position/)
  })

  test('holds up the start until it was read', () => {
    const bench = new EngineBench()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    for (let step = 0; step < 100; step++) {
      bench.now += 50
      bench.step({ kind: 'timePassed' })
    }

    expect(bench.engine.phase).toBe('starting')
    expect(bench.recordsOf('boot')).toHaveLength(1)
  })
})

describe('[ORD5] a restart', () => {
  test('takes what was on the wire for unknown, and finds its fate', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.grantBatch()

    bench.restart().start()

    expect(bench.states()).toEqual(['unknown'])
  })

  test.each([
    ['cancel', [{ endpoint: 'cancelAllOrders' }]],
    ['adopt', []],
  ] as const)('with %s treats what rests so', (onRestart, asked) => {
    const bench = new EngineBench({ onRestart }).start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())

    bench.restart().start()

    expect(bench.take('askGrant')).toMatchObject(asked)
  })

  test.each([
    ['was an hour ahead', -3_600_000],
    ['was an hour behind', 3_600_000],
  ])(
    '[ORD4] whose clock %s proves the end of an order that cannot rest from its own begin on',
    (_, ms) => {
      const bench = new EngineBench().start()
      bench.decide({ kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 5 })
      bench.accept(bench.grantBatch())
      bench.now += ms
      bench.restart()
      bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
      bench.step({ kind: 'started' })
      const { fillVisibilityMs, matchingLagMs } = bench.settings.execution
      const provedAt = bench.now + matchingLagMs + fillVisibilityMs

      const states = [provedAt, provedAt + 1].flatMap((requestedAt) => {
        bench.now = requestedAt
        const reading = { fills: [], sinceAt: 0, requestedAt, exchangeTime: requestedAt }
        bench.step({ kind: 'fillsRead', reading })
        return bench.states()
      })

      expect(states).toEqual(['live', 'done'])
    },
  )

  test('[ORD2] drops a key that was used before', () => {
    const place = { kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 5 } as const
    const bench = new EngineBench().start()
    bench.decide(place)
    bench.accept(bench.grantBatch())

    bench.restart().start()
    bench.decide(place)

    expect(bench.engine.denied.get('KEY_REUSED')).toBe(1)
  })
})

describe('a fill', () => {
  test('heard twice counts once', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({})]

    bench.pass(3_000, { fills, holding: { longLots: 4, shortLots: 0 } })
    for (let round = 0; round < 3; round++) {
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ fills })
    }

    expect(bench.book.money.get(`s|${SYMBOL}`)?.fills).toBe(1)
  })

  test.each([
    ['one_way_mode', 'sell'],
    ['hedge_mode', 'buy'],
  ] as const)('of a liquidation in %s takes from who holds that side, and halts', (mode, side) => {
    const bench = new EngineBench({}, mode).start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({ lots: 10 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills })

    fills.push(
      bench.fill({ orderId: '5' as never, source: 'SYS', side, tradeSide: 'close', lots: 10 }),
    )
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills })

    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual({ longLots: 0, shortLots: 0 })
    expect(bench.book.account.get(SYMBOL)).toEqual({ longLots: 0, shortLots: 0 })
    expect(bench.halts.has(SYMBOL)).toBe(true)
  })

  test('of an order whose answer named no id finds that order', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    const batch = bench.grantBatch()
    bench.answer(batch.batchId, {
      kind: 'accepted',
      data: {
        successList: [{ clientOid: batch.clientOids[0] ?? '', orderId: null }],
        failureList: [],
      },
      receivedAt: 0,
    })

    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [bench.fill({ lots: 10 })] })

    expect(bench.states()).toEqual(['filled'])
  })
})

describe('funding', () => {
  /** A position of ten lots whose counter stands there; the exchange closes it when it is undefined. */
  function read(bench: EngineBench, fundingFee: string | undefined, fills: readonly Fill[]): void {
    const holding = { longLots: fundingFee === undefined ? 0 : 10, shortLots: 0 }
    bench.now += 1000
    for (const what of ['fills', 'positions', 'fills'] as const) {
      bench.step({ kind: 'pollDue', what })
      bench.read({ fills, holding, ...(fundingFee === undefined ? {} : { fundingFee }) })
      bench.now += 1000
    }
  }

  test('adds up what each position was charged or given, with its sign, over positions, restarts and checkpoints', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const opened = bench.fill({ lots: 10 })
    for (const counter of ['', '-0.5', '-0.5', '-0.8']) read(bench, counter, [opened])
    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.8')

    const closed = bench.fill({
      side: 'sell',
      tradeSide: 'close',
      lots: 10,
      source: 'SYS',
      orderId: '9001' as never,
    })
    read(bench, undefined, [opened, closed])
    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.8')
    const again = bench.fill({ lots: 10, source: 'SYS', orderId: '9002' as never })
    for (const counter of ['', '0.2']) read(bench, counter, [opened, closed, again])

    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.6')
    expect(fromBookRows(toBookRows(bench.book)).funding.get(SYMBOL)?.toString()).toBe('-0.6')
    expect(bench.restart().book.funding.get(SYMBOL)?.toString()).toBe('-0.6')
  })
})

test('[MON1] a payment larger than any counts when two readings state it, and not when one is heard twice', () => {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  const opened = bench.fill({ lots: 10 })
  poll(bench, { holding: { longLots: 10, shortLots: 0 }, fills: [opened] })
  const row = {
    holdSide: 'long',
    lots: 10,
    openPriceAvg: 10_000,
    unrealisedProfit: '0',
    fundingFee: '-30',
    markPrice: 10_000,
    liquidationPrice: 0,
    positionMode: 'one_way_mode',
  } as const
  let requestedAt = 0
  /** The fills are known beyond the moment of the reading. */
  const hear = (): void => {
    bench.step({
      kind: 'positionRead',
      reading: {
        symbol: SYMBOL,
        rows: [row],
        isSilent: false,
        requestedAt,
        exchangeTime: requestedAt,
      },
    })
    bench.now += 1000
    bench.step({ kind: 'pollDue', what: 'fills' })
    for (const { sinceAt } of bench.take('readFills')) {
      const at = { requestedAt: bench.now, exchangeTime: bench.now }
      bench.step({ kind: 'fillsRead', reading: { fills: [opened], sinceAt, ...at } })
    }
  }
  bench.now += 5000
  requestedAt = bench.now
  hear()
  // It is heard again before another one comes.
  hear()
  expect(bench.book.funding.get(SYMBOL)).toBeUndefined()
  requestedAt = bench.now
  hear()

  expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-30')
})

describe('funding is counted once', () => {
  /** Ten lots are held, and their counter stands at -0.5. */
  function hold(bench: EngineBench): Fill {
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const opened = bench.fill({ lots: 10 })
    poll(bench, { fills: [opened] })
    for (let times = 0; times < 2; times++)
      poll(bench, { fills: [opened], holding: { longLots: 10, shortLots: 0 }, fundingFee: '-0.5' })
    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.5')
    return opened
  }

  test('where an answer lists nothing, once, of a position that stands', () => {
    const bench = new EngineBench().start()
    const opened = hold(bench)

    poll(bench, { fills: [opened] })
    for (let times = 0; times < 2; times++)
      poll(bench, { fills: [opened], holding: { longLots: 10, shortLots: 0 }, fundingFee: '-0.5' })

    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.5')
  })

  test('where an answer of before the close comes after its fill', () => {
    const bench = new EngineBench().start()
    const opened = hold(bench)
    const closed = bench.fill({
      side: 'sell',
      tradeSide: 'close',
      lots: 10,
      source: 'SYS',
      orderId: '9001' as never,
      filledAt: bench.now + 1,
    })
    bench.step({ kind: 'pollDue', what: 'positions' })
    bench.now += 200
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.take('readFills')
    const times = { sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
    bench.step({ kind: 'fillsRead', reading: { fills: [opened, closed], ...times } })
    bench.now -= 200
    bench.read({ holding: { longLots: 10, shortLots: 0 }, fundingFee: '-0.5' })
    bench.now += 200
    for (let round = 0; round < 2; round++) poll(bench, { fills: [opened, closed] })

    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.5')
  })
})

describe.each(['long', 'short'] as const)('the funding counter of a %s', (holdSide) => {
  test('ends with its position, also where no reading saw that it was closed', () => {
    const bench = new EngineBench({}, 'hedge_mode').start()
    const tenLots = { side: holdSide === 'long' ? 'buy' : 'sell', lots: 10, source: 'SYS' } as const
    const holding = { longLots: 0, shortLots: 0, [`${holdSide}Lots`]: 10 }
    const fills = [bench.fill({ ...tenLots, orderId: '9001' as never })]
    poll(bench, { fills, holding })
    for (let times = 0; times < 2; times++) poll(bench, { fills, holding, fundingFee: '-0.5' })
    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.5')

    fills.push(bench.fill({ ...tenLots, tradeSide: 'close', orderId: '9002' as never }))
    fills.push(bench.fill({ ...tenLots, orderId: '9003' as never }))
    for (let times = 0; times < 3; times++) poll(bench, { fills, holding, fundingFee: '-0.3' })

    expect(bench.book.funding.get(SYMBOL)?.toString()).toBe('-0.8')
  })
})

describe('a fill that is dated months ahead', () => {
  test('moves no reading of fills into the future, and is no difference to the position', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const ahead = bench.fill({ lots: 10, filledAt: bench.now + 100 * 86_400_000 })
    const account = { fills: [ahead], holding: { longLots: 10, shortLots: 0 } }

    for (let times = 0; times < 3; times++) poll(bench, account)
    const knownAt = bench.now
    bench.now += 600_000
    bench.step({ kind: 'pollDue', what: 'fills' })

    expect(bench.take('readFills').at(-1)?.sinceAt).toBeLessThan(knownAt)
    expect(bench.recordsOf('adopt')).toEqual([])
    expect(bench.halts.size).toBe(0)
  })
})

describe('what is forgotten', () => {
  test('never includes a trade that is still read again, because an order is unresolved', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({})]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills })
    bench.quote({ ...BID, ticks: 99_980 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)

    bench.step({ kind: 'timePassed' })
    bench.now += 2 * 3_600_000
    bench.step({ kind: 'timePassed' })
    bench.take('readFills')
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills })

    expect(bench.book.trades.size).toBe(1)
    expect(bench.book.money.get(`s|${SYMBOL}`)?.fills).toBe(1)
  })
})
