import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { type PositionMode } from '../../../src/domain/instrument.ts'
import { type PlaceIntent } from '../../../src/domain/intent.ts'
import { type RestrictedMode, type Scope, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { madeInstrument } from '../../support/market-moment.ts'
import { accepted, EngineBench, refused, STRATEGY, SYMBOL, TIMED_OUT } from '../engine-bench.ts'
import { manyInstruments, OTHER, SYMBOLS } from '../many-instruments.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const ASK = { side: 'sell', ticks: 100_010, lots: 10 } as const
const LONG = { longLots: 10, shortLots: 0 }
const BY_NAME: PlaceIntent = {
  kind: 'place',
  symbol: SYMBOL,
  key: 'a',
  action: 'openLong',
  lots: 10,
  ticks: 99980,
  ttlMs: 36e5,
}
const SCOPES = [[SYMBOL], ['*'], [strategyScope(STRATEGY)]] as const

function restrict(bench: EngineBench, scope: Scope, mode: Exclude<RestrictedMode, 'killed'>): void {
  const command = { kind: 'restrict', scope, mode, reason: 'drill', by: 'anna' } as const
  bench.step({ kind: 'commanded', command })
}

function release(bench: EngineBench, scope: Scope): void {
  bench.step({
    kind: 'commanded',
    command: { kind: 'release', scope, reason: 'looked', by: 'anna' },
  })
}

/** Flat, and a ladder of a bid and an ask rests. */
function quoting(...levels: Parameters<EngineBench['quote']>): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(...levels)
  bench.accept(bench.grantBatch())
  bench.take('askGrant')
  return bench
}

/** Ten lots long, and this ladder rests. */
function holding(
  levels: Parameters<EngineBench['quote']>,
  mode?: PositionMode,
  change: Partial<EngineSettings> = {},
): EngineBench {
  const bench = new EngineBench(change, mode).start()
  bench.buy(10)
  bench.quote(...levels)
  bench.accept(bench.grantBatch())
  bench.take('askGrant')
  return bench
}

/** The ask that rests is filled in part. */
function fillInPart(bench: EngineBench, left: typeof LONG): void {
  const ask = [...bench.book.orders.values()].find(
    ({ state, terms }) => state === 'live' && terms.ticks === ASK.ticks,
  )
  const orderId = toOrderId(ask?.orderId ?? '')
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [bench.fill({ orderId, side: 'sell', ticks: ASK.ticks })], holding: left })
}

/** The cancel-all that is due is answered, and it is proved what it took. */
function cancel(bench: EngineBench, held?: typeof LONG): void {
  bench.take('askGrant')
  bench.answerCancel(bench.grantCancel().cancelId, accepted({ successList: [], failureList: [] }))
  bench.pass(4000, held && { holding: held })
}

const asked = (bench: EngineBench): string[] =>
  bench.take('askGrant').map(({ endpoint }) => endpoint)

const resting = (bench: EngineBench) =>
  [...bench.book.orders.values()].filter(({ state }) => state === 'live').map(({ terms }) => terms)

describe('[RSK2] what rests when a restriction begins', () => {
  describe.each([['reducing'], ['halted']] as const)('%s', (mode) => {
    test.each(SCOPES)(
      'of %s is cancelled at once where it adds risk, and is not placed again',
      (scope) => {
        const bench = quoting(BID, ASK)

        restrict(bench, scope, mode)
        expect(asked(bench)).toEqual(['cancelAllOrders'])
        cancel(bench)
        bench.quote(BID, ASK)
        bench.pass(10_000)

        expect([resting(bench), asked(bench)]).toEqual([[], []])
        expect(bench.take('announce').map(({ event }) => event)).not.toContain(
          'order.displacedLate',
        )
      },
    )

    test('comes back after the release, once its strategy has decided again', () => {
      const bench = quoting(BID, ASK)
      restrict(bench, SYMBOL, mode)
      cancel(bench)

      release(bench, SYMBOL)
      bench.pass(100)
      expect(asked(bench)).toEqual([])
      bench.quote(BID, ASK)

      expect(bench.grantBatch().clientOids).toHaveLength(2)
    })

    test('is cancelled at the start that finds the restriction', () => {
      const bench = quoting(BID, ASK)
      restrict(bench, SYMBOL, mode)

      bench.restart().start()
      bench.pass(100)
      cancel(bench)

      expect([resting(bench), asked(bench)]).toEqual([[], []])
    })

    test('and was placed by name is cancelled, and does not wait to be placed again', () => {
      const bench = new EngineBench().start()
      bench.decide(BY_NAME)
      bench.accept(bench.grantBatch())

      restrict(bench, SYMBOL, mode)
      cancel(bench)
      expect([resting(bench), bench.book.places.size]).toEqual([[], 0])
      release(bench, SYMBOL)
      bench.pass(100)
      bench.decide()

      expect(bench.take('sendBatch')).toEqual([])
    })

    test('stays where it only reduces', () => {
      const bench = holding([ASK])

      restrict(bench, '*', mode)
      bench.pass(20_000, { holding: LONG })

      expect([resting(bench).length, asked(bench)]).toEqual([1, []])
    })

    test('takes a cancel-all a second while those fail, as anything unwanted', () => {
      const bench = quoting(BID)
      restrict(bench, '*', mode)
      let calls = 0
      for (const endAt = bench.now + 10_000; bench.now < endAt; bench.pass(50)) {
        if (!asked(bench).includes('cancelAllOrders')) continue
        calls += 1
        bench.take('askGrant')
        bench.answerCancel(bench.grantCancel().cancelId, refused('40009', 'definite'))
      }

      expect(calls).toBeLessThanOrEqual(11)
    })
  })

  test('and is of another strategy is placed again', () => {
    const bench = manyInstruments()
    const [symbol] = SYMBOLS
    bench.decideAs(OTHER, { kind: 'quote', symbol, levels: [BID] })
    bench.accept(bench.grantBatch())
    bench.decide({ kind: 'quote', symbol, levels: [{ ...BID, ticks: 99_980 }] })
    bench.accept(bench.grantBatch())

    restrict(bench, strategyScope(OTHER), 'halted')
    cancel(bench)

    const { clientOids } = bench.grantBatch()
    expect(clientOids.map((id) => bench.book.orders.get(id)?.terms.strategyId)).toEqual([STRATEGY])
  })

  test('and reduces goes with the cancel-all, and is placed again while reducing', () => {
    const bench = holding([BID, ASK])

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, LONG)
    bench.accept(bench.grantBatch())
    bench.pass(6000, { holding: LONG })

    expect(resting(bench)).toMatchObject([{ ticks: ASK.ticks }])
    expect(bench.take('sendCancelAll')).toEqual([])
  })

  test('[ORD8] by name and reduces by a fill that the cancel-all has explained is placed again', () => {
    const bench = new EngineBench().start()
    bench.decide({ ...BY_NAME, action: 'openShort', ticks: ASK.ticks })
    bench.accept(bench.grantBatch())
    bench.decide({ ...BY_NAME, key: 'b' })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    // The fill waits for its order, which is unknown until the resolution ends.
    bench.step({ kind: 'pollDue', what: 'fills' })
    const fill = bench.fill({ orderId: toOrderId('77'), lots: 10, ticks: 99_980 })
    bench.read({ fills: [fill], holding: LONG })
    restrict(bench, SYMBOL, 'reducing')
    bench.pass(40_000, { holding: LONG })
    cancel(bench, LONG)

    const [settled] = bench.records.filter(({ kind }) => kind === 'settle')
    expect(settled).toMatchObject({ orders: [{ replacement: { lots: 10 } }, { orderId: '77' }] })
    expect([...bench.book.places.values()]).toMatchObject([{ action: 'openShort', lots: 10 }])
  })

  test('[ORD8] and reduces goes with the cancel-all while halted, which is reported', () => {
    const bench = holding([BID, ASK])

    restrict(bench, SYMBOL, 'halted')
    cancel(bench, LONG)
    bench.pass(6000, { holding: LONG })

    expect([resting(bench), bench.take('sendBatch')]).toEqual([[], []])
    const late = bench.take('announce').filter(({ event }) => event === 'order.displacedLate')
    expect(late).toMatchObject([{ fields: { orders: [{ strategy: STRATEGY }] } }])
    // [BND2] What is denied and was reported waits for no time.
    expect(bench.engine.isWaiting).toBe(false)
  })

  test('[ORD8] and is what is left of a rung goes with the cancel-all, and is placed again as far as it closes', () => {
    const bench = holding([BID, ASK])
    const left = { longLots: 6, shortLots: 0 }
    fillInPart(bench, left)
    bench.take('announce')

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, left)
    bench.quote(BID, ASK)
    bench.accept(bench.grantBatch())
    asked(bench)
    bench.pass(20_000, { holding: left })

    expect([resting(bench), asked(bench)]).toMatchObject([[{ ticks: ASK.ticks, lots: 6 }], []])
    const ended = bench
      .take('announce')
      .filter(({ event }) => /^order\.displaced|^orders\./.test(event))
    expect(ended.map(({ event }) => event)).toEqual(['orders.restored'])
  })

  test('[ORD8] and is what is left of a rung goes with the cancel-all; that its strategy does not decide again is reported', () => {
    const bench = holding([BID, ASK])
    const left = { longLots: 6, shortLots: 0 }
    fillInPart(bench, left)
    bench.take('announce')

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, left)
    bench.pass(6000, { holding: left })

    expect([resting(bench), bench.take('sendBatch')]).toEqual([[], []])
    const ended = bench
      .take('announce')
      .filter(({ event }) => /^order\.displaced|^orders\./.test(event))
    expect(ended).toMatchObject([
      { event: 'order.displacedLate', fields: { orders: [{ strategy: STRATEGY }] } },
    ])
  })

  test('and together closes more than is held is cancelled, and placed again as far as it closes', () => {
    const [six, further] = [
      { ...ASK, lots: 6 },
      { ...ASK, ticks: 100_020, lots: 6 },
    ]
    const bench = holding([further, six])

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, LONG)
    bench.accept(bench.grantBatch())
    asked(bench)
    bench.pass(20_000, { holding: LONG })

    expect(resting(bench)).toMatchObject([
      { ticks: six.ticks, lots: 6 },
      { ticks: further.ticks, lots: 4 },
    ])
    expect([asked(bench), bench.take('sendCancelAll')]).toEqual([[], []])
  })

  test('of what is filled in part counts with what is left of it', () => {
    const bench = holding([ASK])
    const left = { longLots: 6, shortLots: 0 }
    fillInPart(bench, left)

    restrict(bench, SYMBOL, 'reducing')
    bench.pass(6000, { holding: left })

    expect(resting(bench)).toHaveLength(1)
    expect(asked(bench)).not.toContain('cancelAllOrders')
  })

  test('and opens a leg of a hedged position is cancelled, whatever is held of the other; what closes one is placed again', () => {
    const bench = holding([ASK, { ...ASK, ticks: 100_020 }], 'hedge_mode')
    expect(resting(bench)).toMatchObject([{ action: 'closeLong' }, { action: 'openShort' }])

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, LONG)
    bench.accept(bench.grantBatch())

    expect(resting(bench)).toMatchObject([{ action: 'closeLong' }])
  })

  test('and opens a leg of a hedged position because it is larger than what is held is placed again as a close', () => {
    const further = { ...ASK, ticks: 100_020, lots: 5 }
    const bench = holding([further, { ...ASK, lots: 12 }], 'hedge_mode')
    expect(resting(bench)).toMatchObject([{ action: 'closeLong' }, { action: 'openShort' }])

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, LONG)
    bench.accept(bench.grantBatch())
    asked(bench)
    bench.pass(20_000, { holding: LONG })

    expect(resting(bench)).toMatchObject([{ action: 'closeLong', ticks: ASK.ticks, lots: 10 }])
    expect([asked(bench), bench.take('sendCancelAll')]).toEqual([[], []])
  })

  describe('a rung that was cut to what is held', () => {
    const LADDER = [BID, { ...ASK, lots: 15 }] as const

    /** Ten lots are held, and ten of the rung's fifteen rest. */
    function cut(): EngineBench {
      const bench = holding([...LADDER])
      restrict(bench, SYMBOL, 'reducing')
      cancel(bench, LONG)
      bench.accept(bench.grantBatch())
      bench.take('askGrant')
      bench.take('sendCancelAll')
      expect(resting(bench)).toMatchObject([{ lots: 10 }])
      return bench
    }

    test('is compared by its place, not by its size: once it is filled in part, it stays', () => {
      const bench = cut()
      const left = { longLots: 6, shortLots: 0 }

      fillInPart(bench, left)
      bench.quote(...LADDER)
      bench.pass(20_000, { holding: left })

      expect(resting(bench)).toMatchObject([{ lots: 10 }])
      expect([asked(bench), bench.take('sendCancelAll')]).toEqual([[], []])
    })

    test('is followed by another order, up to its size, when a late fill leaves more to close', () => {
      const bench = cut()

      const bid = [...bench.book.orders.values()].find(({ terms }) => terms.ticks === BID.ticks)
      const orderId = toOrderId(bid?.orderId ?? '')
      const more = { longLots: 13, shortLots: 0 }
      bench.decide({ kind: 'target', symbol: SYMBOL, lots: 13 })
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ fills: [bench.fill({ orderId, ticks: BID.ticks, lots: 3 })], holding: more })
      bench.quote(...LADDER)
      bench.accept(bench.grantBatch())
      asked(bench)
      bench.pass(20_000, { holding: more })

      expect(resting(bench)).toMatchObject([{ lots: 10 }, { ticks: ASK.ticks, lots: 3 }])
      expect([asked(bench), bench.take('sendCancelAll')]).toEqual([[], []])
    })

    test('stays under a stricter restriction', () => {
      const bench = cut()

      restrict(bench, '*', 'halted')
      bench.pass(20_000, { holding: LONG })

      expect([resting(bench).length, asked(bench)]).toEqual([1, []])
    })

    test('gives way to the whole rung after the release', () => {
      const bench = cut()

      release(bench, SYMBOL)
      bench.pass(100, { holding: LONG })
      bench.quote(...LADDER)

      const { clientOids } = bench.grantBatch()
      expect(clientOids.map((id) => bench.book.orders.get(id)?.terms.lots)).toEqual([10, 15])
    })
  })

  test('and of which less than the smallest order would be left to close is not placed, which is denied', () => {
    const [first, second] = [
      { ...ASK, lots: 9 },
      { ...ASK, ticks: 100_020, lots: 9 },
    ]
    const instruments = new Map([[SYMBOL, madeInstrument({ lotsMin: 2 })]])
    const bench = holding([first, second], 'one_way_mode', { instruments })

    restrict(bench, SYMBOL, 'reducing')
    cancel(bench, LONG)
    bench.accept(bench.grantBatch())
    bench.take('announce')
    bench.pass(70_000, { holding: LONG })

    expect(resting(bench)).toMatchObject([{ ticks: first.ticks, lots: 9 }])
    const denied = bench.take('announce').filter(({ event }) => event === 'intent.denied')
    expect(denied).toMatchObject([
      { fields: { code: 'SIZE_BELOW_MINIMUM', detail: '0.001, minimum 0.002' } },
    ])
  })

  test('and waits to be sent again is dropped', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.answer(bench.grantBatch().batchId, refused('429', 'notSent'))
    expect(bench.states()).toEqual(['queued'])

    restrict(bench, SYMBOL, 'reducing')

    expect(bench.states()).toEqual(['expired'])
  })

  test('stays under a restriction that is not recorded', () => {
    const bench = quoting(BID, ASK)

    bench.step({ kind: 'spaceMeasured', isLow: true, freeBytes: 10 })
    bench.pass(20_000)

    expect([resting(bench).length, asked(bench)]).toEqual([2, []])
  })
})
