import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { prepareBacktest } from '../../src/backtest/opening/prepare-backtest.ts'

/** How often a backtest of the shipped configuration reads, and at which age its readings are too old. */
async function paceOf(overrides: readonly string[]) {
  const loaded = loadConfig({ file: 'config/paper.yaml', cwd: process.cwd(), overrides })
  const request = { files: [], days: 1, seed: 1, balance: undefined, version: 'test' }
  const prepared = await prepareBacktest(loaded, request)
  const { fillsMs, positionsMs, beforeTickers } = prepared.polling
  const { accountAgeMaxMs } = prepared.optionsFor('default', undefined).backtest.settings.limits
  return { fillsMs, positionsMs, beforeTickers, accountAgeMaxMs }
}

const AGES = ['', 'risk.accountAgeMaxMs=2000', 'risk.accountAgeMaxMs=60000']

test.each<[string, string[], object]>([
  [
    'as often as prices',
    ['backtest.pollMs=15000'],
    { fillsMs: 15_000, positionsMs: 15_000, accountAgeMaxMs: 45_000 },
  ],
  [
    'right before prices that are read each minute',
    ['backtest.pollMs=60000'],
    { beforeTickers: { fillsMs: 540, positionsMs: 1310 }, accountAgeMaxMs: 180_000 },
  ],
  [
    'every half minute, where prices of a minute ago may be traded on',
    ['backtest.pollMs=60000', 'risk.dataAgeMaxMs=60000'],
    { fillsMs: 30_000, positionsMs: 30_000, beforeTickers: undefined, accountAgeMaxMs: 90_000 },
  ],
  [
    'as often as accountMs says',
    ['backtest.pollMs=15000', 'backtest.accountMs=5000'],
    { fillsMs: 5000, positionsMs: 5000, accountAgeMaxMs: 15_000 },
  ],
])(
  'a backtest reads fills and positions %s, whatever age a live run allows',
  async (_, overrides, pace) => {
    for (const age of AGES) {
      const set = age === '' ? overrides : [...overrides, age]
      expect(await paceOf(set)).toMatchObject(pace)
    }
  },
)
