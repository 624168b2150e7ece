import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { countUnlimited, listUnlimited } from '../../src/assembly/settings/unlimited.ts'
import { Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

test('each limit that is off is named once, with how many scopes lack it', () => {
  workspace.fill()
  const { config } = loadConfig({ file: 'config/main.yaml', cwd: workspace.directory })
  const { risk, strategies } = config
  const ownLimits = { pace: { rejectionsPerMinute: 5 }, losses: { daily: '10', streak: 3 } }
  const limited = {
    ...config,
    risk: {
      ...risk,
      leverageMax: 2,
      pace: { ordersPerMinute: 9 },
      losses: { coolDownMs: 1, daily: '50' },
    },
    strategies: strategies.map((strategy, index) =>
      index === 0 ? { ...strategy, risk: { ...strategy.risk, ...ownLimits } } : strategy,
    ),
  }
  const instruments = Object.keys(config.instruments).length
  const perInstrument = `${instruments} instrument${instruments === 1 ? '' : 's'}`

  // Each with whether the account lacks it, and how many of what else.
  const off: readonly (readonly [name: string, account: boolean, ...others: string[]])[] = [
    ['survives', true],
    ['selfTrade', true],
    ['unknownOrdersMax', true],
    ['positionNotionalMax', false, '2 strategies'],
    ['pace.ordersPerMinute', false, '2 strategies'],
    ['pace.identicalPerMinute', true, '2 strategies'],
    ['pace.rateLimitedPerMinute', true],
    ['pace.rejectionsPerMinute', false, '1 strategy'],
    ['losses.daily', false, perInstrument, '1 strategy'],
    ['losses.drawdown', true, perInstrument, '2 strategies'],
    ['losses.streak', false, '1 strategy'],
  ]

  expect(listUnlimited(limited)).toEqual(
    off.map(([name, account, ...others]) => {
      const scopes = [...(account ? ['account'] : []), ...others]
      return others.length === 0 ? name : `${name} (${scopes.join(', ')})`
    }),
  )
  // The line of a start says no more than this.
  expect(countUnlimited(limited)).toEqual({
    account: off.filter(([, account]) => account).map(([name]) => name),
    others: 11 + 2 * instruments,
  })
})

test('the steps before a liquidation that are off, or only warn, are named with what they lack', () => {
  workspace.fill()
  const { config } = loadConfig({ file: 'config/main.yaml', cwd: workspace.directory })
  const named = (change: Partial<typeof config>): readonly string[] =>
    countUnlimited({ ...config, ...change }).account.filter((name) => name.includes('liquidation'))
  const [symbol = ''] = Object.keys(config.instruments)
  const tiers = [{ rate: 0.01 }]
  const withTiers = Object.fromEntries(
    Object.entries(config.instruments).map(([name, rules]) => [
      name,
      { ...rules, maintenance: tiers },
    ]),
  )
  const capital = { ...config.account, capital: '1000' }

  expect(named({})).toEqual([])
  expect(named({ risk: { ...config.risk, liquidation: 'none' } })).toEqual(['liquidation'])
  expect(named({ simulator: undefined })[0]).toContain(
    `only warns without account.capital and maintenance of ${symbol}`,
  )
  expect(named({ simulator: undefined, instruments: withTiers })).toEqual([
    'liquidation (only warns without account.capital)',
  ])
  expect(named({ simulator: undefined, instruments: withTiers, account: capital })).toEqual([])
})
