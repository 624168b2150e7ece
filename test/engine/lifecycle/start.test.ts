import { describe, expect, test } from 'vitest'
import { EngineBench, refused, SYMBOL } from '../engine-bench.ts'

const BID = { side: 'buy', ticks: 99_990, lots: 10 } as const
const EMPTY = refused('22001', 'definite')

/** A run that ended with its batch on the wire, and the next one. */
function crashed(): EngineBench {
  const bench = new EngineBench().start()
  bench.quote(BID)
  bench.grantBatch()
  return bench.restart().start()
}

describe('[ORD5] a start after a crash', () => {
  test('lets no strategy run before the unknown orders are resolved', () => {
    const bench = crashed()

    bench.pass(3_000)

    expect([bench.engine.phase, bench.states(), bench.take('decide')]).toEqual(['starting', ['unknown'], []])
  })

  test('runs once they are, and position and fills agree once more', () => {
    const bench = crashed()
    bench.pass(5_000)
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)
    bench.pass(1_600)
    expect([bench.engine.phase, bench.states()]).toEqual(['starting', ['absent']])

    bench.pass(3_000)

    expect(bench.engine.phase).toBe('running')
  })

  test('[ORD4] does not wait for an instrument whose resolution never ends: it is halted, the others run', () => {
    const bench = crashed()

    bench.pass(75_000)

    expect([bench.engine.phase, bench.states(), [...bench.halts.keys()]]).toEqual([
      'running',
      ['unknown'],
      [SYMBOL],
    ])
  })

  test('[ORD8] waits until a cancel-all that was never recorded cannot arrive any more', () => {
    const bench = new EngineBench({ onRestart: 'cancel', hasRetreated: true }).start()
    bench.answerCancel(bench.grantCancel().cancelId, EMPTY)

    bench.pass(4_000)
    expect(bench.engine.phase).toBe('starting')
    bench.pass(4_000)
    expect(bench.engine.phase).toBe('running')
  })

  test('runs at once where there is nothing to resolve', () => {
    const bench = new EngineBench().start()
    bench.quote(BID)
    bench.accept(bench.grantBatch())

    bench.restart().start()

    expect([bench.engine.phase, bench.states()]).toEqual(['running', ['live']])
  })
})

describe('[ORD5] the machine clock is set between two runs', () => {
  test.each([
    ['ahead by minutes', 300_000],
    ['back by minutes', -300_000],
    ['not at all', 0],
  ])('%s: what cannot rest is over once this run could have read its fills, and no sooner', (_, byMs) => {
    const bench = new EngineBench().start()
    bench.decide({ kind: 'target', symbol: SYMBOL, lots: 5 })
    bench.accept(bench.grantBatch())
    bench.now += byMs
    const startedAt = bench.now
    bench.restart().start()

    const { fillVisibilityMs, matchingLagMs } = bench.settings.execution
    expect(bench.now - startedAt).toBeLessThanOrEqual(fillVisibilityMs + matchingLagMs)
    expect(bench.states()).toEqual(['live'])
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.pass(100)
    expect(bench.states()).toEqual(['done'])
  })
})
