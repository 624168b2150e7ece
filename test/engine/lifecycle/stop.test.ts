import { describe, expect, test } from 'vitest'
import { type Answer } from '../../../src/domain/answer.ts'
import { type StopPolicy } from '../../../src/engine/event.ts'
import { type BatchResult } from '../../../src/protocol/values.ts'
import { EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const EMPTY = refused('22001', 'definite')
const LONG = { longLots: 10, shortLots: 0 }

function stop(bench: EngineBench, policy: StopPolicy): void {
  bench.step({ kind: 'commanded', command: { kind: 'stop', policy } })
}

function resting(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  return bench
}

describe('[RSK3] a stop', () => {
  test('that leaves sends nothing, and proves itself by last readings', () => {
    const bench = resting()
    stop(bench, 'leave')
    bench.pass(4_000)

    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
    expect([bench.states(), bench.take('sendCancelAll')]).toEqual([['live'], []])
  })

  test('is not clean while a position is not what the fills explain, and takes the exchange at its word', () => {
    const bench = new EngineBench().start()
    stop(bench, 'leave')
    bench.pass(1_900, { holding: LONG })
    expect([bench.take('stopped'), bench.recordsOf('adopt')]).toEqual([[], []])

    bench.pass(6_000, { holding: LONG })
    expect(bench.recordsOf('adopt')).toMatchObject([{ holding: LONG }])
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
  })

  test('that cancels is done when a second cancel-all has found nothing', () => {
    const bench = resting()
    stop(bench, 'cancel')
    const listed = [{ clientOid: [...bench.book.orders.keys()][0] ?? '', orderId: '1001' }]
    bench.answerCancel(bench.grantCancel().cancelId, {
      kind: 'accepted',
      data: { successList: listed, failureList: [] },
      receivedAt: 0,
    })
    bench.pass(2_000)
    expect(bench.take('stopped')).toEqual([])

    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(4_000)
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
    expect(bench.states()).toEqual(['done'])
  })

  test('whose second cancel-all finds something asks a third time', () => {
    const bench = resting()
    stop(bench, 'cancel')
    const found = {
      kind: 'accepted' as const,
      data: { successList: [{ clientOid: 'x', orderId: '9' }], failureList: [] },
      receivedAt: 0,
    } satisfies Answer<BatchResult>
    for (let round = 0; round < 2; round++) {
      bench.answerCancel(bench.grantCancel().cancelId, found)
      bench.pass(2_000)
    }

    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(4_000)
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
  })

  test('that flattens reads its own fills, and ends flat', () => {
    const bench = resting()
    const fills = [bench.fill({ lots: 10 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills, holding: LONG })
    stop(bench, 'flatten')
    bench.pass(200, { fills, holding: LONG })
    const batch = bench.grantBatch()
    expect(batch.body).toContain('"reduceOnly":"YES"')
    bench.accept(batch)

    fills.push(bench.fill({ orderId: '2001' as never, side: 'sell', tradeSide: 'close', lots: 10 }))
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.pass(3_000, { fills })

    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual({ longLots: 0, shortLots: 0 })
  })

  test('that flattens and cannot close gives up at its time, and is not clean', () => {
    const bench = resting()
    const fills = [bench.fill({ lots: 10 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills, holding: LONG })
    stop(bench, 'flatten')
    bench.pass(29_900, { fills, holding: LONG })
    expect([bench.take('stopped'), bench.engine.phase]).toEqual([[], 'running'])

    bench.pass(4_000, { fills, holding: LONG })
    expect(bench.take('stopped')).toEqual([{ kind: 'stopped', clean: false }])
    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual(LONG)
  })

  test('that flattens waits for an instrument with an unknown order, and closes it too', () => {
    const bench = resting()
    const fills = [bench.fill({ lots: 10 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills, holding: LONG })
    bench.quote({ ...BID, ticks: 99_980 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    stop(bench, 'flatten')
    bench.pass(10_500, { fills, holding: LONG })
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(3_000, { fills, holding: LONG })
    bench.accept(bench.grantBatch())
    fills.push(bench.fill({ orderId: '3001' as never, side: 'sell', tradeSide: 'close', lots: 10 }))
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.pass(3_000, { fills })
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(6_000, { fills })

    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
    expect(bench.book.holdings.get(`s|${SYMBOL}`)).toEqual({ longLots: 0, shortLots: 0 })
  })

  test('that flattens is overtaken by one that leaves', () => {
    const bench = resting()
    stop(bench, 'flatten')
    expect(bench.engine.phase).toBe('running')
    stop(bench, 'leave')

    expect(bench.engine.phase).toBe('stopping')
  })

  test('that flattens places nothing more once a kill is thrown, and follows its proof', () => {
    const bench = resting()
    const fills = [bench.fill({ lots: 10 })]
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills, holding: LONG })
    stop(bench, 'flatten')
    bench.take('sendBatch')
    bench.step({ kind: 'commanded', command: { kind: 'kill', reason: 'enough', by: 'anna' } })
    for (let round = 0; round < 10; round++) {
      bench.pass(4_000, { fills, holding: LONG })
      const cancel = bench.take('sendCancelAll')[0]
      if (cancel) bench.answerCancel(cancel.cancelId, EMPTY)
    }

    expect(bench.take('sendBatch')).toEqual([])
    expect(bench.take('stopped')).toEqual([{ kind: 'stopped', clean: false }])
  })

  test('waits for an order that is unknown', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    stop(bench, 'leave')
    bench.pass(9_000)
    expect(bench.take('stopped')).toEqual([])

    bench.pass(1_100)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(4_000)
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
  })

  test('that takes too long ends, and says that it is not clean', () => {
    const bench = resting()
    stop(bench, 'cancel')
    bench.pass(40_100)

    expect(bench.take('stopped')).toEqual([{ kind: 'stopped', clean: false }])
  })

  test('lets nothing out afterwards', () => {
    const bench = resting()
    stop(bench, 'leave')
    bench.pass(2_000)
    bench.effects = []
    bench.quote(BID, { ...BID, ticks: 99_980 })
    bench.pass(1_000)

    expect([...bench.take('askGrant'), ...bench.take('sendBatch')]).toEqual([])
  })
})

const REMOVED = { isRefused: true, isRemoved: true }

/** Time passes; fills are read, and the position is refused for good, as of a contract that was removed. */
function passRemoved(bench: EngineBench, ms: number): void {
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.now += 100
    bench.step({ kind: 'timePassed' })
    for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
    for (const { symbol } of bench.take('readPosition')) {
      const reason = 'refused 40309: The symbol has been removed'
      bench.step({
        kind: 'readFailed',
        what: `position ${symbol}`,
        reason,
        status: 400,
        ...REMOVED,
      })
    }
    const cancels = bench.take('askGrant').filter(({ endpoint }) => endpoint === 'cancelAllOrders')
    if (cancels.length > 0)
      bench.answerCancel(bench.grantCancel().cancelId, refused('40309', 'definite'))
    bench.read()
  }
}

describe('[RSK3] a stop of an instrument that the exchange does not know any more', () => {
  test.each(['leave', 'cancel'] as const)(
    'is clean where nothing of ours is left: %s',
    (policy) => {
      const bench = new EngineBench().start()
      stop(bench, policy)
      passRemoved(bench, 6000)

      expect(bench.take('stopped')).toMatchObject([{ clean: true }])
    },
  )

  test.each(['leave', 'cancel'] as const)(
    'is soon over and says why where orders may rest: %s',
    (policy) => {
      const bench = resting()
      bench.effects = []
      stop(bench, policy)
      passRemoved(bench, 100)
      expect(bench.engine.endings).toMatchObject([{ kind: policy }])
      passRemoved(bench, 7900)

      expect(bench.take('stopped')).toMatchObject([{ clean: false }])
      expect(bench.engine.endings).toEqual([])
      const said = bench.take('announce').filter(({ event }) => event === 'daemon.stopped')
      expect(said).toMatchObject([
        {
          fields: {
            unproved: [SYMBOL],
            reason: expect.stringContaining(`${SYMBOL}: refused 40309`),
          },
        },
      ])
    },
  )
})
