import { expect, test } from 'vitest'
import { type ShownAccount } from '../../src/daemon/account/shown-account.ts'
import { checkReadiness, findHindrances } from '../../src/daemon/control/hindrances.ts'
import { TrustedClock } from '../../src/exchange/clock/trusted-clock.ts'
import { ManualTime } from '../support/manual-time.ts'

/** A run that trades nothing, and in whose way is the journal alone. */
function shown(of: Partial<ShownAccount>): ShownAccount {
  const time = new ManualTime(1_000_000)
  const settings = {
    ...{ instruments: new Map(), strategies: new Map() },
    limits: { dataAgeMaxMs: 2000, accountAgeMaxMs: 60_000 },
  }
  return {
    ...{ config: { name: 'live' }, settings, state: 'begun', fatal: undefined, paused: new Map() },
    engine: { phase: 'running', unproved: [], restrictions: [], refusals: [], fillsReadAt: time.now() },
    ...{ trusted: new TrustedClock(time), pace: { late: undefined }, journalTrouble: undefined },
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
    ["no order leaves, only cancel-alls do: the journal's server cannot be reached: connect ECONNREFUSED"],
  ],
])('what is in the way of the journal: %s', (_, of, hindrances) => {
  expect([...findHindrances(shown(of))]).toEqual(hindrances)
})

test('a journal whose commits take too long is not ready', () => {
  const journalOf = (of: Partial<ShownAccount>) => checkReadiness([shown(of)]).checks['journal']

  expect(journalOf({})).toEqual({ ok: true, found: 'written' })
  expect(journalOf({ pace: pace(6) })).toEqual({ ok: false, found: 'too slow: orders are dropped' })
})
