import { describe, expect, test } from 'vitest'
import { type DaemonConfig } from '../../src/config/load-config.ts'
import { accountAgeMaxOf, readRoundMs } from '../../src/assembly/settings/read-pace.ts'

interface Paced {
  readonly instruments?: number
  readonly positionsMs?: number
  readonly fillsMs?: number
  readonly limitsUse?: number
  readonly members?: number
  readonly accountAgeMaxMs?: number
}

function configOf({
  instruments = 1,
  positionsMs = 1000,
  fillsMs = 500,
  limitsUse = 1,
  members,
  accountAgeMaxMs,
}: Paced): DaemonConfig {
  const symbols = Array.from({ length: instruments }, (_, index) => [`S${index}`, {}])
  return {
    account: { tier: 'ordinary' },
    exchange: { limitsUse, ...(members !== undefined && { shared: { members } }) },
    polling: { tickersMs: 250, positionsMs, fillsMs },
    instruments: Object.fromEntries(symbols),
    strategies: [],
    risk: { accountAgeMaxMs },
  } as unknown as DaemonConfig
}

describe('what is known of the account is too old', () => {
  test.each<[string, Paced, number, number]>([
    ['after three seconds at least', { positionsMs: 200 }, 500, 3000],
    ['after three rounds of positions', { positionsMs: 5000 }, 5000, 15_000],
    ['after three readings of fills, where these are rarer', { fillsMs: 4000 }, 4000, 12_000],
    ['later with many instruments: ten are read a second', { instruments: 200 }, 20_000, 60_000],
    [
      'later where a share of the limits is used',
      { instruments: 30, limitsUse: 0.5 },
      6000,
      18_000,
    ],
    ['at the stricter age that is configured', { accountAgeMaxMs: 2000 }, 1000, 2000],
    [
      'after three rounds, whatever longer age is configured',
      { accountAgeMaxMs: 60_000 },
      1000,
      3000,
    ],
  ])('%s', (_, paced, roundMs, ageMs) => {
    expect(readRoundMs(configOf(paced), { accounts: 1 })).toBe(roundMs)
    expect(accountAgeMaxOf(configOf(paced), { accounts: 1 })).toBe(ageMs)
  })

  test('later where other daemons and accounts call from the address: 100 calls a second are for all of them', () => {
    const config = configOf({ instruments: 100, members: 4 })

    expect(readRoundMs(config, { accounts: 1 })).toBe(10_000)
    // 25 a second for the daemon, less 4 reads of tickers; a third of it less 2 reads of fills: 5 positions.
    expect(readRoundMs(config, { accounts: 3 })).toBe(20_000)
  })
})
