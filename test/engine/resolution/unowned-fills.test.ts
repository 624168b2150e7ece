import { describe, expect, test } from 'vitest'
import { type Fill } from '../../../src/domain/fill.ts'
import { type StrategyId, toOrderId, toStrategyId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { type Holding } from '../../../src/domain/position.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { EngineBench, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const OTHER = toStrategyId('other')
const MODES: readonly PositionMode[] = ['one_way_mode', 'hedge_mode']
const FLAT = { longLots: 0, shortLots: 0 }

/** A core with two strategies on one instrument. */
function twoStrategies(change: Partial<EngineSettings> = {}): EngineBench {
  const limits = new Map([[SYMBOL, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]])
  const strategies = new Map(
    [STRATEGY, OTHER].map((id) => [id, { id, symbols: [SYMBOL], limits, feeds: new Map() }] as const),
  )
  return new EngineBench({ strategies, ...change }).start()
}

/** An account at the exchange, and everything that it has shown so far. */
class Account {
  readonly bench: EngineBench
  readonly fills: Fill[] = []
  net = 0

  constructor(bench: EngineBench) {
    this.bench = bench
  }

  get holding(): Holding {
    return { longLots: Math.max(0, this.net), shortLots: Math.max(0, -this.net) }
  }

  /** Something was traded; fills are read. */
  trade(side: 'buy' | 'sell', lots: number, change: Partial<Fill> = {}): void {
    this.net += side === 'buy' ? lots : -lots
    const orderId = toOrderId(`7${this.fills.length}`)
    this.fills.push(this.bench.fill({ side, lots, orderId, scope: 'taker', ticks: 100_000, ...change }))
    this.readFills()
  }

  readFills(): void {
    this.bench.step({ kind: 'pollDue', what: 'fills' })
    for (const { sinceAt } of this.bench.take('readFills')) {
      const { now } = this.bench
      const reading = { fills: this.fills, sinceAt, requestedAt: now, exchangeTime: now }
      this.bench.step({ kind: 'fillsRead', reading })
    }
  }

  /** Fills and positions are read. */
  look(): void {
    this.bench.step({ kind: 'pollDue', what: 'positions' })
    this.bench.read({ holding: this.holding, fills: this.fills })
  }

  pass(ms: number): void {
    this.bench.pass(ms, { holding: this.holding, fills: this.fills })
  }

  /** The strategy wants so many lots, and gets them by one order. */
  reach(id: StrategyId, lots: number): void {
    this.bench.decideAs(id, { kind: 'target', symbol: SYMBOL, lots })
    this.fillNext()
  }

  /** The next batch leaves and is filled whole; returns what it was. */
  fillNext() {
    const batch = this.bench.grantBatch()
    this.bench.accept(batch)
    const terms = batch.clientOids.map((clientOid) => this.bench.book.orders.get(clientOid)?.terms)
    for (const [index, order] of terms.entries()) {
      if (!order) continue
      const side = order.action === 'openLong' || order.action === 'closeShort' ? 'buy' : 'sell'
      this.trade(side, order.lots, { orderId: toOrderId(`${batch.batchId}00${index + 1}`) })
    }
    this.look()
    return terms
  }

  /** What leaves if everything that is asked for is granted. */
  sent() {
    if (this.bench.take('askGrant').every(({ endpoint }) => endpoint !== 'batchPlaceOrder')) return []
    this.bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
    const batches = this.bench.take('sendBatch')
    return batches.flatMap(({ batch }) =>
      batch.clientOids.map((clientOid) => this.bench.book.orders.get(clientOid)?.terms),
    )
  }

  events(): readonly string[] {
    return this.bench.take('announce').map(({ event }) => event)
  }
}

const denials = (bench: EngineBench): number => bench.engine.denied.get('POSITION_UNEXPLAINED') ?? 0
const flattenAll = { kind: 'flatten', scope: '*', reason: 'enough', by: 'anna' } as const

describe('[RSK4] a position that another client of the API has closed', () => {
  test.each(['API', '', 'H5', 'WEB', 'ANDROID', 'SYS'])('(source "%s") is not sold again', (source) => {
    const account = new Account(twoStrategies())
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
  })

  test('is told at once as the trade of somebody else', () => {
    const account = new Account(twoStrategies())
    account.reach(STRATEGY, 10)
    account.events()

    account.trade('sell', 10)

    expect(account.events()).toEqual(expect.arrayContaining(['trading.halted', 'fill.foreign']))
  })

  test('goes on from what is left where the operator says adopt', () => {
    const account = new Account(twoStrategies({ foreignFills: 'adopt' }))
    account.reach(STRATEGY, 10)

    account.trade('sell', 4)
    account.look()
    account.bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })

    expect(account.bench.halts.size).toBe(0)
    expect(account.sent()).toMatchObject([{ action: 'closeLong', lots: 6 }])
  })

  test.each(['adopt', 'cancel'] as const)(
    'while the daemon was down (onRestart: %s) is not sold again either',
    (onRestart) => {
      const bench = twoStrategies({ onRestart })
      const account = new Account(bench)
      account.reach(STRATEGY, 10)
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
      bench.restart()
      account.net -= 10
      account.fills.push(bench.fill({ side: 'sell', lots: 10, orderId: toOrderId('77'), scope: 'taker' }))

      bench.start({ holding: FLAT, fills: account.fills })
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
      account.pass(6000)

      expect(account.sent()).toEqual([])
      expect([bench.halts.has(SYMBOL), bench.book.holdings.get(`s|${SYMBOL}`)]).toEqual([true, FLAT])
    },
  )

  test('before the daemon read it is said to be unexplained by a stop or a flatten of nobody', () => {
    const account = new Account(twoStrategies({ foreignFills: 'adopt' }))
    account.trade('sell', 3)
    account.events()

    account.bench.step({ kind: 'commanded', command: flattenAll })
    account.look()

    const left = account.bench.take('announce').filter(({ event }) => event.startsWith('flatten.'))
    expect(left).toMatchObject([
      {
        level: 'error',
        event: 'flatten.left',
        fields: { stillHeld: { [SYMBOL]: 'short 0.003, of no strategy' } },
      },
    ])
    expect(account.sent()).toEqual([])
    account.trade('buy', 3, { source: 'WEB' })
    account.look()
    expect(account.events()).toContain('flatten.done')
  })
})

describe('[RSK4] two strategies that hold against each other', () => {
  function opposed(change: Partial<EngineSettings> = {}): Account {
    const account = new Account(twoStrategies(change))
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
    const account = new Account(twoStrategies())
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
    account.look()
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
  function unknownOrder(): Account {
    const bench = new EngineBench({ foreignFills: 'halt' }, mode).start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    bench.take('announce')
    return new Account(bench)
  }

  test('are waited for and told, and given to the order when that is proved', () => {
    const account = unknownOrder()
    account.trade('buy', 10)

    const said = account.bench.take('announce').filter(({ event }) => event === 'fill.unexplained')
    expect(said).toMatchObject([{ level: 'warn', fields: { symbol: SYMBOL, lots: 10, isConfirmed: false } }])
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

  test.each(['', 'H5'])('of an order on its way are its own, although their source is "%s"', (source) => {
    const bench = new EngineBench({}, mode).start()
    const account = new Account(bench)
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
  })

  test('are foreign with the answer that names the order otherwise', () => {
    const bench = new EngineBench({}, mode).start()
    const account = new Account(bench)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    const batch = bench.grantBatch()
    account.trade('buy', 10, { orderId: toOrderId('777') })
    expect(bench.halts.size).toBe(0)

    bench.accept(batch)

    expect(bench.halts.get(SYMBOL)).toMatch(/not ours/)
    expect(bench.recordsOf('foreign')).toMatchObject([{ orderIds: ['777'] }])
  })
})
