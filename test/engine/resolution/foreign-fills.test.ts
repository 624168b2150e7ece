import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { UNSETTLED_MOVES_MAX } from '../../../src/engine/book/allocation.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const MODES: readonly PositionMode[] = ['one_way_mode', 'hedge_mode']

function read(bench: EngineBench, fills: readonly Fill[]): void {
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills })
}

/** A core whose strategy has bought ten lots. */
function holding(mode: PositionMode, foreignFills: 'halt' | 'adopt') {
  const bench = new EngineBench({ foreignFills }, mode).start()
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  bench.accept(bench.grantBatch())
  const fills = [bench.fill({ lots: 10 })]
  read(bench, fills)
  /** A fill that no order of ours made. */
  const hear = (change: Partial<Fill>): void => {
    fills.push(
      bench.fill({ orderId: `5${fills.length}` as Fill['orderId'], scope: 'taker', ...change }),
    )
    read(bench, fills)
  }
  return { bench, hear }
}

/** What closes a long, and what opens one, as each position mode shows it. */
const CLOSE: Readonly<Record<PositionMode, Partial<Fill>>> = {
  one_way_mode: { side: 'sell', tradeSide: 'close' },
  hedge_mode: { side: 'buy', tradeSide: 'close' },
}
const OPEN: Partial<Fill> = { side: 'buy', tradeSide: 'open' }

function lotsOf(bench: EngineBench): readonly [number | undefined, number | undefined] {
  return [
    bench.book.holdings.get(`s|${SYMBOL}`)?.longLots,
    bench.book.account.get(SYMBOL)?.longLots,
  ]
}

describe.each(MODES)('[ORD5] in %s, fills that are not ours', (mode) => {
  test.each(['halt', 'adopt'] as const)('of a liquidation, by the policy %s', (policy) => {
    const { bench, hear } = holding(mode, policy)
    const change = {
      ...CLOSE[mode],
      source: 'SYS',
      lots: 10,
      profit: '-9450',
      fee: '2',
      ticks: 99_000,
    }

    hear({ ...change, fillKind: 'liquidation' })

    expect(lotsOf(bench)).toEqual([0, 0])
    expect(bench.halts.has(SYMBOL)).toBe(policy === 'halt')
    const said = bench.take('announce')
    const deed = { kind: 'liquidation', size: '0.01', price: '9900', net: '-9452', fills: 1 }
    expect(said.filter(({ event }) => event.startsWith('fill.'))).toMatchObject([
      { level: 'error', event: 'fill.liquidated', fields: deed },
    ])
    const halted = said
      .filter(({ event }) => event === 'trading.halted')
      .map(({ fields }) => fields['reason'])
    expect(halted).toEqual(
      policy === 'halt' ? [expect.stringContaining('not ours: a liquidation;')] : [],
    )
  })

  test('of a liquidation are recorded after what rests is recorded as unconfirmed', () => {
    const { bench, hear } = holding(mode, 'adopt')
    bench.quote({ side: 'buy', ticks: 99_980, lots: 10 })
    bench.accept(bench.grantBatch())
    const before = bench.records.length

    hear({ ...CLOSE[mode], source: 'SYS', lots: 10 })

    const kinds = bench.records.slice(before).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'cancel' || kind === 'fills')).toEqual([
      'cancel',
      'fills',
    ])
  })

  test.each(['halt', 'adopt'] as const)(
    'of a person who opens more, by the policy %s',
    (policy) => {
      const { bench, hear } = holding(mode, policy)

      hear({ ...OPEN, source: 'WEB', lots: 5 })

      expect(lotsOf(bench)).toEqual([10, 15])
      expect(bench.halts.has(SYMBOL)).toBe(policy === 'halt')
    },
  )

  test('of a person who closes what that person opened take nothing from a strategy', () => {
    const { bench, hear } = holding(mode, 'adopt')
    hear({ ...OPEN, source: 'WEB', lots: 5 })

    hear({ ...CLOSE[mode], source: 'APP', lots: 5 })

    expect(lotsOf(bench)).toEqual([10, 10])
  })

  test('of a person who closes more than that take the rest from who holds it', () => {
    const { bench, hear } = holding(mode, 'adopt')
    hear({ ...OPEN, source: 'WEB', lots: 5 })

    hear({ ...CLOSE[mode], source: 'ANDROID', lots: 8 })

    expect(lotsOf(bench)).toEqual([7, 7])
  })

  test('are shown to the strategies of the instrument at once', () => {
    const { bench, hear } = holding(mode, 'adopt')
    bench.take('decide')

    hear({ ...CLOSE[mode], source: 'SYS', lots: 4 })

    expect(bench.take('decide').at(-1)?.snapshot.instruments[0]?.holding.longLots).toBe(6)
  })

  test('that close what waits for its order leave it nothing when it is known', () => {
    const bench = new EngineBench({ foreignFills: 'adopt' }, mode).start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    const batch = bench.grantBatch()
    const fills = [bench.fill({ lots: 10, orderId: `${batch.batchId}001` as Fill['orderId'] })]
    read(bench, fills)
    fills.push(
      bench.fill({ ...CLOSE[mode], source: 'SYS', orderId: '77' as Fill['orderId'], lots: 7 }),
    )
    read(bench, fills)

    bench.accept(batch)

    expect([...bench.book.orders.values()]).toMatchObject([{ state: 'filled', filledLots: 10 }])
    expect(lotsOf(bench)).toEqual([3, 3])
  })

  test('of a liquidation make what rests unconfirmed: it is taken away and placed again', () => {
    const { bench, hear } = holding(mode, 'adopt')
    bench.price()
    bench.quote({ side: 'buy', ticks: 99_980, lots: 1 })
    bench.accept(bench.grantBatch())
    expect(bench.states()).toContain('live')

    hear({ ...CLOSE[mode], source: 'SYS', lots: 4 })

    expect(bench.recordsOf('cancel')).toMatchObject([{ symbols: [SYMBOL], cause: 'liquidation' }])
    expect(bench.take('askGrant').map(({ endpoint }) => endpoint)).toContain('cancelAllOrders')
  })

  test('of a person leave what rests alone', () => {
    const { bench, hear } = holding(mode, 'adopt')
    bench.price()
    bench.quote({ side: 'buy', ticks: 99_980, lots: 1 })
    bench.accept(bench.grantBatch())

    hear({ ...CLOSE[mode], source: 'WEB', lots: 4 })

    expect(bench.recordsOf('cancel')).toEqual([])
  })

  test('halt before they are known: a run that ends between the two looks again', () => {
    const { bench, hear } = holding(mode, 'halt')

    hear({ ...CLOSE[mode], source: 'SYS', lots: 4 })

    expect(bench.records.slice(-2).map(({ kind }) => kind)).toEqual(['restricted', 'fills'])
  })

  test('leave no close that is larger than what is left', () => {
    const { bench, hear } = holding(mode, 'adopt')
    hear({ ...CLOSE[mode], source: 'WEB', lots: 4 })
    bench.quote()

    bench.decide({
      kind: 'place',
      symbol: SYMBOL,
      key: 'a',
      action: 'closeLong',
      lots: 10,
      ttlMs: 9000,
    })

    expect(bench.engine.denied.get('CLOSE_EXCEEDS_POSITION')).toBe(1)
  })
})

describe('[ORD5] in one-way mode', () => {
  test('what others buy while the account is long is theirs, whatever waits for its order', () => {
    const bench = new EngineBench({ foreignFills: 'adopt' }, 'one_way_mode').start()
    bench.quote({ side: 'sell', ticks: 100_010, lots: 3 })
    bench.accept(bench.grantBatch())
    const fills = [bench.fill({ side: 'sell', ticks: 100_010, lots: 3 })]
    read(bench, fills)
    bench.price()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 4 })
    const batch = bench.grantBatch()
    fills.push(bench.fill({ lots: 4, orderId: `${batch.batchId}001` as Fill['orderId'] }))
    read(bench, fills)
    fills.push(bench.fill({ source: 'WEB', orderId: '77' as Fill['orderId'], lots: 2 }))
    read(bench, fills)

    bench.accept(batch)

    expect(lotsOf(bench)).toEqual([1, 3])
  })
})

describe('[ORD5] a position that shrank without a fill', () => {
  test.each(MODES)('in %s is adopted, and taken from who believed to hold it', (mode) => {
    const { bench } = holding(mode, 'halt')
    const account = { holding: { longLots: 6, shortLots: 0 } }
    for (let round = 0; round < 14; round++) {
      bench.step({ kind: 'pollDue', what: 'positions' })
      bench.read(account)
      bench.pass(1_100, account)
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read(account)
    }

    expect(bench.recordsOf('adopt')).toHaveLength(1)
    expect(lotsOf(bench)).toEqual([6, 6])
  })
})

test('[RSK2] as many fills as are kept while one waits for its order halt the instrument', () => {
  const bench = new EngineBench({ foreignFills: 'adopt' }).start()
  bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
  bench.grantBatch()
  const waiting = bench.fill({ orderId: toOrderId('777') })
  const more = Array.from({ length: UNSETTLED_MOVES_MAX }, (_, index) =>
    bench.fill({
      orderId: toOrderId(`8${index}`),
      lots: 1,
      side: index % 2 === 0 ? 'sell' : 'buy',
      source: 'WEB',
    }),
  )

  read(bench, [waiting, ...more.slice(1)])
  expect(bench.halts.get(SYMBOL)).toBeUndefined()
  read(bench, more.slice(0, 1))

  expect(bench.halts.get(SYMBOL)).toContain("what waits is nobody's now")
  expect(bench.book.unsettledMoves.size).toBe(0)
})
