import { describe, expect, test } from 'vitest'
import { type Answer } from '../../../src/domain/answer.ts'
import { EngineBench, refused, TIMED_OUT } from '../engine-bench.ts'

const HOUR_MS = 3_600_000
const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const EMPTY = refused('22001', 'definite')

/** The exchange refuses a time. @param requestTime Its own; undefined: it names none. */
function refuseTime(bench: EngineBench, requestTime?: number): Answer<never> {
  const refusal = { ...refused('40008', 'retry'), topic: 'clock', receivedAt: bench.now }
  return requestTime === undefined ? refusal : { ...refusal, requestTime }
}

function resting(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.accept(bench.grantBatch())
  return bench
}

/** The time in the body of a cancel-all, and the clock that signs it, both ahead of ours, ms. */
function timesOf(
  bench: EngineBench,
  cancel: { readonly body: string; readonly clockAheadMs?: number },
) {
  const { requestTime } = JSON.parse(cancel.body) as { readonly requestTime: string }
  return [Number(requestTime) - bench.now, cancel.clockAheadMs]
}

function stop(bench: EngineBench): void {
  bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'cancel' } })
}

describe('[RSK3] a cancel-all whose time is refused', () => {
  test('is made anew at once, recorded before it leaves, with the time of that refusal in body and signature', () => {
    const bench = resting()
    stop(bench)
    const first = bench.grantCancel()
    expect(timesOf(bench, first)).toEqual([0, undefined])
    bench.take('askGrant')

    bench.answerCancel(first.cancelId, refuseTime(bench, bench.now + HOUR_MS))
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
    const again = bench.grantCancel()
    expect(timesOf(bench, again)).toEqual([HOUR_MS, HOUR_MS])
    const recorded = bench.recordsOf('cancel').map(({ requestAt }) => requestAt - bench.now)
    expect(recorded).toEqual([0, HOUR_MS])

    const [clientOid = ''] = bench.book.orders.keys()
    const data = { successList: [{ clientOid, orderId: '1001' }], failureList: [] }
    bench.answerCancel(again.cancelId, { kind: 'accepted', data, receivedAt: bench.now })
    bench.pass(2_000)
    expect(timesOf(bench, bench.grantCancel())).toEqual([0, undefined])
  })

  test('and refused again waits a second; from the third on every second one has our own time', () => {
    const bench = resting()
    stop(bench)
    const times = []
    for (let round = 0; round < 6; round++) {
      bench.step({ kind: 'clockSynchronised', offsetMs: -HOUR_MS })
      const cancel = bench.grantCancel()
      times.push(timesOf(bench, cancel))
      bench.answerCancel(cancel.cancelId, refuseTime(bench))
      bench.pass(1_000)
    }
    const known = [-HOUR_MS, undefined]
    expect(times).toEqual([known, known, known, [0, 0], known, [0, 0]])
  })

  test('and not answered after that blocks its instrument as long as any other, whatever the clocks say', () => {
    const bench = resting()
    stop(bench)
    bench.answerCancel(bench.grantCancel().cancelId, refuseTime(bench, bench.now + HOUR_MS))
    bench.answerCancel(bench.grantCancel().cancelId, TIMED_OUT)
    const { lateCancelUntil = 0 } = bench.engine.instrument('BTCUSDT') ?? {}
    expect(lateCancelUntil - bench.now).toBe(6_000)
  })

  test('does not keep a stop from its end', () => {
    const bench = resting()
    stop(bench)
    for (let round = 0; round < 2; round++) {
      bench.answerCancel(bench.grantCancel().cancelId, refuseTime(bench, bench.now - HOUR_MS))
      bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
      bench.pass(2_000)
    }
    bench.pass(4_000)
    expect(bench.take('stopped')).toMatchObject([{ clean: true }])
  })
})

describe('a batch whose time is refused', () => {
  /** A target of ten lots, whose order was refused for its time. */
  function refusedOnce(): EngineBench {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.answer(bench.grantBatch().batchId, refuseTime(bench, bench.now + HOUR_MS))
    return bench
  }

  test('[ORD1] [ORD2] is queued, and sent again under its name, recorded anew with another time', () => {
    const bench = refusedOnce()
    expect(bench.states()).toEqual(['queued'])
    bench.pass(1_100)
    const again = bench.grantBatch()
    const [first, second] = bench.recordsOf('send')
    expect(again.clientOids).toEqual([...bench.book.orders.keys()])
    expect(second).toMatchObject({ orders: [], again: again.clientOids })
    expect((second?.requestAt ?? 0) - (first?.requestAt ?? 0)).toBeGreaterThanOrEqual(1_000)
    expect(bench.book.orders.get(again.clientOids[0] ?? ('' as never))?.lastSentAt).toBe(
      second?.requestAt,
    )
  })

  test('[ORD3] may have been accepted all the same: a definite refusal of the next one proves nothing', () => {
    const bench = refusedOnce()
    bench.pass(1_100)
    bench.refuse(bench.grantBatch(), '45110')
    expect(bench.states()).toEqual(['unknown'])
  })

  test('waits longer each time, and status says why', () => {
    const bench = refusedOnce()
    const pauses = []
    for (let round = 0; round < 4; round++) {
      const since = bench.now
      while (bench.take('askGrant').every(({ endpoint }) => endpoint !== 'batchPlaceOrder'))
        bench.pass(50)
      pauses.push(bench.now - since)
      bench.answer(bench.grantBatch().batchId, refuseTime(bench))
      expect(bench.engine.restrictions).toMatchObject([{ code: 'clockUnsynchronised' }])
    }
    expect(bench.engine.restrictions[0]?.reason).toMatch(
      /refuses the time of orders \(40008\), 5 in a row/,
    )
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000])
  })

  test('counts for one item as for all', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.refuse(bench.grantBatch(), '40008')
    expect(bench.states()).toEqual(['queued'])
  })
})
