import { describe, expect, test } from 'vitest'
import { type ExitRules } from '../../../src/domain/exits.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { strategyScope } from '../../../src/domain/trading-mode.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { listExits, listPauses } from '../../../src/views/hindrances.ts'
import { TrustedClock } from '../../../src/exchange/clock/exchange-clock.ts'
import { parseCore } from '../../../src/engine/replay/core-image.ts'
import { resumeEngine } from '../../../src/engine/engine.ts'
import { accepted, EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const MINUTE = 60_000
const LONG = { longLots: 10, shortLots: 0 }
const STOP: ExitRules = { stop: { kind: 'share', millionths: 20_000 } }
const BY_ANNA = { reason: 'enough', by: 'anna' } as const

function benchWith(exits: ExitRules, change: Partial<EngineSettings> = {}): EngineBench {
  const plain = new EngineBench().settings.strategies
  const strategies = new Map([...plain].map(([id, settings]) => [id, { ...settings, exits }]))
  return new EngineBench({ strategies, ...change }).start()
}

/** Ten lots long at 10,000. */
function holding(exits: ExitRules, change: Partial<EngineSettings> = {}): EngineBench {
  const bench = benchWith(exits, change)
  bench.buy(10)
  bench.take('askGrant')
  return bench
}

/** The prices fall, or rise, and stay for two answers. */
function moveTo(bench: EngineBench, price: number, times = 2): void {
  for (let answer = 0; answer < times; answer++) {
    bench.now += 1000
    bench.price(price)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  }
}

function ordersIn(batch: { readonly clientOids: readonly string[] }, { book }: EngineBench) {
  return batch.clientOids.map((clientOid) => book.orders.get(clientOid as never)?.terms)
}

function sell(bench: EngineBench, batch: { readonly batchId: number }, lots = 10): void {
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, side: 'sell', lots, ticks: 98_000, scope: 'taker' })
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [fill], holding: { longLots: 10 - lots, shortLots: 0 } })
}

const isAsked = (bench: EngineBench): boolean =>
  bench.take('askGrant').some(({ endpoint }) => endpoint === 'batchPlaceOrder')

describe('an exit of a strategy with a target', () => {
  test('closes what is held, and the target is not bought again', () => {
    const bench = holding(STOP)
    moveTo(bench, 9800)

    const batch = bench.grantBatch()
    expect(ordersIn(batch, bench)).toMatchObject([
      { purpose: 'target', exit: 'stop', action: 'closeLong', lots: 10 },
    ])
    bench.accept(batch)
    sell(bench, batch)
    bench.pass(6000)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    expect(isAsked(bench)).toBe(false)

    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 0 })
    bench.pass(100)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    bench.pass(100)
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ action: 'openLong', lots: 10 }])
  })

  test('[MON1] one answer alone, or prices that contradict each other, sell nothing', () => {
    const bench = holding(STOP)
    moveTo(bench, 9000, 1)
    moveTo(bench, 10_000, 3)
    expect(isAsked(bench)).toBe(false)

    for (let answer = 0; answer < 5; answer++) {
      bench.now += 500
      bench.price(9000, undefined, { indexPrice: 10_000 })
    }
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    expect(isAsked(bench)).toBe(false)
  })

  test('[MON1] a contradiction that lasts keeps no exit away for ever', () => {
    const bench = holding(STOP)
    for (let second = 0; second < 700; second++) {
      bench.now += 1000
      bench.price(9000, undefined, { indexPrice: 10_000 })
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    }
    expect(isAsked(bench)).toBe(true)
  })

  test('[ORD5] is carried out once when the process dies between its trigger and its fill', () => {
    const bench = holding(STOP)
    moveTo(bench, 9800)
    const batch = bench.grantBatch()
    const fills = [
      bench.fill({
        orderId: toOrderId(`${batch.batchId}001`),
        side: 'sell',
        lots: 10,
        ticks: 98_000,
        scope: 'taker',
      }),
    ]
    bench.restart().start({ fills, holding: { longLots: 0, shortLots: 0 } })
    bench.accept(batch)
    bench.pass(30_000, { fills, holding: { longLots: 0, shortLots: 0 } })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    bench.pass(1000, { fills, holding: { longLots: 0, shortLots: 0 } })

    const sold = bench.recordsOf('send').flatMap(({ orders }) => orders)
    expect(sold.filter(({ exit }) => exit === 'stop')).toHaveLength(1)
    expect(isAsked(bench)).toBe(false)
  })

  test('goes on after a restart before anything was sent, without a new decision', () => {
    const bench = holding(STOP)
    moveTo(bench, 9800)
    bench.restart().start({ holding: LONG })
    bench.pass(6000, { holding: LONG })
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ exit: 'stop', lots: 10 }])
  })

  test('of a part leaves the rest, and the target counts no further', () => {
    const bench = holding({ takeProfits: [{ at: 10_000, close: 400_000 }] })
    moveTo(bench, 10_100)
    const batch = bench.grantBatch()
    expect(ordersIn(batch, bench)).toMatchObject([
      { exit: 'takeProfit', action: 'closeLong', lots: 4 },
    ])
    bench.accept(batch)
    sell(bench, batch, 4)
    moveTo(bench, 10_200)
    expect(isAsked(bench)).toBe(false)
  })
})

describe('trading modes', () => {
  test('under an operator’s halt an exit waits, and goes when that ends', () => {
    const bench = holding(STOP)
    const restrict = { kind: 'restrict', scope: SYMBOL, mode: 'halted', ...BY_ANNA } as const
    bench.step({ kind: 'commanded', command: restrict })
    moveTo(bench, 9800)
    expect(isAsked(bench)).toBe(false)
    moveTo(bench, 10_000)
    bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...BY_ANNA } })
    bench.pass(100, { holding: LONG })
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ exit: 'stop' }])
  })

  test('under reducing an exit goes', () => {
    const bench = holding(STOP)
    const restrict = { kind: 'restrict', scope: SYMBOL, mode: 'reducing', ...BY_ANNA } as const
    bench.step({ kind: 'commanded', command: restrict })
    moveTo(bench, 9800)
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ exit: 'stop' }])
  })

  test('[STR1] a strategy with exits that fails may still reduce, and its exits go on', () => {
    const bench = holding(STOP)
    for (let times = 0; times < 10; times++)
      bench.step({ kind: 'decisionFailed', strategyId: STRATEGY, reason: 'broken' })
    const held = [...bench.book.restrictions.values()]
    expect(held).toMatchObject([
      { scope: strategyScope(STRATEGY), code: 'strategyFailed', mode: 'reducing' },
    ])
    for (let answer = 0; answer < 2; answer++) {
      bench.now += 1000
      bench.price(9800)
    }
    bench.step({ kind: 'timePassed' })
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ exit: 'stop' }])
  })
})

describe('an exit of a strategy that quotes', () => {
  const BID = { side: 'buy', ticks: 97_000, lots: 5 } as const
  const RULES = { ...STOP, coolDownMs: 10 * MINUTE }

  function quoting(): EngineBench {
    const bench = benchWith(RULES)
    const first = { side: 'buy', ticks: 100_000, lots: 10 } as const
    bench.quote(first, BID)
    const batch = bench.grantBatch()
    bench.accept(batch)
    const orderId = toOrderId(`${batch.batchId}001`)
    const fill = bench.fill({ orderId, lots: 10, ticks: 100_000 })
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [fill], holding: LONG })
    bench.pass(6000, { holding: LONG })
    bench.quote(BID)
    bench.pass(100, { holding: LONG })
    bench.take('askGrant')
    return bench
  }

  function stopOut(bench: EngineBench): void {
    for (let answer = 0; answer < 2; answer++) {
      bench.now += 1000
      bench.price(9800)
    }
    bench.quote(BID)
    bench.answerCancel(bench.grantCancel().cancelId, accepted({ successList: [], failureList: [] }))
    for (let step = 0; step < 120; step++) {
      bench.now += 50
      bench.price(9800)
      bench.step({ kind: 'timePassed' })
      bench.read({ holding: LONG })
    }
  }

  test('cancels what rests, closes, and lets nothing in before the cool-down ends', () => {
    const bench = quoting()
    stopOut(bench)
    const batch = bench.grantBatch()
    expect(ordersIn(batch, bench)).toMatchObject([{ exit: 'stop', action: 'closeLong', lots: 10 }])
    bench.accept(batch)
    sell(bench, batch)
    bench.pass(6000)
    bench.quote(BID)
    bench.pass(1000)
    expect(isAsked(bench)).toBe(false)
    expect(bench.engine.denied.get('ENTRY_PAUSED')).toBeGreaterThan(0)

    bench.now += 10 * MINUTE
    bench.pass(500)
    bench.quote(BID)
    bench.pass(500)
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ purpose: 'quote', ticks: 97_000 }])
  })
})

describe('a stop at the exchange', () => {
  const RULES = { ...STOP, stopAtExchange: 25_000 }

  test('goes with what opens, and with nothing that closes', () => {
    const bench = benchWith(RULES)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    // From the best price on the other side, 10,000.1.
    const batch = bench.grantBatch()
    expect(ordersIn(batch, bench)).toMatchObject([{ action: 'openLong', stopLossTicks: 97_500 }])
    bench.accept(batch)
    const fill = bench.fill({ orderId: toOrderId(`${batch.batchId}001`), lots: 10, ticks: 100_000 })
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [fill], holding: LONG })
    expect(bench.book.exits.get(`${SYMBOL}|long`)).toMatchObject({ stopLossTicks: 97_500 })

    bench.pass(6000, { holding: LONG })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
    const [close] = ordersIn(bench.grantBatch(), bench)
    expect(close).toMatchObject({ action: 'closeLong', lots: 6 })
    expect(close?.stopLossTicks).toBeUndefined()
  })

  test('of a level of a ladder counts from its own price', () => {
    const bench = benchWith(RULES)
    bench.quote({ side: 'sell', ticks: 102_000, lots: 1 })
    expect(ordersIn(bench.grantBatch(), bench)).toMatchObject([{ stopLossTicks: 104_550 }])
  })
})

describe('the status', () => {
  test('names the exit that waits, and why', () => {
    const bench = holding({ ...STOP, atr: { intervalMs: MINUTE, period: 14 } })
    const restrict = { kind: 'restrict', scope: SYMBOL, mode: 'halted', ...BY_ANNA } as const
    bench.step({ kind: 'commanded', command: restrict })
    moveTo(bench, 9800)
    expect([...listExits(bench)]).toEqual([
      'BTCUSDT: the stop-loss of s is due, and waits: BTCUSDT is halted (operator: enough)',
      'BTCUSDT: distances of s in ATR wait for 224 candles of 1m: until then these stops do not count',
    ])
  })

  test('says until when nothing is entered', () => {
    const bench = holding({ ...STOP, coolDownMs: 10 * MINUTE })
    moveTo(bench, 9800)
    const batch = bench.grantBatch()
    bench.accept(batch)
    sell(bench, batch)
    const { settings, book } = bench
    const trusted = new TrustedClock({ now: () => bench.now, monotonic: () => 0 })
    expect([...listPauses({ settings, book, trusted })]).toEqual([
      expect.stringMatching(
        /^BTCUSDT: s enters nothing: the cool-down after an exit, until \d\d:\d\d UTC$/,
      ),
    ])
    // It is meant to be so, and nothing is in the way.
    expect([...listExits(bench)]).toEqual([])
  })
})

describe('what exits remember', () => {
  const TRAILING: ExitRules = {
    trailing: { after: 0, distance: { kind: 'share', millionths: 10_000 } },
  }

  test('a restart sets the best price back by no more than ten seconds', () => {
    const bench = holding(TRAILING)
    for (let second = 0; second < 30; second++) moveTo(bench, 10_000 + second * 10, 1)
    bench.restart()
    const best = bench.book.exitStates.get(`${STRATEGY}|${SYMBOL}`)?.long?.bestTicks ?? 0
    expect(best).toBeGreaterThanOrEqual(101_800)
    expect(bench.recordsOf('exits').length).toBeLessThan(8)
  })

  test('[DET1] a core that is read back goes on the same', () => {
    const bench = holding(TRAILING)
    moveTo(bench, 10_050, 3)
    const other = new EngineBench(bench.settings)
    other.engine = resumeEngine(parseCore(bench.engine.write()))
    other.now = bench.now
    for (const price of [10_100, 10_090, 10_200, 10_080, 10_080, 10_070]) {
      const [one, two] = [bench, other].map((each) => {
        each.effects = []
        each.now += 4000
        each.step({ kind: 'timePassed' })
        return each
      })
      const event = one?.price(price)
      if (event && two) two.step({ kind: 'clockSynchronised', offsetMs: 0 })
      if (event && two) two.step(event)
      expect(two?.engine.write()).toBe(one?.engine.write())
    }
  })
})
