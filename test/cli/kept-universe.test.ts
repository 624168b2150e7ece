import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import type { BacktestReport } from '../../src/report/run-report.ts'
import { BacktestProject, MINUTE_MS, START_AT } from '../backtest/backtest-project.ts'
import { DrawnTickers } from '../support/drawn-tickers.ts'
import { keepMinutes } from '../support/kept-universe.ts'

const drawn = new DrawnTickers({ count: 6, seed: 169, churn: 2 })
const [traded = ''] = drawn.symbols
const project = new BacktestProject(
  [traded],
  [{ at: START_AT + 5 * MINUTE_MS, action: 'openLong', lots: 20 }],
)
let printed = { out: '', error: '' }

beforeAll(async () => {
  project.edit('main.yaml', 'instruments:\n', `instruments:\n  ${traded}: {}\n`)
  const rules = { tickSize: '0.01', lotSize: '0.1', minSize: '0.1', minNotional: '5' }
  await keepMinutes({
    directory: join(project.directory, 'kept'),
    drawn,
    fromAt: START_AT,
    minutes: 40,
    contracts: () => new Map([[traded, rules]]),
  })
})
afterAll(() => project.remove())

async function backtest(...options: readonly string[]): Promise<number> {
  printed = { out: '', error: '' }
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.out += String(text)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.error += String(text)
    return true
  })
  const [config, out] = ['main.yaml', 'out'].map((name) => join(project.directory, name))
  try {
    return await main(['backtest', config ?? '', '--out', out ?? '', ...options])
  } finally {
    vi.restoreAllMocks()
  }
}

test('a backtest on kept tickers says so, and can be repeated by its recipe', async () => {
  const universe = join(project.directory, 'kept')

  const exit = await backtest('--universe', universe)

  expect([exit, printed.error]).toEqual([0, ''])
  const read = (name: string): string => readFileSync(join(project.directory, 'out', name), 'utf8')
  const report = JSON.parse(read('report.json')) as BacktestReport
  expect(report.runs[0]?.fills.count).toBe(1)
  expect(report.assumptions.join('\n')).toContain(`${traded} trades on kept tickers`)
  expect(report.remarks.join('\n')).toContain('40 answers')
  const recipe = JSON.parse(read('run.json')) as { sha256: { universe: string } }
  expect(recipe.sha256.universe).toMatch(/^[0-9a-f]{64}$/)
  expect(read('report.html')).toContain(`--universe ${universe}`)
})

test('made-up prices beside kept tickers, and a directory without any, are refused', async () => {
  const universe = join(project.directory, 'kept')

  expect(await backtest('--universe', universe, '--market', 'seeded')).toBe(64)
  expect(printed.error).toContain('BACKTEST_UNIVERSE_MADE_UP')
  expect(await backtest('--universe', project.directory)).toBe(66)
  expect(printed.error).toContain('UNIVERSE_FILES_MISSING')
})
