import { describe, expect, test } from 'vitest'
import { type PositionRow } from '../../../src/domain/position.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { EngineBench, refused, SYMBOL } from '../engine-bench.ts'

const HOLDING = { longLots: 20, shortLots: 0 }

/** A run that holds a position under the configuration of every test here: one-way, crossed, leverage 10. */
function holding(
  leverage: number | null = 10,
  change: ConstructorParameters<typeof EngineBench>[0] = {},
): EngineBench {
  const instrument = { ...madeInstrument(), ...(leverage === null ? {} : { leverage }) }
  const bench = new EngineBench({ instruments: new Map([[SYMBOL, instrument]]), ...change }).start()
  bench.buy(20)
  bench.effects = []
  return bench
}

/** One reading of the position and of the fills, 100 ms after the last. */
function readOnce(bench: EngineBench, says: Partial<PositionRow>, held = HOLDING): void {
  bench.now += 100
  bench.step({ kind: 'pollDue', what: 'positions' })
  bench.take('readFills')
  const [read] = bench.take('readPosition')
  if (!read) throw new Error('no position was asked for')
  bench.effects.push(read)
  bench.read({ holding: held, says })
}

const codes = (bench: EngineBench): string[] => bench.engine.restrictions.map(({ code }) => code)

describe('settings of the account that were changed by hand', () => {
  test.each([
    ['marginMode', { marginMode: 'isolated' }, 'reducing', 'isolated, the configuration crossed'],
    ['leverage', { leverage: 20 }, 'reducing', '20, the configuration 10'],
    [
      'positionMode',
      { positionMode: 'hedge_mode' },
      'halted',
      'hedge_mode, the configuration one_way_mode',
    ],
  ] as const)(
    '%s: two readings restrict the instrument, and two end that',
    (code, says, mode, words) => {
      const bench = holding()
      readOnce(bench, says)
      expect(codes(bench)).toEqual([])

      readOnce(bench, says)
      expect(bench.engine.restrictions).toMatchObject([
        { scope: SYMBOL, code, mode, by: 'intentd' },
      ])
      expect(bench.engine.restrictions[0]?.reason).toContain(`the position says ${code} ${words}`)
      bench.price()
      bench.quote({ side: 'buy', ticks: 99_900, lots: 5 })
      expect(bench.take('sendBatch')).toEqual([])
      expect(bench.take('askGrant')).toEqual([])

      const right = { marginMode: 'crossed', leverage: 10, positionMode: 'one_way_mode' } as const
      readOnce(bench, right)
      expect(codes(bench)).toEqual([code])
      readOnce(bench, right)
      expect(codes(bench)).toEqual([])
      expect(bench.take('announce')).toContainEqual(
        expect.objectContaining({
          event: 'trading.released',
          fields: expect.objectContaining({ scope: SYMBOL, code }),
        }),
      )
    },
  )

  test('maintenance tiers: two readings of a higher rate restrict the instrument, and two end that', () => {
    const rules = new Map([
      [
        SYMBOL,
        {
          tiers: [
            { notionalMax: 1000, rate: 0.004 },
            { notionalMax: Number.POSITIVE_INFINITY, rate: 0.005 },
          ],
          takerFeeRate: 0,
        },
      ],
    ])
    const steps = { warn: 0.15, reduce: 0.08, flatten: 0.04 }
    const bench = new EngineBench({ liquidation: { rules, steps } }).start()
    bench.buy(20)
    bench.effects = []
    // 0.02 at 40,000 are a value of 800, of the first tier; at 49,500 either tier may be meant.
    for (let reads = 0; reads < 2; reads++)
      readOnce(bench, { markPrice: 40_000, maintenanceRate: 0.004 })
    for (const rate of [0.004, 0.005, 0.005])
      readOnce(bench, { markPrice: 49_500, maintenanceRate: rate })
    for (let reads = 0; reads < 2; reads++)
      readOnce(bench, { markPrice: 40_000, maintenanceRate: 0.003 })
    readOnce(bench, { markPrice: 40_000, maintenanceRate: 0.0065 })
    expect(codes(bench)).toEqual([])
    readOnce(bench, { markPrice: 40_000, maintenanceRate: 0.0065 })

    expect(bench.engine.restrictions).toMatchObject([
      {
        scope: SYMBOL,
        code: 'maintenance',
        mode: 'reducing',
        reason:
          'the position says maintenance 0.0065, the configuration 0.004 for a value of 800: write the tiers of the contract page of the exchange into instruments.BTCUSDT.maintenance and restart; it ends by itself then',
      },
    ])
    readOnce(bench, { markPrice: 40_000, maintenanceRate: Number.NaN })
    for (let reads = 0; reads < 2; reads++) {
      expect(codes(bench)).toEqual(['maintenance'])
      readOnce(bench, { markPrice: 40_000, maintenanceRate: 0.004 })
    }
    expect(codes(bench)).toEqual([])
  })

  test('the first reading that differs asks for the next at once', () => {
    const bench = holding()
    readOnce(bench, { marginMode: 'isolated' })

    expect(bench.take('readPosition')).toMatchObject([{ symbol: SYMBOL, isUrgent: true }])
  })

  test('an answer that is heard twice is one reading, and one that does not say it contradicts nothing', () => {
    const bench = holding()
    const rows: PositionRow[] = [
      {
        holdSide: 'long',
        lots: 20,
        openPriceAvg: 1,
        unrealisedProfit: '0',
        fundingFee: '',
        markPrice: 1,
        liquidationPrice: 0,
        positionMode: undefined,
        marginMode: 'isolated',
      },
    ]
    const times = { requestedAt: bench.now, exchangeTime: bench.now }
    const reading = { symbol: SYMBOL, isSilent: false, ...times }
    bench.now += 10
    bench.step({ kind: 'positionRead', reading: { ...reading, rows } })
    bench.step({ kind: 'positionRead', reading: { ...reading, rows } })
    expect(codes(bench)).toEqual([])

    readOnce(bench, { marginMode: undefined, leverage: undefined, positionMode: undefined })
    expect(codes(bench)).toEqual([])
    readOnce(bench, { marginMode: 'isolated' })
    expect(codes(bench)).toEqual(['marginMode'])
  })

  test('an order that closes names the margin mode of the position, and with the position the restriction ends', () => {
    const bench = holding()
    for (let reads = 0; reads < 2; reads++) readOnce(bench, { marginMode: 'isolated' })
    bench.price()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })

    const { body } = bench.grantBatch()
    expect(JSON.parse(body)).toMatchObject({
      marginMode: 'isolated',
      orderList: [{ side: 'sell', reduceOnly: 'YES' }],
    })

    const flat = { longLots: 0, shortLots: 0 }
    for (let reads = 0; reads < 2; reads++) readOnce(bench, {}, flat)
    expect(codes(bench)).toEqual([])
  })

  describe('rows that lie about the margin mode', () => {
    const modeOf = (batch: { readonly body: string }) => JSON.parse(batch.body).marginMode
    const refuse = (bench: EngineBench, batch: { readonly batchId: number }): void =>
      bench.answer(batch.batchId, refused('45117', 'definite', 'marginMode'))
    const flatten = (bench: EngineBench): void =>
      void bench.step({
        kind: 'commanded',
        command: { kind: 'flatten', scope: SYMBOL, reason: 'enough', by: 'anna' },
      })

    test('keep no flatten from closing: a refused mode is followed by the other', () => {
      const bench = holding()
      for (let reads = 0; reads < 2; reads++) readOnce(bench, { marginMode: 'isolated' })
      flatten(bench)
      bench.price()
      const first = bench.grantBatch()
      expect(modeOf(first)).toBe('isolated')
      refuse(bench, first)

      for (let reads = 0; reads < 2; reads++) readOnce(bench, { marginMode: 'isolated' })
      bench.price()
      const second = bench.grantBatch()
      expect(modeOf(second)).toBe('crossed')
      expect(JSON.parse(second.body).orderList).toMatchObject([{ side: 'sell', reduceOnly: 'YES' }])
    })

    test('also where they name the configured one, and both are tried in turn', () => {
      const bench = holding()
      flatten(bench)
      const modes: string[] = []
      for (let tries = 0; tries < 3; tries++) {
        for (let reads = 0; reads < 8; reads++) readOnce(bench, { marginMode: 'crossed' })
        bench.price()
        const batch = bench.grantBatch()
        modes.push(modeOf(batch))
        refuse(bench, batch)
      }

      expect(modes).toEqual(['crossed', 'isolated', 'crossed'])
    })

    test('let nothing open in another mode than the configured one', () => {
      const bench = holding()
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 30 })
      refuse(bench, bench.grantBatch())
      bench.now += 120_000
      readOnce(bench, {})
      bench.price()
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 30 })

      expect(modeOf(bench.grantBatch())).toBe('crossed')
    })

    test('are not believed once the exchange has taken an order of the mode that it refused', () => {
      const bench = holding()
      const place = (key: string, action: 'openLong' | 'closeLong', ticks: number) => {
        bench.decide({ kind: 'place', symbol: SYMBOL, key, action, lots: 5, ticks, force: 'gtc' })
        return bench.grantBatch()
      }
      refuse(bench, place('refused', 'openLong', 99_000))
      bench.now += 120_000
      readOnce(bench, {})
      bench.price()
      bench.accept(place('taken', 'openLong', 99_000))

      expect(modeOf(place('out', 'closeLong', 101_000))).toBe('crossed')
    })

    test.each(['22020', '45097', '25223'])(
      'are not suspected where it is the leverage that the exchange refuses (%s)',
      (code) => {
        const bench = holding()
        flatten(bench)
        bench.refuse(bench.grantBatch(), code)
        for (let reads = 0; reads < 8; reads++) readOnce(bench, {})
        bench.price()

        expect(modeOf(bench.grantBatch())).toBe('crossed')
        expect(bench.engine.instrument(SYMBOL)?.setup.refusedMode).toBeUndefined()
      },
    )

    test('are forgotten with the position', () => {
      const bench = holding()
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
      refuse(bench, bench.grantBatch())
      expect(bench.engine.instrument(SYMBOL)?.setup.refusedMode).toBe('crossed')

      readOnce(bench, {}, { longLots: 0, shortLots: 0 })
      expect(bench.engine.instrument(SYMBOL)?.setup.refusedMode).toBeUndefined()
    })
  })

  test('a flat account says nothing of its leverage: an operator ends that', () => {
    const bench = holding()
    for (let reads = 0; reads < 2; reads++) readOnce(bench, { leverage: 20 })
    for (let reads = 0; reads < 2; reads++) readOnce(bench, {}, { longLots: 0, shortLots: 0 })
    expect(codes(bench)).toEqual(['leverage'])

    bench.step({
      kind: 'commanded',
      command: { kind: 'release', scope: SYMBOL, reason: 'set', by: 'anna' },
    })
    expect(codes(bench)).toEqual([])
  })

  test('[RSK2] a restart does not forget it, and what rests and adds risk is cancelled', () => {
    const bench = holding()
    bench.quote({ side: 'buy', ticks: 99_900, lots: 5 })
    bench.accept(bench.grantBatch())
    for (let reads = 0; reads < 2; reads++) readOnce(bench, { marginMode: 'isolated' })
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])

    bench.restart()
    expect(codes(bench)).toEqual(expect.arrayContaining(['marginMode']))
  })

  test('without a configured leverage a change is logged once, after two readings', () => {
    const bench = holding(null)
    for (let reads = 0; reads < 2; reads++) readOnce(bench, { leverage: 10 })
    readOnce(bench, { leverage: 20 })
    const changes = () =>
      bench.take('announce').filter(({ event }) => event === 'position.leverageChanged')
    expect(changes()).toEqual([])

    for (let reads = 0; reads < 2; reads++) readOnce(bench, { leverage: 20 })
    expect(changes()).toMatchObject([
      { level: 'warn', fields: { symbol: SYMBOL, was: '10', is: '20' } },
    ])
    expect(codes(bench)).toEqual([])
  })

  test.each([
    [{}, /set it back on the exchange's page or in its app/],
    [
      { isEmbedded: true },
      /the simulator inside the daemon.*make simulator\.leverage and .*account\.leverage equal/,
    ],
  ])('what to do names what there is: a page, or the simulator inside (%j)', (change, words) => {
    const bench = holding(10, change)
    for (let reads = 0; reads < 2; reads++) readOnce(bench, { leverage: 20 })

    expect(bench.engine.restrictions[0]?.reason).toMatch(words)
  })
})
