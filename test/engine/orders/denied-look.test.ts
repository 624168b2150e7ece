import { expect, test } from 'vitest'
import { EngineBench } from '../engine-bench.ts'

const TOO_LARGE = { side: 'buy', ticks: 99_990, lots: 101 } as const

function withDenied(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(TOO_LARGE)
  return bench
}

test('[BND2] what changes behind a denial is looked at within the same snapshot', () => {
  const bench = withDenied()
  bench.step({ kind: 'timePassed' })
  expect([...bench.engine.denied]).toEqual([['ORDER_SIZE_LIMIT', 1]])

  bench.quote({ ...TOO_LARGE, lots: 100 })

  expect(bench.grantBatch().clientOids).toHaveLength(1)
})

test('[MKT1] prices that grow too old are another denial, within the same snapshot too', () => {
  const bench = withDenied()

  for (let second = 0; second < 3; second++) {
    bench.now += 1000
    bench.step({ kind: 'timePassed' })
  }

  expect([...bench.engine.denied]).toEqual([
    ['ORDER_SIZE_LIMIT', 1],
    ['DATA_STALE', 1],
  ])
})

test('a denial counts once a snapshot', () => {
  const bench = withDenied()

  for (let snapshot = 0; snapshot < 3; snapshot++) {
    bench.now += 50
    bench.price()
    bench.step({ kind: 'timePassed' })
    bench.step({ kind: 'timePassed' })
  }

  expect([...bench.engine.denied]).toEqual([['ORDER_SIZE_LIMIT', 4]])
})
