import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { toInstruments } from '../../src/assembly/settings/engine-settings.ts'
import { planFeeds, readStrategies } from '../../src/assembly/strategies/strategies.ts'
import {
  type CheckedAccount,
  listPaceWarnings,
} from '../../src/assembly/strategies/pace-warnings.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The shipped paper account with a few settings that are others. */
async function account(
  overrides: readonly string[] = [],
  params: readonly string[] = [],
): Promise<CheckedAccount> {
  const loaded = loadConfig({ file: 'config/paper.yaml', cwd: ROOT, overrides, params })
  const { strategies } = await readStrategies(
    loaded.config,
    loaded.documents,
    toInstruments(loaded.config),
  )
  return { loaded, strategies }
}

/** An account with feeds that are read this often, each another one. */
async function withFeeds(count: number, everyMs: number): Promise<CheckedAccount> {
  const { loaded, strategies } = await account()
  const [first] = strategies
  const config = loaded.config.strategies.find(({ id }) => id === first?.id)
  const source = loaded.documents.strategies.get(first?.id ?? '')
  if (!first || !config || !source) throw new Error('no strategy')
  const symbols = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT'].slice(0, count)
  const feeds = Object.fromEntries(
    symbols.map((symbol) => [
      symbol,
      { endpoint: 'longShortRatio', params: { symbol, period: '24h' }, everyMs },
    ]),
  )
  const planned = planFeeds({ ...config, feeds }, source, 'one_way_mode')
  expect(planned.problems).toEqual([])
  return { loaded, strategies: [{ ...first, feeds: planned.feeds }, ...strategies.slice(1)] }
}

describe('what a configuration asks of the exchange in vain is said, with its place', () => {
  test.each<{ what: string; set?: string[]; params?: string[]; says: RegExp }>([
    {
      what: 'tickers that are read too often',
      set: ['exchange.limitsUse=0.4', 'polling.fillsMs=1000'],
      says: /^config\/paper\.yaml:\d+:\d+ polling\.tickersMs: 10 reads of tickers a second are asked for, and 8 are allowed/,
    },
    {
      what: 'fills that are read too often',
      set: ['exchange.limitsUse=0.4', 'polling.tickersMs=1000'],
      says: /^config\/paper\.yaml:\d+:\d+ polling\.fillsMs: 5 reads of orderFills a second are asked for, and 4 are allowed/,
    },
    {
      what: 'positions that grow older than they are to be read',
      set: ['polling.positionsMs=100'],
      says: /^--set polling\.positionsMs: the positions of 2 instruments, .* take 0\.2 s: so old they grow/,
    },
    {
      what: 'an age of the account above that of three missed readings',
      set: ['risk.accountAgeMaxMs=60000'],
      says: /^--set risk\.accountAgeMaxMs: 60000 has no effect: a round of readings takes 1 s, and after three missed ones, 3 s,/,
    },
    {
      what: 'a ladder of more orders than its strategy may have',
      params: ['grid-btc.levels=30'],
      says: /^config\/strategies\/grid-btc\.yaml:\d+:\d+ risk\.openOrdersMax: 40 is below the 60 orders of params\.levels/,
    },
    {
      what: 'ladders of more orders than the account may have',
      set: ['risk.openOrdersMax=70'],
      params: ['grid-btc.levels=20', 'grid-eth.levels=20'],
      says: /^--set risk\.openOrdersMax: 70 is below the 80 orders of all ladders: the rest is denied$/,
    },
    {
      what: 'ladders that need more calls than prices stay fresh',
      set: ['execution.batchOrdersMax=1'],
      says: /^config\/paper\.yaml:\d+:\d+ strategies: all ladders at once need 32 calls, 6\.4 s by the limit of batchPlaceOrder/,
    },
  ])('$what', async ({ set = [], params = [], says }) => {
    const warnings = listPaceWarnings([await account(set, params)]).map(formatProblem)

    expect(warnings).toEqual([expect.stringMatching(says)])
  })

  test('an age of the account that one round of readings exceeds', async () => {
    const paced = ['exchange.limitsUse=0.1', 'polling.tickersMs=1000', 'polling.positionsMs=900']
    const warnings = listPaceWarnings([
      await account([...paced, 'polling.fillsMs=900', 'risk.accountAgeMaxMs=1900']),
    ]).map(formatProblem)

    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^--set risk\.accountAgeMaxMs: 1900 is less than one round: a round of readings takes 2 s, so orders that add risk are denied most of the time/,
      ),
    )
  })

  test('the tickers of two product types are read twice as often', async () => {
    const main = await account(['exchange.limitsUse=0.5', 'polling.fillsMs=1000'])
    const other = structuredClone(main.loaded.config)
    const coins: CheckedAccount = {
      ...main,
      loaded: {
        ...main.loaded,
        config: { ...other, account: { ...other.account, productType: 'COIN-FUTURES' } },
      },
    }
    expect(listPaceWarnings([main, main]).map(formatProblem)).toEqual([])
    expect(listPaceWarnings([main, coins]).map(formatProblem)).toEqual([
      expect.stringContaining('20 reads of tickers a second are asked for, and 10 are allowed'),
    ])
  })

  test('feeds of several accounts that share the address; nothing of one account as it is shipped', async () => {
    expect(listPaceWarnings([await account()])).toEqual([])
    expect(
      listPaceWarnings([await withFeeds(1, 1000), await withFeeds(2, 1000)]).map(formatProblem),
    ).toEqual([
      expect.stringMatching(
        /^config\/paper\.yaml:\d+:\d+ accounts: the feeds of longShortRatio ask 2\.0 calls in 1000 ms, the limit is 1$/,
      ),
    ])
  })
})
