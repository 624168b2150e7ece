import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type BacktestReport } from '../../src/report/run-report.ts'
import { BacktestProject } from '../backtest/backtest-project.ts'

const START_AT = Date.UTC(2025, 0, 1)

let project: BacktestProject
let printed: { out: string; error: string }

beforeEach(() => {
  const entry = { at: START_AT + 3_600_000, action: 'openLong', lots: 20 }
  project = new BacktestProject(
    ['BTCUSDT'],
    [entry, { ...entry, at: START_AT + 7_200_000, action: 'closeLong' }],
  )
  printed = { out: '', error: '' }
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.out += String(text)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.error += String(text)
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  project.remove()
})

function backtest(out: string, ...options: readonly string[]): Promise<number> {
  const directory = join(project.directory, out)
  const set = ['--set', 'backtest.pollMs=60000', '--market', 'seeded']
  return main(['backtest', join(project.directory, 'main.yaml'), ...set, '--out', directory, ...options])
}

function readReport(out: string): BacktestReport {
  return JSON.parse(readFileSync(join(project.directory, out, 'report.json'), 'utf8')) as BacktestReport
}

describe('intentd backtest', () => {
  test('runs the fill models side by side, prints at most 80 columns and writes a page that loads nothing', async () => {
    const exit = await backtest('all', '--days', '1', '--model', 'all', '--balance', '5000')

    expect([exit, printed.error]).toEqual([0, ''])
    const lines = printed.out.split('\n').filter((line) => !line.includes(project.directory))
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    const { runs } = readReport('all')
    expect(runs.map(({ model, money, fills }) => [model, money.opening, fills.count])).toEqual([
      ['pessimistic', '5000', 2],
      ['default', '5000', 2],
      ['optimistic', '5000', 2],
    ])
    expect(readdirSync(join(project.directory, 'all', 'optimistic')).toSorted()).toEqual([
      ...['equity.csv', 'fills.csv', 'orders.csv', 'positions.csv', 'returns.csv'],
    ])
    const page = readFileSync(join(project.directory, 'all', 'report.html'), 'utf8')
    const shown = page.slice(0, page.indexOf('<script'))
    expect(/\b(?:src|href)=|https?:|@import|url\(/.exec(page)?.[0]).toBeUndefined()
    expect(/NaN|undefined|Infinity/.exec(shown)?.[0]).toBeUndefined()
  })

  test('a signal ends it, with a report of what was done', async () => {
    const before = process.listenerCount('SIGINT')
    const interrupt = (): void => {
      if (process.listenerCount('SIGINT') > before) process.emit('SIGINT', 'SIGINT')
      else systemTimers.after(20, interrupt)
    }
    interrupt()

    const exit = await backtest('cut', '--days', '3000')

    const report = readReport('cut')
    expect(exit).toBe(0)
    expect(report.runs[0]?.isCut).toBe(true)
    expect(report.runs[0]?.toAt).toBeGreaterThan(START_AT)
    expect(report.remarks[0]).toContain('Ended early by SIGINT')
    expect(printed.out).toContain('ended early')
  })

  test.each([
    [64, ['--from', 'yesterday'], /write a date/],
    [64, ['--from', '2025-02-30'], /write a date/],
    [64, ['--days', '0'], /from 1 to 3650/],
    [64, ['--from', '2025-03-02', '--to', '2025-03-01'], /BACKTEST_RANGE_EMPTY/],
    [66, ['--market', 'BTCUSDT=none.csv'], /RECORDING_UNREADABLE/],
    [78, ['--set', 'backtest.pollMs=fast'], /backtest\.pollMs/],
  ])('exits with %i for %j', async (code, options, says) => {
    expect(await backtest('wrong', ...options)).toBe(code)
    expect(printed.error).toMatch(says)
    expect(existsSync(join(project.directory, 'wrong'))).toBe(false)
  })
})

describe('intentd compare', () => {
  test('sets two runs side by side, and refuses what is no run', async () => {
    await backtest('one', '--days', '1')
    await backtest('two', '--days', '1', '--seed', '2')
    printed.out = ''
    const page = join(project.directory, 'comparison.html')
    const place = (name: string): string => join(project.directory, name)

    const exits = [
      await main(['compare', place('one'), place('two'), '--out', page]),
      await main(['compare', place('one'), project.directory, '--out', page]),
    ]

    expect(exits).toEqual([0, 66])
    expect(printed.out).toMatch(/one +two\n/)
    for (const out of ['one', 'two']) {
      const final = Number(readReport(out).runs[0]?.money.final)
        .toFixed(2)
        .replace(/(?=\d{3}\.)/, ',')
      expect(printed.out).toContain(final)
      expect(readFileSync(page, 'utf8')).toContain(final)
    }
    expect(printed.error).toContain('REPORT_UNREADABLE')
  })
})
