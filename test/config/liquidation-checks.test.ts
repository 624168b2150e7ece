import { join } from 'node:path'
import { expect, test } from 'vitest'
import { warnOfLeverage, warnOfSimulatedLeverage } from '../../src/config/liquidation-checks.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'

const warningsOf = (...overrides: readonly string[]): readonly string[] =>
  warnOfLeverage(
    loadConfig({ file: 'config/paper.yaml', cwd: join(import.meta.dirname, '../..'), overrides }),
  ).map(formatProblem)

test('an isolated position that begins too near to its liquidation is warned of by its leverage', () => {
  const isolated = 'account.marginMode=isolated'

  expect(warningsOf(isolated, 'account.leverage=20')).toMatchObject([
    expect.stringMatching(
      /BTCUSDT.*at a leverage of 20 .* begins 4\.9 % from its liquidation at most, .* 8\.0 %/,
    ),
    expect.stringMatching(/ETHUSDT/),
  ])
  // That of the simulator, where nothing else is said.
  expect(warningsOf(isolated, 'simulator.leverage=25')).toHaveLength(2)
  expect(warningsOf(isolated, 'account.leverage=10')).toEqual([])
  expect(warningsOf('account.leverage=20')).toEqual([])
  expect(warningsOf(isolated, 'account.leverage=20', 'risk.liquidation=none')).toEqual([])
})

test('a leverage that the simulator inside does not have is warned of', () => {
  const warningsWith = (...overrides: readonly string[]) =>
    warnOfSimulatedLeverage(
      loadConfig({ file: 'config/paper.yaml', cwd: join(import.meta.dirname, '../..'), overrides }),
    ).map(formatProblem)

  expect(warningsWith('account.leverage=5')).toEqual([
    expect.stringMatching(/account\.leverage: 5 here, .* has the 10 of simulator\.leverage/),
  ])
  expect(warningsWith('instruments.BTCUSDT.leverage=5')).toHaveLength(1)
  expect(warningsWith('account.leverage=5', 'simulator.leverage=5')).toEqual([])
  expect(warningsWith()).toEqual([])
})
