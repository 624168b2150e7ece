import { describe, expect, test } from 'vitest'
import { EngineBench, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const UNSYNCHRONISED = { kind: 'clockUnsynchronised', reason: 'a test' } as const
const SYNCHRONISED = { kind: 'clockSynchronised', offsetMs: 0 } as const

/** A core that wants to place a bid, and has asked for the call. */
function wanting(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  return bench
}

function grant(bench: EngineBench) {
  bench.step({ kind: 'granted', endpoint: 'batchPlaceOrder' })
  return bench.take('sendBatch')
}

describe('the clock gate', () => {
  test('closes when a clock is unsynchronised, says so, and opens with the next measurement that synchronises it', () => {
    const bench = wanting()
    bench.step(UNSYNCHRONISED)

    expect(grant(bench)).toEqual([])
    bench.step({ kind: 'timePassed' })
    expect(bench.engine.denied.get('CLOCK_UNSYNCHRONISED')).toBe(1)
    expect(bench.take('announce').map(({ event }) => event)).toContain('clock.unsynchronised')

    bench.step(SYNCHRONISED)
    bench.step({ kind: 'timePassed' })
    expect(grant(bench)).toHaveLength(1)
  })

  test('closes for closes too: their acceptance deadline hangs on the same clock', () => {
    const bench = wanting()
    bench.accept(bench.grantBatch())
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [bench.fill({ lots: 10 })] })
    bench.step(UNSYNCHRONISED)

    bench.decide({
      kind: 'place',
      symbol: SYMBOL,
      key: 'a',
      action: 'closeLong',
      lots: 10,
      ttlMs: 9000,
    })

    expect(grant(bench)).toEqual([])
  })

  test.each([
    [60_000, 1],
    [60_001, 0],
  ])('after %i ms without a measurement lets %i batches through', (ms, batches) => {
    const bench = new EngineBench()
    const limits = { ...bench.settings.limits, dataAgeMaxMs: 600_000 }
    const unmeasured = new EngineBench({ limits }).start()
    unmeasured.quote(BID)

    unmeasured.now += ms

    expect(grant(unmeasured)).toHaveLength(batches)
  })

  test('lets cancel-alls and reads go on', () => {
    const bench = wanting()
    bench.accept(bench.grantBatch())
    bench.step(UNSYNCHRONISED)
    bench.quote()
    for (let step = 0; step < 20; step++) {
      bench.now += 50
      bench.step({ kind: 'timePassed' })
    }
    bench.step({ kind: 'pollDue', what: 'fills' })

    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
    expect(bench.take('readFills').length).toBeGreaterThan(0)
  })
})

describe('[ORD3] the acceptance deadline of an unknown order', () => {
  function lost(): EngineBench {
    const bench = wanting()
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    return bench
  }

  test('does not pass while the clock is unsynchronised', () => {
    const bench = lost()
    bench.now += 60_000
    bench.step(UNSYNCHRONISED)
    bench.step({ kind: 'timePassed' })
    expect(bench.take('askGrant')).toEqual([])

    bench.step(SYNCHRONISED)
    bench.step({ kind: 'timePassed' })
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })

  test('is judged by the exchange’s clock as it is now: put back, it lasts longer', () => {
    const bench = lost()
    bench.now += 10_100
    bench.step({ kind: 'clockSynchronised', offsetMs: -5000 })
    bench.step({ kind: 'timePassed' })
    expect(bench.take('askGrant')).toEqual([])

    bench.now += 5000
    bench.step({ kind: 'clockSynchronised', offsetMs: -5000 })
    bench.step({ kind: 'timePassed' })
    expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'cancelAllOrders' }])
  })
})
