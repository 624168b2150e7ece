import { expect, test } from 'vitest'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

/** Ten lots long, and the instrument may only reduce. */
function reducing(): EngineBench {
  const bench = new EngineBench().start()
  bench.buy(10)
  const command = {
    kind: 'restrict',
    scope: SYMBOL,
    mode: 'reducing',
    reason: 'drill',
    by: 'anna',
  } as const
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
