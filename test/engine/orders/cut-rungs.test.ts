import { expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const LONG = { longLots: 10, shortLots: 0 }

/** Ten lots long, and the instrument may only reduce. */
function reducing(): EngineBench {
  const bench = new EngineBench().start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, lots: 10, ticks: 100_000, scope: 'taker' })
  bench.step({ kind: 'pollDue', what: 'fills' })
  bench.read({ fills: [fill], holding: LONG })
  bench.pass(6000, { holding: LONG })
  const command = { kind: 'restrict', scope: SYMBOL, mode: 'reducing', reason: 'drill', by: 'anna' } as const
  bench.step({ kind: 'commanded', command })
  return bench
}

test('the rung that meets the other side leaves what is held to the next one', () => {
  const bench = reducing()

  bench.quote({ side: 'sell', ticks: 99_990, lots: 10 }, { side: 'sell', ticks: 100_020, lots: 10 })

  const { clientOids } = bench.grantBatch()
  const sent = clientOids.map((id) => bench.book.orders.get(id)?.terms)
  expect(sent).toMatchObject([{ ticks: 100_020, lots: 10 }])
})
