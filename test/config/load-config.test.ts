import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import {
  ConfigError,
  EXIT_CONFIG,
  formatProblem,
  formatProblems,
} from '../../src/config/yaml/problem.ts'
import { GRID, MAIN, replaceOnce, SIMULATOR, SIMULATOR_SECTION, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const load = () => loadConfig({ file: 'config/main.yaml', cwd: workspace.directory })

test('defaults are filled in and paths are made absolute', () => {
  workspace.fill()

  const { config, documents } = load()

  expect(config.execution).toMatchObject({ batchOrdersMax: 50, acceptanceWindowMs: 35_000 })
  expect(config.calendar.timezone).toBe('UTC')
  expect(config.state.directory).toBe(join(workspace.directory, '.intentd/paper'))
  expect(
    config.strategies.map(({ id, enabled, moduleFile }) => ({ id, enabled, moduleFile })),
  ).toEqual([
    { id: 'grid', enabled: true, moduleFile: join(workspace.directory, 'strategies/grid.ts') },
    { id: 'trend', enabled: true, moduleFile: join(workspace.directory, 'strategies/trend.ts') },
  ])
  expect([...documents.strategies.keys()]).toEqual(['grid', 'trend'])
})

test('an unquoted decimal keeps the digits of the file', () => {
  const exact = replaceOnce(
    MAIN,
    'grossNotionalMax: "20000"',
    'grossNotionalMax: 20000.100000000000000001',
  )
  workspace.fill({ 'config/main.yaml': replaceOnce(exact, 'tickSize: "0.1"', 'tickSize: 0.10') })

  const { config } = load()

  expect(config.risk.grossNotionalMax).toBe('20000.100000000000000001')
  expect(config.instruments['BTCUSDT']?.tickSize).toBe('0.10')
})

test('an alias stands for what it names', () => {
  const anchored = replaceOnce(
    MAIN,
    'BTCUSDT: { tickSize: "0.1"',
    'BTCUSDT: &btc { tickSize: "0.1"',
  )
  const aliased = anchored.replace(/ETHUSDT: \{ tickSize.*/, 'ETHUSDT: *btc')
  workspace.fill({ 'config/main.yaml': aliased })

  const { config } = load()

  expect(config.instruments['ETHUSDT']).toEqual(config.instruments['BTCUSDT'])
})

test('[CFG1] what is thrown carries every problem and prints as a list with a closing line', () => {
  workspace.fill({
    'config/main.yaml': MAIN.replace('tickersMs: 250', 'tickersMs: 1').replace(
      'seed: 1',
      'seed: x',
    ),
  })

  const caught = catchError(load)

  expect(caught.problems).toEqual([
    {
      source: 'config/main.yaml',
      line: 12,
      column: 14,
      path: 'polling.tickersMs',
      message: 'expected a whole number from 50 to 60000, got 1',
    },
    {
      source: 'config/main.yaml',
      line: 22,
      column: 9,
      path: 'simulator.seed',
      message: 'expected a whole number from 0 to 4294967295, got "x"',
    },
  ])
  expect(caught.message).toBe(formatProblems(caught.problems))
  expect(caught.message.split('\n').slice(-2)).toEqual([
    '',
    '2 problems; nothing was started. Check again with: intentd check',
  ])
  expect(EXIT_CONFIG).toBe(78)
})

test.each([
  ['a file that is not there', 'config/none.yaml', 'config/none.yaml: no such file'],
  ['a directory', 'config/strategies', 'config/strategies: not a file'],
  ['a file below a file', 'config/main.yaml/x.yaml', 'config/main.yaml/x.yaml: no such file'],
  [
    'a file with a null byte in its name',
    'config/\0.yaml',
    'config/?.yaml: no such file: the name has a null byte in it',
  ],
])('[CFG1] %s is a problem without a line', (_, file, expected) => {
  workspace.fill()

  const caught = catchError(() => loadConfig({ file, cwd: workspace.directory }))

  expect(caught.problems.map(formatProblem)).toEqual([expected])
})

test('[CFG1] a strategy that links to another one is that file again', () => {
  workspace.fill({ 'config/main.yaml': replaceOnce(MAIN, 'trend.yaml', 'link.yaml') })
  symlinkSync('grid.yaml', join(workspace.directory, 'config/strategies/link.yaml'))

  const found = workspace.complain()

  expect(found).toEqual([
    'config/main.yaml:28:5 strategies.1: this file is already listed: config/strategies/link.yaml',
  ])
})

test('[CFG1] bytes that are no text are a problem', () => {
  workspace.fill()
  workspace.write('config/strategies/grid.yaml', new Uint8Array([0x69, 0x64, 0xff, 0xfe]))

  const found = workspace.complain()

  expect(found).toEqual([
    'config/main.yaml:27:5 strategies.0: not UTF-8 text: config/strategies/grid.yaml',
  ])
})

test.each([
  ['a file of megabytes', `# ${'x'.repeat(1_100_000)}\n${GRID}`],
  ['brackets nested by the hundred thousand', `params: ${'['.repeat(400_000)}`],
  [
    'the same behind brackets that close nothing',
    `params: ${']'.repeat(200_000)}${'{'.repeat(400_000)}`,
  ],
  ['lists in lists on one line', `params:\n  ${'- '.repeat(400_000)}a`],
  ['a hundred thousand tags', `params: ${'!a '.repeat(300_000)}x`],
  [
    'mappings nested by the hundred',
    `params:\n${Array.from({ length: 200 }, (_, n) => `${' '.repeat(n + 1)}a:`).join('\n')}`,
  ],
  [
    'an alias bomb',
    `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: &c [${'*b,'.repeat(20)}]\nd: &d [${'*c,'.repeat(20)}]\ne: [${'*d,'.repeat(20)}]\n`,
  ],
  ['an alias of itself', 'params: &a { again: *a }\n'],
])('[CFG1] %s is refused in bounded time', (_, text) => {
  workspace.fill({ 'config/strategies/grid.yaml': text })

  const found = workspace.complain()

  expect(found.length).toBeGreaterThan(0)
  expect(found.length).toBeLessThan(30)
  expect(found.every((line) => line.includes('config/strategies/grid.yaml'))).toBe(true)
})

test('[CFG1] brackets in texts and comments are not counted, and those that are name their line', () => {
  const brackets = '[{'.repeat(200)
  const open = `a: "${brackets}" # ${brackets}\nb: [${'['.repeat(64)}`
  workspace.fill({ 'config/strategies/grid.yaml': open })

  expect(workspace.complain()).toEqual([
    'config/strategies/grid.yaml:2:68: more than 64 brackets are open here, one in another',
  ])
})

test('the settings of the simulator load with their defaults', () => {
  workspace.write('config/simulator.yaml', SIMULATOR)

  const config = loadSimulatorConfig({
    file: 'config/simulator.yaml',
    overrides: ['seed=7', 'accounts.0.leverage=5'],
    cwd: workspace.directory,
  })

  expect(config).toMatchObject({
    seed: 7,
    host: '127.0.0.1',
    idempotency: 'duplicateError',
    makerFeeRate: '0.0002',
  })
  expect(config.accounts[0]).toMatchObject({ name: 'alice', leverage: 5 })
})

test('a recording is looked for beside the file that names it', () => {
  workspace.write('config/btc.csv', '')
  workspace.write(
    'config/simulator.yaml',
    replaceOnce(SIMULATOR, 'startPrices: { BTCUSDT: "60000" }', 'recordings: { BTCUSDT: btc.csv }'),
  )

  const config = loadSimulatorConfig({ file: 'config/simulator.yaml', cwd: workspace.directory })

  expect(config.market.recordings).toEqual({ BTCUSDT: join(workspace.directory, 'config/btc.csv') })
})

test('[CFG1] what is traded and has no file of --market is refused, unless a start price asks for made-up prices', () => {
  const recordings = replaceOnce(
    MAIN,
    'startPrices: { BTCUSDT: "60000", ',
    'recordings: { BTCUSDT: btc.csv, ',
  )
  workspace.fill({
    'config/main.yaml': replaceOnce(recordings, 'ETHUSDT: "3000"', 'ETHUSDT: eth.csv'),
    'config/btc.csv': '',
    'config/eth.csv': '',
  })
  const played = { files: ['btc.csv'], recorded: ['BTCUSDT'], speed: undefined }
  const trend = 'strategies/trend.yaml'

  expect(workspace.complain()).toEqual([])
  expect(
    workspace.complain([], { ...played, recorded: ['BTCUSDT', 'ETHUSDT'], speed: 60 }),
  ).toEqual([])
  expect(workspace.complain([], played)).toEqual([
    `config/${trend}:3:15 instruments.0: no --market has prices of ETHUSDT: give one, or set enabled: false here; for made-up prices name it under simulator.market.startPrices of the main file`,
  ])
  workspace.write('config/main.yaml', MAIN)
  expect(workspace.complain([], played)).toEqual([])
})

test('[CFG1] live prices are not sped up, and not mixed with files', () => {
  const start = 'startPrices: { BTCUSDT: "60000", ETHUSDT: "3000" }'
  const live = 'live: { baseUrl: "https://api.example.com" }'
  workspace.fill({ 'config/main.yaml': replaceOnce(MAIN, start, live) })

  expect(workspace.complain([], { files: [], recorded: [], speed: 1 })).toEqual([])
  expect(workspace.complain([], { files: [], recorded: [], speed: 60 })).toEqual([
    'config/main.yaml:25:5 simulator.market.live: the prices of another exchange come as they come: leave --speed 60 out, or give files by --market',
  ])
  expect(workspace.complain([], { files: ['btc.csv'], recorded: ['BTCUSDT'], speed: 60 })).toEqual([
    'config/strategies/trend.yaml:3:15 instruments.0: no --market has prices of ETHUSDT: give one, or set enabled: false here; live prices are not mixed with files',
  ])
})

test('[CFG1] --market and --speed are refused where the prices come from an exchange outside', () => {
  const outside = 'exchange: { baseUrl: "http://127.0.0.1:8700" }\n'
  workspace.fill({ 'config/main.yaml': replaceOnce(MAIN, SIMULATOR_SECTION, outside) })
  const refused = (options: string) =>
    `config/main.yaml:21:22 exchange.baseUrl: prices come from this exchange: leave ${options} out, only the simulator inside the daemon plays prices`

  expect(workspace.complain([], { files: [], recorded: [], speed: undefined })).toEqual([])
  expect(
    workspace.complain([], { files: ['btc.csv'], recorded: ['BTCUSDT'], speed: undefined }),
  ).toEqual([refused('--market')])
  expect(workspace.complain([], { files: ['btc.csv'], speed: 1 })).toEqual([
    refused('--market and --speed 1'),
  ])
})

test('[CFG1] the problems of the simulator are reported with file, line and column', () => {
  const second = SIMULATOR.slice(SIMULATOR.indexOf('  - name')).replace(
    'marginCoin: USDT',
    'marginCoin: USDC',
  )
  const text =
    replaceOnce(SIMULATOR, 'port: 8700', 'host: 0.0.0.0\nport: 8700\nidempotency: never') + second
  workspace.write('config/simulator.yaml', text)

  const caught = catchError(() =>
    loadSimulatorConfig({ file: 'config/simulator.yaml', cwd: workspace.directory }),
  )

  expect(caught.problems.map(formatProblem)).toEqual([
    'config/simulator.yaml:1:7 host: expected "127.0.0.1", "::1" or "localhost", got "0.0.0.0"',
    'config/simulator.yaml:3:14 idempotency: expected "replay", "duplicateError" or "pendingOnly", got "never"',
    "config/simulator.yaml:16:11 accounts.1.name: alice is another account's name",
    'config/simulator.yaml:18:17 accounts.1.marginCoin: USDT-FUTURES takes USDT as margin, not USDC',
  ])
})

function catchError(act: () => unknown): ConfigError {
  try {
    act()
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('expected a ConfigError')
}
