import { describe, expect, test } from 'vitest'
import { type ShownAccount } from '../../src/views/shown-account.ts'
import { checkReadiness, findHindrances, listStrategyWaits } from '../../src/views/hindrances.ts'
import { WishTimes } from '../../src/views/wishes.ts'
import { type StaleReading } from '../../src/engine/state/readings.ts'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'
import { ManualTime } from '../support/manual-time.ts'

/** A run that trades nothing, and in whose way is the journal alone. */
function shown(of: Partial<ShownAccount>): ShownAccount {
  const time = new ManualTime(1_000_000)
  const settings = {
    instruments: new Map(),
    strategies: new Map(),
    limits: {
      dataAgeMaxMs: 2e3,
      accountAgeMaxMs: 6e4,
    },
  }
  return {
    config: { name: 'live' },
    settings,
    state: 'begun',
    fatal: undefined,
    paused: new Map(),
    engine: {
      phase: 'running',
      isTrading: true,
      unproved: [],
      endings: [],
      restrictions: [],
      refusals: [],
      standingDenials: () => [],
      disputes: new Map(),
      distances: new Map(),
      fillsAskedAt: time.now(),
      staleReadings: () => [],
      silentCalls: () => [],
    },
    trusted: new TrustedClock(time),
    pace: { late: undefined },
    journalTrouble: undefined,
    ...of,
  } as unknown as ShownAccount
}

const late = { since: 0, batches: 6, wait: { waitedMs: 4180.4, mostMs: 3500 } }
const pace = (batches: number) => ({ late: { ...late, batches } }) as ShownAccount['pace']

test.each([
  ['nothing', {}, []],
  [
    'commits that take too long',
    { pace: pace(6) },
    [
      'no order leaves, only cancel-alls do: the journal took 4180 ms to make the last batch durable, 3500 ms was the most, and the last 6 batches were dropped',
    ],
  ],
  [
    'one that took too long',
    { pace: pace(1) },
    [
      'no order leaves, only cancel-alls do: the journal took 4180 ms to make the last batch durable, 3500 ms was the most, and the last batch was dropped',
    ],
  ],
  [
    'a server that is away',
    { journalTrouble: 'connect ECONNREFUSED', pace: pace(6) },
    [
      "no order leaves, only cancel-alls do: the journal's server cannot be reached: connect ECONNREFUSED",
    ],
  ],
])('what is in the way of the journal: %s', (_, of, hindrances) => {
  expect([...findHindrances(shown(of))]).toEqual(hindrances)
})

test('a kill or a stop that is under way is said, with what it waits for and cannot prove', () => {
  const { engine, ...account } = shown({})
  const unproved = new Map([
    ['AUSDT', 'refused 40309: The symbol has been removed'],
    ['BUSDT', ''],
  ])
  const endings = [
    { kind: 'kill', phase: 'proving', unproved },
    { kind: 'cancel', phase: 'killing', unproved: new Map() },
  ] as const
  expect([...findHindrances({ ...account, engine: { ...engine, endings } })]).toEqual([
    'a kill is under way: it reads fills and positions; not proved yet: AUSDT (refused 40309: The symbol has been removed), BUSDT',
    'a stop is under way (cancel): it waits until the kill is proved',
  ])
})

test('a journal whose commits take too long is not ready', () => {
  const journalOf = (of: Partial<ShownAccount>) => checkReadiness([shown(of)]).checks['journal']

  expect(journalOf({})).toEqual({ ok: true, found: 'written' })
  expect(journalOf({ pace: pace(6) })).toEqual({ ok: false, found: 'too slow: orders are dropped' })
})

describe('halts that leave nothing to trade', () => {
  const halt = (scope: string, mode = 'halted') => ({ scope, mode, code: 'unreadable' })
  const modeOf = (restrictions: readonly object[]) => {
    const { settings, engine, ...account } = shown({})
    const strategies = new Map([['grid', { id: 'grid', symbols: ['BTCUSDT', 'ETHUSDT'] }]])
    const trading = { ...settings, strategies } as unknown as ShownAccount['settings']
    const held = { ...engine, restrictions } as unknown as ShownAccount['engine']
    return checkReadiness([{ ...account, settings: trading, engine: held }]).checks['mode']
  }

  test('are named by `/readyz`, also those that end by themselves', () => {
    expect(modeOf([halt('BTCUSDT'), halt('ETHUSDT')])).toEqual({
      ok: false,
      found: 'halted: unreadable',
    })
    expect(modeOf([halt('BTCUSDT'), halt('strategy:grid')])).toMatchObject({ ok: false })
    expect(modeOf([halt('*')])).toMatchObject({ ok: false })
  })

  test('are none while an instrument may be traded, or reduced', () => {
    expect(modeOf([halt('BTCUSDT')])).toEqual({ ok: true, found: 'trading' })
    expect(modeOf([halt('BTCUSDT'), halt('ETHUSDT', 'reducing')])).toMatchObject({ ok: true })
  })
})

test('a strategy that warms up is in the way of nothing', () => {
  const bench = new EngineBench()
  const wishes = new WishTimes()
  wishes.hearWaits(STRATEGY, [{ symbol: SYMBOL, what: '240 s of prices' }])
  const { engine } = shown({})
  const strategies = new Map(
    [...bench.settings.strategies].map(
      ([id, strategy]) => [id, { ...strategy, candles: new Map([[60_000, 3]]) }] as const,
    ),
  )
  const settings = { ...bench.settings, strategies, instruments: new Map() }
  const account = shown({ settings, book: bench.book, wishes, engine })

  expect([...listStrategyWaits(account)]).toEqual([
    {
      symbol: SYMBOL,
      strategy: STRATEGY,
      what: 'candles of 1m, 0 of 3: it needs 3 min of prices',
    },
    { symbol: SYMBOL, strategy: STRATEGY, what: '240 s of prices' },
  ])
  expect([...findHindrances(account)]).toEqual([])
})

describe('readings of the account that are too old', () => {
  const readAt = Date.UTC(2026, 10, 23, 12, 3, 4)
  const scene = (unproved: readonly string[], stale: readonly StaleReading[]): ShownAccount => {
    const account = shown({})
    const time = new ManualTime(readAt + 3600)
    const engine = {
      ...account.engine,
      unproved,
      positionReadAt: () => readAt,
      staleReadings: () => stale,
    }
    return { ...account, trusted: new TrustedClock(time), engine }
  }
  const stale = (what: string, reason: string, at = readAt): StaleReading => ({
    what,
    readAt: at,
    reason,
  })

  test('are named with since when and why, alike in `status` and `/readyz`', () => {
    const account = scene([], [stale('fills', 'refused 40018: Invalid IP')])
    const words = 'fills: last read 3.6 s ago, at 12:03:04 UTC: refused 40018: Invalid IP'

    expect([...findHindrances(account)]).toEqual([
      `nothing that adds risk leaves: ${words} (60.0 s is the most)`,
    ])
    expect(checkReadiness([account]).checks['account']).toEqual({ ok: false, found: words })
    expect(checkReadiness([account]).isReady).toBe(false)
  })

  test('with many instruments name the first ones, of each reason in one line', () => {
    const many = Array.from({ length: 7 }, (_, index) => stale(`position S${index}`, 'no answer'))

    expect([...findHindrances(scene([], [...many, stale('fills', 'refused 40006: ')]))]).toEqual([
      expect.stringContaining(
        'the positions of S0, S1, S2, S3, S4 and 2 more: last read 3.6 s ago',
      ),
      expect.stringContaining('fills: last read 3.6 s ago'),
    ])
  })

  test('that a start waits for are named once they fail', () => {
    const waits = scene(['S0'], [stale('position S0', 'no answer', 0)])
    const again = scene(['S0'], [stale('position S0', 'no answer')])
    const fails = scene(['S0'], [stale('position S0', 'refused 40018: Invalid IP', 0)])

    expect([...findHindrances(waits)].join('\n')).not.toContain('risk leaves')
    expect([...findHindrances(again)].join('\n')).toContain(
      'at 12:03:04 UTC: the start resolves earlier orders first',
    )
    expect([...findHindrances(fails)].join('\n')).toContain(
      'the position of S0: not read yet: refused 40018: Invalid IP',
    )
  })
})
