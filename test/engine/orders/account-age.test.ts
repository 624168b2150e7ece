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
    bench.decide({
      kind: 'quote',
      symbol: SYMBOL,
      levels: [{ side: 'buy', ticks: 99_990, lots: 10 }],
    })

    expect(bench.grantBatch().clientOids).toHaveLength(1)
  })
})

describe('[MKT3] right before its first byte', () => {
  /** Readings of now, and the order that was decided on them. */
  function formBatch(intent: Intent) {
    const bench = withLimit().start()
    for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
    bench.pass(1000)
    bench.decide(intent)
    const batch = bench.grantBatch()
    return { bench, batch }
  }

  test('a batch that adds is held back once the readings are too old that it was formed on', () => {
    const { bench, batch } = formBatch(OPEN)
    const readAt = Math.min(bench.engine.fillsAskedAt, bench.engine.positionReadAt(SYMBOL))

    expect(bench.engine.objectTo(batch, readAt + 60_000)).toBeUndefined()
    expect(bench.engine.objectTo(batch, readAt + 60_001)).toMatch(/fills or the position/)
  })

  test('one that waited is let go by readings that came meanwhile', () => {
    const { bench, batch } = formBatch(OPEN)
    passBlind(bench, 59_000)
    const { now } = bench
    expect(bench.engine.objectTo(batch, now + 2000)).toMatch(/fills or the position/)

    for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
    bench.pass(1000)

    expect(bench.engine.objectTo(batch, now + 2000)).toBeUndefined()
  })

  test('one that only reduces leaves on readings of any age', () => {
    const bench = withLimit().start()
    bench.decide({ ...OPEN, ticks: 100_001, force: 'gtc' })
    bench.accept(bench.grantBatch())
    const fill = bench.fill({ lots: 10, ticks: 100_001 })
    bench.step({ kind: 'pollDue', what: 'fills' })
    bench.pass(3000, { fills: [fill], holding: { longLots: 10, shortLots: 0 } })
    bench.decide({ ...OPEN, key: 'b', action: 'closeLong', lots: 4 })
    const batch = bench.grantBatch()

    expect(bench.engine.objectTo(batch, bench.now + HOUR_MS)).toBeUndefined()
  })
})

test('[MKT3] our clock set back tells of no reading: nothing is opened until the next one', () => {
  const bench = withLimit().start()
  const now = bench.now
  expect(bench.engine.staleReadings(now)).toEqual([])

  expect(bench.engine.staleReadings(now - HOUR_MS).map(({ what }) => what)).toEqual([
    'fills',
    `position ${SYMBOL}`,
  ])
})

describe('a reading that is too old is named', () => {
  test.each([
    [
      'refused 40018: Invalid IP',
      { reason: 'refused 40018: Invalid IP', status: 400, isRefused: true },
    ],
    ['no answer (unknown TIMEOUT: )', { reason: 'unknown TIMEOUT: ' }],
  ])('with what the last try brought: %s', (reason, failure) => {
    const bench = withLimit().start()
    const readAt = bench.engine.fillsAskedAt
    passBlind(bench, 61_000, 'positions')
    bench.step({ kind: 'readFailed', what: 'fills', ...failure })

    expect(bench.engine.staleReadings(bench.now)).toEqual([{ what: 'fills', readAt, reason }])
  })

  test('and no more when it has come', () => {
    const bench = withLimit().start()
    passBlind(bench, 61_000)
    bench.step({
      kind: 'readFailed',
      what: 'fills',
      reason: 'refused 40018: Invalid IP',
      status: 400,
    })
    for (const what of ['fills', 'positions'] as const) bench.step({ kind: 'pollDue', what })
    bench.pass(1000)

    expect(bench.engine.staleReadings(bench.now)).toEqual([])
  })
})
