import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type PreparedBacktest,
  prepareBacktest,
} from '../../src/backtest/opening/prepare-backtest.ts'
import { describeRecipe } from '../../src/backtest/playing/recipe.ts'
import { findChange } from '../../src/sweep-run/run-sweep.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { describeDifference } from '../../src/sweep/recipe-difference.ts'
import { BacktestProject, START_AT, writeQuotes } from '../backtest/backtest-project.ts'

let project: BacktestProject

beforeEach(() => {
  project = new BacktestProject(['BTCUSDT'], [])
  project.write('BTCUSDT.csv', writeQuotes(2, { 0: { bid: 1_000_000, mark: 1_000_000 } }))
  project.write('BTCUSDT-before.csv', candles(100_000))
})
afterEach(() => project.remove())

function candles(price: number): string {
  return `ts_ms,open,high,low,close,volume\n${[2, 1].map((minute) => [START_AT - minute * 60_000, price, price, price, price, 1].join(',')).join('\n')}\n`
}

function prepare(files: readonly string[] = []): Promise<PreparedBacktest> {
  const request = { days: 1, seed: undefined, balance: undefined, version: 'test', files }
  return prepareBacktest(loadConfig({ file: 'main.yaml', cwd: project.directory }), request)
}

async function recipe(files: readonly string[] = []): Promise<string> {
  const options = { models: ['default'], version: 'test', set: [], param: [] }
  return JSON.stringify(describeRecipe(await prepare(files), options))
}

test.each([
  ['where a seeded market starts', 'BTCUSDT: "100000"', 'BTCUSDT: "90000"'],
  ['how much it moves', 'market: {', 'market: { yearlyVolatility: 0.9,'],
  ['what happens within a candle', 'market: {', 'market: { candlePath: highFirst,'],
])('a result hangs on %s', async (_what, from, to) => {
  const before = await recipe()
  project.edit('main.yaml', from, to)

  expect(await recipe()).not.toBe(before)
})

test('the recipe has the parameters of each strategy, with its defaults', async () => {
  const schema = 'z.strictObject({ size: z.string(), levels: z.int().default(3) })'
  project.edit('scripted.ts', 'z.strictObject({}).prefault({})', schema)
  project.edit('scripted.yaml', 'risk:', 'params: { size: "0.01" }\nrisk:')
  const opened = await prepare()
  const { params } = describeRecipe(opened, {
    models: ['default'],
    version: 'test',
    set: [],
    param: [],
  })

  expect(params).toEqual({ scripted: { size: '0.01', levels: 3 } })
})

test('a result hangs on what is in the files of history', async () => {
  project.edit('scripted.yaml', 'instruments:', 'history: [BTCUSDT-before.csv]\ninstruments:')
  const files = [`${project.directory}/BTCUSDT.csv`]
  const before = await recipe(files)
  project.write('BTCUSDT-before.csv', candles(99_999))
  const after = await recipe(files)
  project.write('BTCUSDT-before.csv', candles(100_000))

  expect(after).not.toBe(before)
  expect(await recipe(files)).toBe(before)
})

test('a result hangs on what the file of a strategy imports, on the packages among it, and not on their place', async () => {
  project.edit(
    'scripted.ts',
    'const orders',
    "import { half } from './half.ts'\nimport { fit } from '@fits/line/fast'\nconst orders",
  )
  project.write('half.ts', "export { half } from './exact.ts'\n")
  project.write('exact.ts', 'export const half = 0.5\n')
  const line = join(project.directory, 'node_modules/@fits/line')
  mkdirSync(line, { recursive: true })
  writeFileSync(join(line, 'fast.js'), 'export const fit = 1\n')
  const writeVersion = (version: string): void =>
    writeFileSync(
      join(line, 'package.json'),
      JSON.stringify({
        name: '@fits/line',
        version,
        type: 'module',
        exports: { './fast': './fast.js' },
      }),
    )
  writeVersion('1.0.0')
  const first = await recipe()
  project.write('exact.ts', 'export const half = 0.49\n')
  const changed = await recipe()
  project.write('exact.ts', 'export const half = 0.5\n')
  const back = await recipe()
  writeVersion('1.0.1')
  const newer = await recipe()

  expect(describeDifference(first, changed)).toMatch(
    /^sha256\.strategies\.scripted\.exact\.ts is "/,
  )
  expect(back).toBe(first)
  expect(describeDifference(first, newer)).toBe(
    'packages.scripted.@fits/line is "1.0.1" here, "1.0.0" there',
  )
  expect(first).not.toContain(project.directory)
})

test.each([
  [
    'the configuration',
    'main.yaml',
    'pollMs: 5000',
    'pollMs: 6000',
    /found +another configuration/,
  ],
  [
    'a file of a strategy',
    'scripted.yaml',
    'openOrdersMax: 50',
    'openOrdersMax: 49',
    /another configuration/,
  ],
  ['the code of a strategy', 'scripted.ts', 'next: 0', 'next: 1', /found +other code of scripted/],
  [
    'a configuration in the midst of an edit',
    'main.yaml',
    'backtest:',
    'backtest',
    /SWEEP_FILES_CHANGED/,
  ],
])(
  'a sweep on one machine ends where %s was changed while it ran',
  async (_what, file, from, to, found) => {
    const prepared = await prepare()
    const request = { file: 'main.yaml', cwd: project.directory }
    expect(findChange(request, prepared)).toBe(undefined)
    project.edit(file, from, to)

    expect(findChange(request, prepared)?.message).toMatch(found)
    project.edit(file, to, from)
    expect(findChange(request, prepared)).toBe(undefined)
  },
)
