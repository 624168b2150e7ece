import { join } from 'node:path'
import { expect, test } from 'vitest'
import { warnOfLargePositions } from '../../src/cli/process/full-check.ts'
import { type LoadedConfig, loadConfig } from '../../src/config/load-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'

const PLAYED = { files: [], speed: undefined }

/** The shipped paper account before its first run: the state of a run here would have other prices. */
const load = (...overrides: readonly string[]): LoadedConfig =>
  loadConfig({
    file: 'config/paper.yaml',
    cwd: join(import.meta.dirname, '../..'),
    overrides: ['state.directory=.intentd/never-run', ...overrides],
  })

async function warningsOf(...overrides: readonly string[]): Promise<readonly string[]> {
  return (await warnOfLargePositions(load(...overrides), PLAYED)).map(formatProblem)
}

test('a crossed position that may begin too near to its liquidation is warned of by the limits and the capital', async () => {
  // Grid and trend may hold 0.08 BTC at 60,000 together, worth 4800. A short one on 400 needs 0.46 % of its value:
  // (400 / 4800 − 0.0046) / 1.0046 = 7.84 %; at 8 % it is worth 400 / (0.08 × 1.0046 + 0.0046) = 4708.
  expect(await warningsOf('simulator.startingBalance=400')).toMatchObject([
    expect.stringMatching(
      /BTCUSDT.* worth 4,800, begins 7\.8 % from its liquidation on a capital of 400 USDT, .* 8\.0 %: .* about 4,708 is denied/,
    ),
    expect.stringMatching(/ETHUSDT.* worth 5,700/),
  ])
  expect(await warningsOf()).toEqual([])
  expect(await warningsOf('simulator.startingBalance=400', 'account.capital=1000')).toEqual([])
  // Other limits of the account are below those of the strategies.
  expect(await warningsOf('simulator.startingBalance=400', 'risk.leverageMax=5')).toEqual([])
  const lower = ['risk.grossNotionalMax=2000', 'risk.orderNotionalMax=2000']
  expect(await warningsOf('simulator.startingBalance=400', ...lower)).toEqual([])
  expect(await warningsOf('simulator.startingBalance=400', 'risk.liquidation=none')).toEqual([])
  expect(await warningsOf('simulator.startingBalance=400', 'account.marginMode=isolated')).toEqual(
    [],
  )
})

test('what is missing is named', async () => {
  const { config, ...loaded } = load()
  const demo = {
    ...loaded,
    config: { ...config, environment: 'demo', simulator: undefined } as const,
  }

  expect((await warnOfLargePositions(demo, PLAYED)).map(formatProblem)).toMatchObject([
    expect.stringMatching(
      /BTCUSDT.* not known without account\.capital and instruments\.BTCUSDT\.maintenance/,
    ),
    expect.stringMatching(/ETHUSDT/),
  ])
  // It is the maker of the prices: without it a size has no value.
  const rules = [{ rate: 0.01 }]
  const instruments = Object.fromEntries(
    Object.entries(config.instruments).map(([symbol, one]) => [
      symbol,
      { ...one, maintenance: rules },
    ]),
  )
  const [grid, ...others] = config.strategies
  const unlimited = {
    ...grid,
    risk: { ...grid?.risk, positionNotionalMax: undefined },
  } as typeof grid
  const strategies = [...(unlimited ? [unlimited] : []), ...others]
  const account = { ...config.account, capital: '400' }
  const known = { ...demo, config: { ...demo.config, account, instruments, strategies } }
  expect((await warnOfLargePositions(known, PLAYED)).map(formatProblem)).toMatchObject([
    expect.stringMatching(
      /BTCUSDT.* not known without a price, or positionNotionalMax of its strategies/,
    ),
    // 9000 and 2500 by value: (400 / 11500 − 0.0106) / 1.0106 = 2.4 %.
    expect.stringMatching(/ETHUSDT.* worth 11,500, begins 2\.4 %/),
  ])
})
