import { expect, test } from 'vitest'
import { EngineBench } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const

test('[RSK2] with little room for the journal nothing is opened, until there is room again', () => {
  const bench = new EngineBench().start()
  bench.step({ kind: 'spaceMeasured', isLow: true, freeBytes: 10 })
  bench.quote(BID)
  expect(bench.take('askGrant')).toEqual([])
  expect(bench.take('announce').map(({ event }) => event)).toEqual(
    expect.arrayContaining(['disk.low', 'intent.denied']),
  )

  bench.step({ kind: 'spaceMeasured', isLow: false, freeBytes: 10_000 })
  bench.pass(100)

  expect(bench.take('askGrant')).toMatchObject([{ endpoint: 'batchPlaceOrder' }])
})
