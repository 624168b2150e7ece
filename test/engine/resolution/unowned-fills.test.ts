import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { EngineBench, refused, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'
import { OTHER, TradedAccount, twoStrategies } from '../traded-account.ts'

const MODES: readonly PositionMode[] = ['one_way_mode', 'hedge_mode']
const FLAT = { longLots: 0, shortLots: 0 }

const denials = (bench: EngineBench): number => bench.engine.denied.get('POSITION_UNEXPLAINED') ?? 0
const flattenAll = { kind: 'flatten', scope: '*', reason: 'enough', by: 'anna' } as const

describe('[RSK4] a position that another client of the API has closed', () => {
  test.each(['API', '', 'H5', 'WEB', 'ANDROID', 'SYS'])(
    '(source "%s") is not sold again',
    (source) => {
      const account = new TradedAccount(twoStrategies())
      account.reach(STRATEGY, 10)
      account.pass(100)

      account.trade('sell', 10, { source })
      account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })

      expect(account.bench.halts.get(SYMBOL)).toMatch(/not ours/)
      expect(account.bench.book.orphans.size).toBe(0)
      expect(account.bench.book.holdings.get(`s|${SYMBOL}`)).toEqual(FLAT)
      expect(account.sent()).toEqual([])
      account.pass(40_000)
      expect(account.sent()).toEqual([])
    },
  )

  test('is told at once as the trade of somebody else', () => {
    const account = new TradedAccount(twoStrategies())
    account.reach(STRATEGY, 10)
    account.events()

    account.trade('sell', 10)

    expect(account.events()).toEqual(expect.arrayContaining(['trading.halted', 'fill.foreign']))
  })

  test('goes on from what is left where the operator says adopt', () => {
    const account = new TradedAccount(twoStrategies({ foreignFills: 'adopt' }))
    account.reach(STRATEGY, 10)

    account.trade('sell', 4)
    account.listNothing()
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })

    expect(account.bench.halts.size).toBe(0)
    expect(account.sent()).toMatchObject([{ action: 'closeLong', lots: 6 }])
  })

  test.each(['adopt', 'cancel'] as const)(
    'while the daemon was down (onRestart: %s) is not sold again either',
    (onRestart) => {
      const bench = twoStrategies({ onRestart })
      const account = new TradedAccount(bench)
      account.reach(STRATEGY, 10)
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
      bench.restart()
      account.net -= 10
      account.fills.push(
        bench.fill({ side: 'sell', lots: 10, orderId: toOrderId('77'), scope: 'taker' }),
      )

      bench.start({ holding: FLAT, fills: account.fills })
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
      account.pass(6000)

      expect(account.sent()).toEqual([])
      expect([bench.halts.has(SYMBOL), bench.book.holdings.get(`s|${SYMBOL}`)]).toEqual([
        true,
        FLAT,
      ])
    },
  )

  test('is closed by a flatten, once it is known that no strategy holds what it has opened', () => {
    const account = new TradedAccount(twoStrategies({ foreignFills: 'adopt' }))
    account.trade('sell', 3)
    account.events()

    account.bench.step({ kind: 'commanded', command: flattenAll })
    expect(account.sent()).toEqual([])
    account.listNothing()

    expect(account.fillNext()).toMatchObject([
      { purpose: 'flatten', action: 'closeShort', lots: 3 },
    ])
    expect(account.events()).toContain('flatten.done')
  })
})

describe('[RSK4] two strategies that hold against each other', () => {
  function opposed(change: Partial<EngineSettings> = {}): TradedAccount {
    const account = new TradedAccount(twoStrategies(change))
    account.reach(STRATEGY, 10)
    account.reach(OTHER, -10)
    account.pass(6000)
    expect(account.net).toBe(0)
    return account
  }

  test('both get out, although the account is flat', () => {
    const account = opposed()
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    expect(account.fillNext()).toMatchObject([{ action: 'openShort', lots: 10 }])
    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 0 })
    expect(account.fillNext()).toMatchObject([{ action: 'closeShort', lots: 10 }])
    expect(account.net).toBe(0)
  })

  test('a flatten takes both out', () => {
    const account = opposed()
    account.bench.step({ kind: 'commanded', command: flattenAll })
    while (account.bench.effects.some(({ kind }) => kind === 'askGrant')) {
      account.fillNext()
      account.pass(300)
    }
    expect([...account.bench.book.holdings.values()]).toEqual([FLAT, FLAT])
    expect(account.events()).toContain('flatten.done')
  })

  test('an exit that opens waits until the position was read after the last fill', () => {
    const account = new TradedAccount(twoStrategies())
    account.reach(STRATEGY, 10)
    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: -10 })
    const batch = account.bench.grantBatch()
    account.bench.accept(batch)
    account.trade('sell', 10, { orderId: toOrderId(`${batch.batchId}001`) })
    account.bench.take('askGrant')

    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    expect([account.sent(), denials(account.bench)]).toEqual([[], 1])
    // It was asked for with the fill.
    account.bench.read({ holding: FLAT, fills: account.fills })

    expect(account.sent()).toMatchObject([{ action: 'openShort', lots: 10 }])
  })

  test('nothing opens for lots that no strategy holds; what is in the account is closed', () => {
    const account = opposed({ foreignFills: 'adopt' })
    account.trade('sell', 4)
    account.listNothing()
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    expect(account.sent()).toEqual([])
    expect(denials(account.bench)).toBe(1)

    account.bench.decideAs(OTHER, { kind: 'target', symbol: SYMBOL, lots: 0 })
    account.fillNext()
    expect(account.net).toBe(6)
    account.pass(300)
    expect(account.fillNext()).toMatchObject([{ action: 'closeLong', lots: 6 }])
    expect(account.net).toBe(0)
    account.pass(20_000)
    expect(account.sent()).toEqual([])

    // The four lots that are left on paper are not there, so there is nothing to close.
    account.bench.step({ kind: 'commanded', command: flattenAll })
    expect(account.events()).toContain('flatten.done')
  })

  test('an exit that leaves is held back right before its first byte where fills came', () => {
    const account = opposed({ foreignFills: 'adopt' })
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    const batch = account.bench.grantBatch()
    expect(account.bench.engine.objectTo(batch, account.bench.now)).toBeUndefined()

    account.trade('buy', 1, { source: 'WEB' })

    expect(account.bench.engine.objectTo(batch, account.bench.now)).toContain('nothing explains')
  })
})

describe.each(MODES)('[RSK4] in %s, fills that an unknown order may have made', (mode) => {
  function unknownOrder(): TradedAccount {
    const bench = new EngineBench({ foreignFills: 'halt' }, mode).start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    bench.take('announce')
    return new TradedAccount(bench)
  }

  test('are waited for and told, and given to the order when that is proved', () => {
    const account = unknownOrder()
    account.trade('buy', 10)

    const said = account.bench.take('announce').filter(({ event }) => event === 'fill.unexplained')
    expect(said).toMatchObject([
      { level: 'warn', fields: { symbol: SYMBOL, lots: 10, isConfirmed: false } },
    ])
    expect(account.bench.halts.size).toBe(0)

    account.pass(20_000)
    expect(account.bench.states()).toEqual(['filled'])
    expect(account.bench.book.holdings.get(`s|${SYMBOL}`)?.longLots).toBe(10)
  })

  test('are foreign at once where the order could not have made them', () => {
    const account = unknownOrder()
    account.trade('buy', 11)
    expect(account.bench.book.orphans.size).toBe(0)
    expect(account.bench.halts.has(SYMBOL)).toBe(true)
  })

  test.each(['', 'H5'])(
    'of an order on its way are its own, although their source is "%s"',
    (source) => {
      const bench = new EngineBench({}, mode).start()
      const account = new TradedAccount(bench)
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
      const batch = bench.grantBatch()
      account.trade('buy', 10, { source, orderId: toOrderId(`${batch.batchId}001`) })
      expect([bench.halts.size, bench.book.orphans.size]).toEqual([0, 1])

      bench.accept(batch)

      expect(bench.states()).toEqual(['filled'])
      expect(bench.book.holdings.get(`s|${SYMBOL}`)?.longLots).toBe(10)
      const image = bench.engine.book
      bench.restart()
      expect([...bench.book.holdings]).toEqual([...image.holdings])
    },
  )

  test('are foreign with the answer that names the order otherwise', () => {
    const bench = new EngineBench({}, mode).start()
    const account = new TradedAccount(bench)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    const batch = bench.grantBatch()
    account.trade('buy', 10, { orderId: toOrderId('777') })
    expect(bench.halts.size).toBe(0)

    bench.accept(batch)

    expect(bench.halts.get(SYMBOL)).toMatch(/not ours/)
    expect(bench.recordsOf('foreign')).toMatchObject([{ orderIds: ['777'] }])
  })
})

describe('[RSK4] what a lost run may have left resting is listed', () => {
  function adopting(): TradedAccount {
    const account = new TradedAccount(twoStrategies({ foreignFills: 'adopt' }))
    account.pass(1000)
    account.trade('sell', 4)
    return account
  }
  const asksForCancel = ({ bench }: TradedAccount): boolean =>
    bench.take('askGrant').some(({ endpoint }) => endpoint === 'cancelAllOrders')

  test('once: a fill of before the list, read later, needs no second cancel-all', () => {
    const account = adopting()
    const filledAt = account.bench.now
    account.pass(20_000)
    account.listNothing()
    account.bench.take('askGrant')

    account.trade('sell', 1, { filledAt })
    account.pass(1000)
    expect(asksForCancel(account)).toBe(false)
  })

  test('again, where the clock of the exchange has fallen and old requests may still arrive', () => {
    const account = adopting()
    account.pass(20_000)
    account.bench.step({ kind: 'clockSynchronised', offsetMs: -60_000 })
    account.listNothing()
    account.bench.take('askGrant')

    account.trade('sell', 1)
    account.pass(1000)
    expect(asksForCancel(account)).toBe(true)
  })

  test('once, although another fill comes while the cancel-all is on the wire', () => {
    const account = adopting()
    account.pass(20_000)
    const { cancelId } = account.bench.grantCancel()
    account.trade('sell', 1)
    account.bench.answerCancel(cancelId, refused('22001', 'definite'))
    account.bench.take('askGrant')
    account.pass(6000)

    expect(asksForCancel(account)).toBe(false)
  })
})

describe('[ORD5] the time of the start', () => {
  test.each([
    ['has fallen', -60_000, 1000],
    ['has risen', 60_000, -59_000],
  ])(
    'halts for a fill of before, though the clock of the exchange %s against ours since',
    (_, offsetMs, beforeMs) => {
      const account = new TradedAccount(twoStrategies({ foreignFills: 'adopt' }))
      const startedAt = account.bench.now
      account.pass(1000)
      account.bench.step({ kind: 'clockSynchronised', offsetMs })
      account.trade('sell', 4, { filledAt: startedAt - 10_000 - beforeMs })

      expect(account.bench.halts.get(SYMBOL)).toContain('from before this start')
    },
  )
})
