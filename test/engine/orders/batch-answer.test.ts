import { describe, expect, test } from 'vitest'
import { type Intent } from '../../../src/domain/intent.ts'
import { toBookRows, rebuildBook } from '../../../src/engine/book/book-rows.ts'
import { accepted, EngineBench, refused, SYMBOL, TIMED_OUT } from '../engine-bench.ts'

const LADDER: Intent = {
  kind: 'quote',
  symbol: SYMBOL,
  levels: [
    { side: 'buy', ticks: 99_980, lots: 10 },
    { side: 'buy', ticks: 99_970, lots: 10 },
  ],
}

/** A ladder of two orders has left, and waits for its answer. */
function sendLadder(bench: EngineBench) {
  bench.decide(LADDER)
  return bench.grantBatch()
}

describe('what a batch came back with', () => {
  test('[ORD6] each item has its own outcome: a success with a failure list is not success', () => {
    const bench = new EngineBench().start()
    const { batchId, clientOids } = sendLadder(bench)
    const [first, second] = clientOids

    bench.answer(
      batchId,
      accepted({
        successList: [{ orderId: '77', clientOid: first }],
        failureList: [
          { orderId: '', clientOid: second, errorMsg: 'too small', errorCode: '45111' },
        ],
      }),
    )

    expect(bench.states()).toEqual(['live', 'rejected'])
  })

  test('[ORD3] a batch that times out stays unknown, and nothing is sent in its place', () => {
    const bench = new EngineBench().start()
    const { batchId } = sendLadder(bench)

    bench.answer(batchId, TIMED_OUT)
    bench.pass(1000)
    bench.decide(LADDER)

    expect(bench.states()).toEqual(['unknown', 'unknown'])
    expect(bench.take('sendBatch')).toEqual([])
  })

  test('an item refused for the position mode halts its instrument, and says so', () => {
    const bench = new EngineBench().start()
    const { batchId, clientOids } = sendLadder(bench)
    const failureList = clientOids.map((clientOid) => ({
      orderId: '',
      clientOid,
      errorMsg: '',
      errorCode: '40774',
    }))

    bench.answer(batchId, accepted({ successList: [], failureList }))

    expect([...bench.halts.keys()]).toEqual([SYMBOL])
    expect(bench.take('announce').map(({ event }) => event)).toContain('trading.halted')
  })

  test('[RSK2] a key that the exchange refuses halts everything, and a restart does not forget it', () => {
    const bench = new EngineBench().start()
    const { batchId } = sendLadder(bench)

    bench.answer(batchId, refused('40009', 'definite'))
    bench.restart().start()
    bench.decide(LADDER)

    expect([...bench.halts.keys()]).toEqual(['*'])
    expect(bench.take('sendBatch')).toEqual([])
    expect(bench.engine.denied.get('TRADING_HALTED')).toBe(2)
  })
})

describe('[DET1] the core is a function of its events', () => {
  /** A run with a ladder, an answer, a fill, a lost answer and the passing of time. */
  function live(): { effects: string; bench: EngineBench } {
    const bench = new EngineBench()
    const effects: string[] = []
    const step = bench.step.bind(bench)
    bench.step = (event) => {
      const done = step(event)
      effects.push(JSON.stringify(done))
      return done
    }
    bench.start()
    bench.accept(sendLadder(bench))
    const [order] = bench.book.orders.values()
    if (order?.orderId !== undefined) {
      bench.step({ kind: 'pollDue', what: 'fills' })
      bench.read({ fills: [bench.fill({ orderId: order.orderId, ticks: 99_980, lots: 10 })] })
    }
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 20 })
    bench.answer(bench.grantBatch().batchId, TIMED_OUT)
    bench.pass(2000, { holding: { longLots: 10, shortLots: 0 } })
    return { effects: effects.join('\n'), bench }
  }

  test('the same events at the same times give the same effects, byte for byte', () => {
    const first = live().effects

    expect(first.length).toBeGreaterThan(2000)
    expect(live().effects).toBe(first)
  })

  test('[DET2] the book rebuilt from the records equals the book that wrote them', () => {
    const { bench } = live()
    const records = JSON.parse(JSON.stringify(bench.records)) as typeof bench.records

    const rebuilt = rebuildBook({ checkpoint: undefined, records }, bench.settings.positionMode)

    expect(bench.book.trades.size).toBe(1)
    expect(JSON.stringify(toBookRows(rebuilt))).toBe(JSON.stringify(toBookRows(bench.book)))
  })
})
