import { describe, expect, test } from 'vitest'
import { adviseUnclosable, describeStillHeld } from '../../../src/daemon/account/command-inbox.ts'
import { judgeScope } from '../../../src/daemon/account/listen-to-operator.ts'
import { type ClientOid, toOrderId } from '../../../src/domain/ids.ts'
import { type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { accepted, EngineBench, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'
import { manyInstruments, OTHER, SYMBOLS } from '../many-instruments.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const BY_ANNA = { reason: 'enough', by: 'anna' } as const
const LONG = { longLots: 10, shortLots: 0 }

/** Ten lots long, and a ladder that rests. */
function holding(): EngineBench {
  const bench = new EngineBench().start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  fillBatch(bench, 'buy')
  bench.pass(6000, { holding: LONG })
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  return bench
}

/** The order that is granted next is accepted, and filled whole. */
function fillBatch(bench: EngineBench, side: 'buy' | 'sell'): void {
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, side, lots: 10, ticks: 100_000, scope: 'taker' })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
}

function flatten(bench: EngineBench, scope: Scope): void {
  bench.step({ kind: 'commanded', command: { kind: 'flatten', scope, ...BY_ANNA } })
}

/** The ladder is cancelled, and it is proved what was filled of it. */
function cancelLadder(bench: EngineBench): void {
  bench.answerCancel(bench.grantCancel().cancelId, accepted({ successList: [], failureList: [] }))
  bench.pass(6000, { holding: LONG })
}

function sentOrders(bench: EngineBench) {
  const { clientOids } = bench.grantBatch()
  return clientOids.map((clientOid) => bench.book.orders.get(clientOid)?.terms)
}

describe('[RSK2] a flatten', () => {
  test.each([
    ['an instrument', SYMBOL],
    ['a strategy', strategyScope(STRATEGY)],
    ['the account', '*'],
  ])('of %s cancels what rests and closes what is held, and nothing else leaves', (_, scope) => {
    const bench = holding()
    flatten(bench, scope)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 50 })

    cancelLadder(bench)

    expect(sentOrders(bench)).toMatchObject([{ purpose: 'flatten', action: 'closeLong', lots: 10 }])
  })

  test('of who holds nothing is done when nothing rests any more, and not before', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())
    flatten(bench, '*')
    const { cancelId } = bench.grantCancel()
    const events = () => bench.take('announce').map(({ event }) => event)
    expect(events()).not.toContain('flatten.done')

    bench.answerCancel(cancelId, accepted({ successList: [], failureList: [] }))
    bench.pass(6000)
    expect(events()).toContain('flatten.done')
  })

  test('goes on after a restart, and says when nothing is held any more', () => {
    const bench = holding()
    flatten(bench, SYMBOL)
    bench.restart().start({ holding: LONG })
    cancelLadder(bench)
    bench.take('announce')

    const events = () => bench.take('announce').map(({ event }) => event)
    fillBatch(bench, 'sell')
    // Not before the exchange confirms it.
    expect(events()).not.toContain('flatten.done')
    bench.read()

    expect(events()).toContain('flatten.done')
    expect(bench.halts).toEqual(new Map([[SYMBOL, 'enough']]))
  })

  test('is not called done at a restart before what was filled meanwhile is read', () => {
    const bench = new EngineBench().start()
    flatten(bench, SYMBOL)
    bench.restart()
    bench.take('announce')
    const isSaid = (): boolean =>
      bench.take('announce').some(({ event }) => event === 'flatten.done')

    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    bench.price()
    expect([bench.engine.phase, isSaid()]).toEqual(['starting', false])

    while (bench.engine.phase === 'starting') bench.pass(100)
    expect(isSaid()).toBe(true)
  })

  test('that is released while a start reads is said to be open as the last run knew it', () => {
    const bench = holding()
    flatten(bench, SYMBOL)
    bench.restart()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...BY_ANNA } })

    const dropped = bench.take('announce').find(({ event }) => event === 'flatten.dropped')
    const stillHeld = { [`${STRATEGY} ${SYMBOL}`]: 'long 0.01' }
    expect(dropped?.fields).toMatchObject({ stillHeld, isOfRunBefore: true })
    const answer = {
      held: [],
      lifted: [],
      killFiles: [],
      stillHeld,
      isScopeUnknown: false,
      unclosable: {},
    }
    expect(describeStillHeld({ ...answer, isStarting: true })).toEqual([
      expect.stringMatching(
        /s BTCUSDT long 0\.01, as the last run knew it: what was filled since is being read$/,
      ),
    ])
    expect(describeStillHeld(answer)).toEqual([expect.stringMatching(/s BTCUSDT long 0\.01$/)])
  })

  test.each([
    ['43039', undefined],
    ['43040', undefined],
    // Not of its price: tried again as before.
    ['45111', 99_900],
  ])('that is refused with %s goes on at once, at the price %s', (code, ticks) => {
    const bench = holding()
    flatten(bench, SYMBOL)
    cancelLadder(bench)
    bench.refuse(bench.grantBatch(), code)
    bench.price(10_000)

    const [next] = sentOrders(bench)

    expect(next).toMatchObject({ purpose: 'flatten', action: 'closeLong', lots: 10 })
    expect(next?.ticks).toBe(ticks)
  })

  test('whose order at the market is refused too tries a price again, and waits longer each time', () => {
    const bench = holding()
    flatten(bench, SYMBOL)
    cancelLadder(bench)
    const sent: unknown[] = []
    for (let round = 0, waitedMs = 0; round < 5; round++, waitedMs = 0) {
      while (!bench.effects.some(({ kind }) => kind === 'askGrant')) {
        bench.pass(50, { holding: LONG })
        waitedMs += 50
      }
      const batch = bench.grantBatch()
      sent.push([bench.book.orders.get(batch.clientOids[0] as ClientOid)?.terms.ticks, waitedMs])
      bench.refuse(batch, '43040')
    }

    expect(sent).toEqual([
      [99_900, 0],
      [undefined, 0],
      [99_900, 250],
      [undefined, 500],
      [99_900, 1000],
    ])
  })

  test('leaves the price to what a strategy wants: its collar is its own', () => {
    const bench = new EngineBench().start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    bench.refuse(bench.grantBatch(), '43039')
    bench.price(10_000)
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })

    expect(sentOrders(bench)).toMatchObject([{ purpose: 'target', ticks: expect.any(Number) }])
  })

  test('that is not done says so after 15 s, then each time it took twice as long, and what it waits for', () => {
    const bench = holding()
    flatten(bench, SYMBOL)
    const from = bench.now
    const said: unknown[] = []
    while (bench.now < from + 130_000) {
      bench.pass(1000, { holding: LONG })
      for (const { event, fields } of bench.take('announce')) {
        if (event === 'flatten.slow') said.push(fields)
      }
    }

    const stillHeld = { [`${STRATEGY} ${SYMBOL}`]: 'long 0.01' }
    const open = { scope: SYMBOL, stillHeld, openOrders: 1, unread: [SYMBOL] }
    expect(said).toEqual([15_000, 30_000, 60_000, 120_000].map((sinceMs) => ({ ...open, sinceMs })))
  })

  test('names what no strategy here holds, in the size that its instrument had', () => {
    const { records, settings } = holding()
    const instruments = new Map(
      [...settings.instruments.values()].map((one) => ['OTHER', one] as const),
    )
    const bench = new EngineBench({ instruments, strategies: new Map() })
    bench.records.push(...records)
    bench.restart().start()
    flatten(bench, '*')

    expect(bench.take('announce')).toContainEqual({
      kind: 'announce',
      level: 'error',
      event: 'flatten.left',
      fields: {
        scope: '*',
        stillHeld: { [SYMBOL]: `long 0.01, of ${STRATEGY}` },
      },
    })
  })

  test('of a strategy that is not configured any more is refused, and says what it still holds', () => {
    const { records, settings } = holding()
    const bench = new EngineBench({ ...settings, strategies: new Map() })
    bench.records.push(...records)
    bench.restart().start({ holding: LONG })
    bench.take('announce')
    const scope = `strategy:${STRATEGY}`

    flatten(bench, scope)

    const stillHeld = { [`${STRATEGY} ${SYMBOL}`]: 'long 0.01' }
    const [refused] = bench.take('announce')
    expect(refused).toMatchObject({ event: 'trading.scopeUnknown', fields: { scope, stillHeld } })
    expect(bench.halts.size).toBe(0)
    const judged = judgeScope({ kind: 'flatten', scope, ...BY_ANNA }, bench)
    expect(judged).toEqual({ isScopeUnknown: true, unclosable: stillHeld })
    expect(adviseUnclosable(judged.unclosable)).toEqual([
      expect.stringMatching(
        /s BTCUSDT long 0\.01, .* put the strategy back .* or close it by hand$/,
      ),
    ])
    // A flatten of the instrument is obeyed, and its answer names the same.
    expect(judgeScope({ kind: 'flatten', scope: SYMBOL, ...BY_ANNA }, bench)).toEqual({
      isScopeUnknown: false,
      unclosable: stillHeld,
    })
  })

  test.each([
    [
      'before it is done says what it leaves open',
      ['*'],
      { [`${STRATEGY} ${SYMBOL}`]: 'long 0.01' },
    ],
    ['says nothing where another flatten closes it', ['*', SYMBOL], undefined],
  ])('released %s', (_, scopes, stillHeld) => {
    const bench = holding()
    for (const scope of scopes) flatten(bench, scope)
    bench.step({ kind: 'commanded', command: { kind: 'release', scope: '*', ...BY_ANNA } })

    const dropped = bench.take('announce').find(({ event }) => event === 'flatten.dropped')
    expect(dropped?.fields['stillHeld']).toEqual(stillHeld)
  })

  test('says so again when it is ordered again', () => {
    const bench = new EngineBench().start()
    for (let time = 0; time < 2; time++) {
      flatten(bench, SYMBOL)
      bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...BY_ANNA } })
    }

    expect(bench.take('announce').filter(({ event }) => event === 'flatten.done')).toHaveLength(2)
  })

  test('takes away what waits to be placed, and what is decided meanwhile', () => {
    const place = {
      kind: 'place',
      symbol: SYMBOL,
      action: 'openLong',
      lots: 5,
      ttlMs: 3_600_000,
    } as const
    const bench = new EngineBench().start()
    bench.decide({ ...place, key: 'before' })
    flatten(bench, SYMBOL)
    expect(bench.book.places.size).toBe(0)

    bench.decide({ ...place, key: 'meanwhile' })
    bench.step({ kind: 'timePassed' })
    expect(bench.book.places.size).toBe(0)
  })

  test('holds until it is released; then each strategy has to look first', () => {
    const bench = holding()
    flatten(bench, SYMBOL)
    cancelLadder(bench)
    fillBatch(bench, 'sell')
    bench.pass(6000)
    bench.take('askGrant')

    bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...BY_ANNA } })
    bench.pass(200)
    expect([bench.halts.size, bench.take('askGrant')]).toEqual([0, []])

    bench.quote({ ...BID, ticks: 99_980 })
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'batchPlaceOrder' }])
  })
})

describe('[RSK2] a restriction', () => {
  test('of the strategy holds back its orders on every instrument, and no others', () => {
    const bench = manyInstruments()
    const scope = strategyScope(OTHER)
    bench.step({
      kind: 'commanded',
      command: { kind: 'restrict', scope, mode: 'halted', ...BY_ANNA },
    })
    for (const id of [OTHER, STRATEGY]) {
      bench.decideAs(id, { kind: 'quote', symbol: SYMBOLS[0], levels: [BID] })
    }
    expect(sentOrders(bench)).toMatchObject([{ strategyId: STRATEGY }])
  })

  test('is written down with who and why, once however often it is said', () => {
    const bench = new EngineBench().start()
    const command = { kind: 'restrict', scope: '*', mode: 'reducing', ...BY_ANNA } as const
    bench.step({ kind: 'commanded', command })
    bench.step({ kind: 'commanded', command })

    expect(bench.recordsOf('restricted')).toMatchObject([
      { mode: 'reducing', code: 'operator', ...BY_ANNA },
    ])
  })

  test('of several the strictest counts, and a release ends all of its scope', () => {
    const bench = new EngineBench().start()
    for (const [scope, mode] of [['*', 'reducing'] as const, [SYMBOL, 'halted'] as const]) {
      bench.step({ kind: 'commanded', command: { kind: 'restrict', scope, mode, ...BY_ANNA } })
    }
    bench.quote(BID)
    bench.step({ kind: 'commanded', command: { kind: 'release', scope: SYMBOL, ...BY_ANNA } })
    bench.price(10_000.2)
    bench.decide()

    expect([...bench.engine.denied.keys()]).toEqual(['TRADING_HALTED', 'TRADING_REDUCING'])
  })
})

describe('[RSK3] beside an order in quarantine', () => {
  /** Ten lots long, and a close of four whose answer was lost and whose fills are too many for it. */
  function contradicted(): EngineBench {
    const bench = new EngineBench().start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
    fillBatch(bench, 'buy')
    bench.pass(6000, { holding: LONG })
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 6 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    const close = (orderId: string) =>
      bench.fill({
        orderId: toOrderId(orderId),
        side: 'sell',
        lots: 4,
        scope: 'taker',
        ticks: 100_000,
      })
    bench.pass(13_000, {
      fills: [close('77'), close('78')],
      holding: { longLots: 2, shortLots: 0 },
    })
    return bench
  }

  test.each<[string, EngineEvent]>([
    ['a flatten', { kind: 'commanded', command: { kind: 'flatten', scope: SYMBOL, ...BY_ANNA } }],
    ['a stop that flattens', { kind: 'commanded', command: { kind: 'stop', policy: 'flatten' } }],
  ])('%s closes what is held', (_, command) => {
    const bench = contradicted()
    expect(bench.states().filter((state) => state === 'quarantined')).toHaveLength(1)

    bench.step(command)
    bench.pass(1000, { holding: { longLots: 2, shortLots: 0 } })

    expect(sentOrders(bench)).toMatchObject([{ purpose: 'flatten', action: 'closeLong', lots: 2 }])
  })
})
