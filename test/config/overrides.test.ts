import { afterAll, beforeAll, expect, test } from 'vitest'
import { Workspace } from './workspace.ts'

let workspace: Workspace
beforeAll(() => {
  workspace = new Workspace()
  workspace.fill()
})
afterAll(() => workspace.remove())

test('an override takes the place of what the file says, the last one wins', () => {
  const { loaded } = workspace.read([
    'account.positionMode=hedge_mode',
    'risk.openOrdersMax=40',
    'risk.openOrdersMax=50',
    'risk.grossNotionalMax=2000.10',
    'log.level=debug',
    'instruments.BTCUSDT.minNotional="6"',
    'strategies.1=strategies/trend.yaml',
  ])

  expect(loaded?.config).toMatchObject({
    account: { positionMode: 'hedge_mode' },
    risk: { openOrdersMax: 50, grossNotionalMax: '2000.10' },
    log: { level: 'debug' },
  })
})

test('an override may hold an equals sign', () => {
  const found = workspace.complain(['name=a=b'])

  expect(found[0]).toMatch(/^--set name: expected .* got "a=b"$/)
})

test.each([
  [
    'a wrong value',
    'account.positionMode=oneway',
    '--set account.positionMode: expected "one_way_mode" or "hedge_mode", got "oneway"',
  ],
  [
    'a value out of range',
    'polling.tickersMs=1',
    '--set polling.tickersMs: expected a whole number from 50 to 60000, got 1',
  ],
  [
    'a patience that ends a daemon that is well',
    'supervision.hungAfterMs=999',
    '--set supervision.hungAfterMs: expected 0 (never) or at least 1000: a loop that turns shows it four times a second',
  ],
  [
    'no value',
    'polling.tickersMs=',
    '--set polling.tickersMs: expected a whole number from 50 to 60000, got nothing',
  ],
  [
    'an unknown key',
    'polling.tickerMs=100',
    '--set polling.tickerMs: unknown key; did you mean "tickersMs"?',
  ],
  [
    'an unknown section',
    'pooling.tickersMs=100',
    '--set pooling: unknown key; did you mean "polling"?',
  ],
  [
    'a key under a value',
    'name.first=x',
    '--set name.first: there are no settings under this path',
  ],
  [
    'a place beyond a list',
    'strategies.900000000=x',
    '--set strategies.900000000: this list is shorter',
  ],
  [
    'a word for a place in a list',
    'strategies.first=x',
    '--set strategies.first: there are no settings under this path',
  ],
  [
    'a missing file',
    'strategies.0=none.yaml',
    '--set strategies.0: no such file: config/none.yaml; paths are relative to the file that they stand in, and in that folder are main.yaml',
  ],
  ['broken YAML', 'risk.openOrdersMax=[1', '--set risk.openOrdersMax: the value is not valid YAML'],
  [
    'an impossible combination',
    'risk.orderNotionalMax=30000',
    '--set risk.orderNotionalMax: 30000 for one order is above the grossNotionalMax 20000 of the account',
  ],
  [
    'a section that lacks a key',
    'state={}',
    '--set state: the key "directory" is missing: expected text of 1 to 400 characters',
  ],
  ['no path', '=5', '--set: expected path=value such as risk.openOrdersMax=20'],
  [
    'no equals sign',
    'risk.openOrdersMax',
    '--set: expected path=value such as risk.openOrdersMax=20',
  ],
  [
    'a path with a hole',
    'risk..openOrdersMax=1',
    '--set: expected path=value such as risk.openOrdersMax=20',
  ],
  [
    'a path to a prototype',
    'risk.__proto__.x=1',
    '--set: expected path=value such as risk.openOrdersMax=20',
  ],
  [
    'a secret',
    'exchange.apiSecret=hunter2',
    '--set exchange.apiSecret: secrets do not belong in YAML; set INTENTD_API_SECRET in the environment or in .env',
  ],
])('[CFG1] %s on the command line is reported as such', (_, override, expected) => {
  const found = workspace.complain([override])

  expect(found).toEqual([expected])
})

test('[CFG1] problems of the command line and of the file come together, each from its own place', () => {
  const found = workspace.complain(['risk={dataAgeMaxMs: 0}', 'seed=1'])

  expect(found).toContain(
    '--set risk.dataAgeMaxMs: expected a whole number from 10 to 600000, got 0',
  )
  expect(found).toContain(
    '--set risk: the key "openOrdersMax" is missing: expected a whole number from 1 to 1000',
  )
  expect(found).toContain('--set seed: unknown key')
})
