import { expect, test } from 'vitest'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

test.each([
  ['more than is held, and each of them less', 6, true],
  ['what is held', 5, false],
])(
  '[RSK2] two orders that together close %s, behind a restriction to reducing',
  (_, lots, isHeld) => {
    const bench = new EngineBench().start()
    bench.quote({ side: 'buy', ticks: 99_990, lots: 10 })
    bench.accept(bench.grantBatch())
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.read({ fills: [bench.fill({ lots: 10 })] })
    bench.quote({ side: 'sell', ticks: 100_010, lots }, { side: 'sell', ticks: 100_020, lots })
    const batch = bench.grantBatch()
    const restriction = {
      kind: 'restrict',
      scope: SYMBOL,
      mode: 'reducing',
      reason: 'drill',
      by: 'anna',
    } as const
    bench.step({ kind: 'commanded', command: restriction })

    expect(bench.engine.objectTo(batch, bench.now) !== undefined).toBe(isHeld)
  },
)
