import { describe, expect, test } from 'vitest'
import { type Intent } from '../../../src/domain/intent.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const HOUR_MS = 3_600_000
const OPEN: Intent = { kind: 'place', symbol: SYMBOL, key: 'a', action: 'openLong', lots: 10 }

function withLimit(): EngineBench {
  const { settings } = new EngineBench()
  return new EngineBench({ limits: { ...settings.limits, accountAgeMaxMs: 60_000 } })
}

/** Prices go on, and no reading of the account is answered; of what `reads` names each is. */
function passBlind(bench: EngineBench, ms: number, reads?: 'fills' | 'positions'): void {
  for (const endAt = bench.now + ms; bench.now < endAt;) {
    bench.now = Math.min(bench.now + 15_000, endAt)
    bench.price()
    for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
    bench.take(reads === 'fills' ? 'readPosition' : 'readFills')
    if (reads === undefined) bench.take('readPosition')
    bench.read({ holding: { longLots: 0, shortLots: 0 } })
    bench.step({ kind: 'timePassed' })
  }
}

describe('[MKT3] after an hour without a reading', () => {
  test.each([undefined, 'fills', 'positions'] as const)(
    'of the account (only %s are read) nothing is opened',
    (reads) => {
      const bench = withLimit().start()
      passBlind(bench, HOUR_MS, reads)

      bench.decide(OPEN)

      expect([...bench.engine.denied.keys()]).toEqual(['ACCOUNT_STALE'])
      expect(bench.take('askGrant')).toEqual([])
    },
  )

  test('what reduces leaves, and a cancel-all', () => {
    const bench = withLimit().start()
    bench.decide({ ...OPEN, ticks: 100_001, force: 'gtc' })
    bench.accept(bench.grantBatch())
    bench.decide({ ...OPEN, key: 'b', ticks: 99_990, force: 'gtc' })
    bench.accept(bench.grantBatch())
    const fill = bench.fill({ lots: 10, ticks: 100_001 })
    const holding = { longLots: 10, shortLots: 0 }
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.pass(3000, { fills: [fill], holding })
    passBlind(bench, HOUR_MS)

    bench.decide({ ...OPEN, key: 'c', action: 'closeLong', lots: 4 })
    bench.accept(bench.grantBatch())
    bench.decide({ kind: 'cancelAll', symbol: SYMBOL })

    expect(bench.take('askGrant').map(({ endpoint }) => endpoint)).toEqual(['cancelAllOrders'])
    expect(bench.engine.denied.size).toBe(0)
  })

  test('a reading opens it again', () => {
    const bench = withLimit().start()
    passBlind(bench, HOUR_MS)
    for (let second = 0; second < 3; second++) {
      for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
      bench.pass(1000)
    }
    bench.decide({ kind: 'quote', symbol: SYMBOL, levels: [{ side: 'buy', ticks: 99_990, lots: 10 }] })

    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })
})

test('[MKT3] a batch is good for no longer than the readings that it was formed on', () => {
  const bench = withLimit().start()
  passBlind(bench, 60_000 - bench.settings.execution.fillVisibilityMs)
  bench.decide(OPEN)

  const { validUntilAt } = bench.grantBatch()
  expect(validUntilAt - bench.now).toBeLessThan(1000)
  expect(validUntilAt).toBeGreaterThan(bench.now)
})
