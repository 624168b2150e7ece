import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildAccounts } from '../../src/cli/simulate/simulate.ts'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import { ConfigError, formatProblem } from '../../src/config/yaml/problem.ts'
import { defaultConvertSettings } from '../../src/simulator/convert/convert.ts'
import { defaultCoreSettings } from '../../src/simulator/futures/settings.ts'
import { defaultMarginSettings } from '../../src/simulator/margin/margin-state.ts'
import { defaultSpotSettings } from '../../src/simulator/spot/spot-state.ts'
import { defaultSubaccountSettings } from '../../src/simulator/subaccounts/subaccounts.ts'
import { defaultPlatformCoin } from '../../src/simulator/wallet/platform-coin.ts'
import { defaultWireSettings } from '../../src/simulator/wire/settings.ts'
import { replaceOnce, SIMULATOR, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

function load(text: string, overrides: readonly string[] = []) {
  workspace.write('config/simulator.yaml', text)
  const file = 'config/simulator.yaml'
  return loadSimulatorConfig({ file, overrides, cwd: workspace.directory })
}

function complain(text: string): readonly string[] {
  try {
    load(text)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem)
    throw error
  }
}

describe('a simulator.yaml that says little', () => {
  test('has the services, readings and limits that the simulator has of itself', () => {
    const { services, readings, limits } = load(SIMULATOR)
    const { unknownParameters, limitAboveMaximum, ...core } = readings

    expect(services.platformCoin).toEqual(defaultPlatformCoin)
    expect(defaultSpotSettings).toMatchObject(services.spot)
    expect(defaultMarginSettings).toMatchObject(services.margin)
    expect(defaultConvertSettings).toMatchObject(services.convert)
    expect(defaultSubaccountSettings).toEqual(services.subaccounts)
    expect(defaultCoreSettings).toMatchObject(core)
    expect(defaultWireSettings).toMatchObject({
      unknownParameters,
      limitAboveMaximum,
      rateLimits: { counting: limits.counting, refusedCallsCount: limits.refusedCallsCount },
      gatewayLimit: { calls: limits.gatewayCalls, perMs: 1000 },
    })
  })

  test('has ordinary accounts, bound to no address and without a gateway key', () => {
    const [alice] = load(SIMULATOR).accounts

    expect(alice).toMatchObject({ role: 'ordinary' })
    expect([alice?.boundToIps, alice?.gateway]).toEqual([undefined, undefined])
  })
})

test('an account says its role, its addresses and its gateway client', () => {
  const more = '    role: copyTrader\n    boundToIps: ["127.0.0.1", "::1"]\n    gateway: {}\n'
  const [alice] = load(SIMULATOR + more).accounts

  expect(alice).toMatchObject({
    role: 'copyTrader',
    boundToIps: ['127.0.0.1', '::1'],
    gateway: { isWhitelisted: true },
  })
})

test('an account says since when it is managed', () => {
  const more = '    boundAt: "2026-01-31T12:00:00Z"\n'

  const [alice] = buildAccounts(load(SIMULATOR + more))
  expect(alice?.boundAt).toBe(Date.UTC(2026, 0, 31, 12))
  expect(complain(SIMULATOR + more.replace('T12:00:00Z', ''))).toMatchObject([
    expect.stringMatching(/accounts\.0\.boundAt: expected an instant such as/),
  ])
})

test('the settings of the services can be overridden from the command line', () => {
  const { services } = load(SIMULATOR, [
    'services.platformCoin.name=OURS',
    'services.convert.feeRate=0.001',
  ])

  expect([services.platformCoin.name, services.convert.feeRate]).toEqual(['OURS', '0.001'])
})

test('[CFG1] what is wrong is reported with its place', () => {
  const wrong = replaceOnce(SIMULATOR, 'port: 8700\n', 'port: 8700\nlimits: { gatewayCalls: 0 }\n')
  const problems = complain(
    `${wrong}    role: trader\n    boundToIps: [localhost]\n    gateway: { whitelisted: true }\n` +
      'services:\n  platformCoin: { name: house }\n  spots: {}\n',
  )

  expect(problems).toEqual([
    'config/simulator.yaml:2:25 limits.gatewayCalls: expected a whole number from 1 to 10000, got 0',
    'config/simulator.yaml:15:11 accounts.0.role: expected "ordinary" or "copyTrader", got "trader"',
    'config/simulator.yaml:16:18 accounts.0.boundToIps.0: expected an IP address such as "127.0.0.1", got "localhost"',
    'config/simulator.yaml:17:16 accounts.0.gateway.whitelisted: unknown key; did you mean "isWhitelisted"?',
    'config/simulator.yaml:19:25 services.platformCoin.name: expected a coin in capitals such as HOUSE, got "house"',
    'config/simulator.yaml:20:3 services.spots: unknown key; did you mean "spot"?',
  ])
  expect(complain(`${SIMULATOR}    boundToIps: []\n`)).toHaveLength(1)
})
