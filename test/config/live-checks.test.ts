import { afterEach, beforeEach, expect, test } from 'vitest'
import { assertLossesDecided, listMissingProtection } from '../../src/config/live-checks.ts'
import type { DaemonConfig, LoadedConfig } from '../../src/config/load-config.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { MAIN, replaceOnce, SIMULATOR_SECTION, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

/** @param losses below `risk`, with its indentation */
function loadLive(losses = ''): LoadedConfig {
  const live = replaceOnce(
    replaceOnce(MAIN, SIMULATOR_SECTION, ''),
    'environment: simulator',
    'environment: live\nconfirmLive: true\nexchange: { baseUrl: "https://api.exchange.example" }',
  )
  workspace.fill({ 'config/main.yaml': replaceOnce(live, 'risk:\n', `risk:\n${losses}`) })
  const { loaded, problems } = workspace.read()
  if (!loaded) throw new Error(problems.map(formatProblem).join('\n'))
  return loaded
}

const changed = (loaded: LoadedConfig, change: Partial<DaemonConfig>): LoadedConfig => ({
  ...loaded,
  config: { ...loaded.config, ...change },
})

test.each([
  [
    '',
    /^config\/main\.yaml:15:1 risk: the key "losses" is missing: with real money, .* losses: none/,
  ],
  ['  losses: {}\n', /^config\/main\.yaml:16:3 risk\.losses: this limits nothing: /],
  ['  losses: { coolDownMs: 1 }\n', /^config\/main\.yaml:16:3 risk\.losses: this limits nothing: /],
])('[CFG1] real money without a limit on losses is refused: %j', (losses, says) => {
  expect(() => assertLossesDecided([loadLive(losses)])).toThrow(says)
})

test.each(['none', '{ daily: "100" }'])('[CFG1] with losses: %s it is taken', (losses) => {
  expect(() => assertLossesDecided([loadLive(`  losses: ${losses}\n`)])).not.toThrow()
})

test('[CFG1] each account is asked, and play money is not', () => {
  const decided = loadLive('  losses: none\n')
  const undecided = loadLive()

  expect(() => assertLossesDecided([decided, undecided])).toThrow(
    /risk: the key "losses" is missing/,
  )
  expect(() => assertLossesDecided([changed(undecided, { environment: 'demo' })])).not.toThrow()
})

test('what protects real money and is not set is warned of, where it would stand', () => {
  const bare = loadLive('  losses: none\n')
  const { account, risk, strategies, instruments } = bare.config
  const limited = changed(bare, {
    account: { ...account, capital: '1000' },
    instruments: Object.fromEntries(
      Object.entries(instruments).map(([symbol, one]) => [
        symbol,
        { ...one, maintenance: [{ rate: 0.01 }] },
      ]),
    ),
    risk: {
      ...risk,
      leverageMax: 2,
      survives: { move: 0.12, gap: true },
      losses: { coolDownMs: 1, daily: '50' },
    },
    strategies: strategies.map((one) => ({
      ...one,
      risk: { ...one.risk, positionNotionalMax: '100' },
    })),
  })
  const placesOf = (accounts: readonly LoadedConfig[]) =>
    listMissingProtection(accounts).map(
      ({ source, line, path, message }) => `${source}:${line} ${path} ${message.split(' ')[0]}`,
    )

  expect(placesOf([bare])).toEqual([
    'config/main.yaml:16 risk.losses the',
    'config/main.yaml:5 account capital',
    'config/main.yaml:11 instruments.BTCUSDT maintenance',
    'config/main.yaml:12 instruments.ETHUSDT maintenance',
    'config/main.yaml:15 risk leverageMax',
    'config/main.yaml:15 risk survives',
    'config/strategies/grid.yaml:7 risk positionNotionalMax',
    'config/strategies/trend.yaml:4 risk positionNotionalMax',
    'config/main.yaml:1 alerts no',
    'config/main.yaml:1 control port',
  ])
  // A further account has its own limits, and the daemon's alerts and port.
  expect(placesOf([limited])).toEqual([
    'config/main.yaml:1 alerts no',
    'config/main.yaml:1 control port',
  ])
  expect(placesOf([limited, limited])).toEqual(placesOf([limited]))
  expect(placesOf([changed(bare, { environment: 'demo' })])).toEqual([])
})
