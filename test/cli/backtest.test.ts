import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { playWatched } from '../../src/backtest/playing/watched-play.ts'
import { main } from '../../src/cli/main.ts'
import { systemTimers } from '../../src/lib/timers.ts'
import { type BacktestReport } from '../../src/report/run-report.ts'
import { BacktestProject, readAll } from '../backtest/backtest-project.ts'

const START_AT = Date.UTC(2025, 0, 1)

// Each backtest loads the program in a thread of its own.
enableCompileCache()

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
  return main([
    'backtest',
    join(project.directory, 'main.yaml'),
    ...set,
    '--out',
    directory,
    ...options,
  ])
}

function readReport(out: string): BacktestReport {
  return JSON.parse(
    readFileSync(join(project.directory, out, 'report.json'), 'utf8'),
  ) as BacktestReport
}

function readRecipe(out: string): Readonly<Record<string, unknown>> {
  const text = readFileSync(join(project.directory, out, 'run.json'), 'utf8')
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}

describe('intentd backtest', () => {
  test('runs the fill models side by side, prints at most 80 columns and writes a page that loads nothing', async () => {
    project.edit(
      'scripted.ts',
      'z.strictObject({}).prefault({})',
      'z.strictObject({ size: z.string() })',
    )
    project.edit('scripted.yaml', 'risk:', 'params: { size: "0.01" }\nrisk:')
    const exit = await backtest('all', '--days', '1', '--model', 'all', '--balance', '5000')

    expect([exit, printed.error]).toEqual([0, ''])
    const lines = printed.out.split('\n').filter((line) => !line.includes(project.directory))
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    const { runs, looks, params } = readReport('all')
    expect(params).toEqual({ scripted: { size: '0.01' } })
    expect(readRecipe('all')['params']).toEqual(params)
    expect(looks).toEqual({ everyMs: 60_000, dataAgeMaxMs: 2000 })
    expect(runs.map(({ model, money, fills }) => [model, money.opening, fills.count])).toEqual([
      ['pessimistic', '5000', 2],
      ['default', '5000', 2],
      ['optimistic', '5000', 2],
    ])
    expect(readdirSync(join(project.directory, 'all', 'optimistic')).toSorted()).toEqual([
      'equity.csv',
      'fills.csv',
      'orders.csv',
      'positions.csv',
      'returns.csv',
      'trades.csv',
    ])
    const page = readFileSync(join(project.directory, 'all', 'report.html'), 'utf8')
    const shown = page.slice(0, page.indexOf('<script'))
    expect(/\b(?:src|href)=|https?:|@import|url\(/.exec(page)?.[0]).toBeUndefined()
    expect(/NaN|undefined|Infinity/.exec(shown)?.[0]).toBeUndefined()
    expect(shown).toMatch(
      /Parameters<\/h2>.*scripted<\/td><td class="text">size<\/td><td class="text">0\.01</s,
    )
    expect(shown).toContain('<title>Backtest of scripted on made-up prices</title>')
    expect(shown).toContain('<h1>Backtest of scripted on made-up prices</h1>')
    expect(shown).toMatch(/What to know first<\/h2><ul><li>Made-up prices \(seeded market\)/)
    expect(shown).toMatch(
      /intentd backtest \S*main\.yaml --market seeded --days 1 --model all --balance 5000/,
    )
  })

  test('a signal ends it, with a report of what was done beside a whole one', async () => {
    await backtest('cut', '--days', '1')
    const whole = readAll(join(project.directory, 'cut'))
    Object.assign(process.stderr, { isTTY: true })
    onTestFinished(() => void Reflect.deleteProperty(process.stderr, 'isTTY'))
    const interrupt = (): void => {
      // How far it is.
      if (printed.error.includes(' % ')) process.emit('SIGINT', 'SIGINT')
      else systemTimers.after(20, interrupt)
    }
    interrupt()

    const exit = await backtest('cut', '--days', '3000', '--model', 'all')

    const report = readReport('cut-interrupted')
    expect(exit).toBe(0)
    expect(report.runs[0]?.isCut).toBe(true)
    expect(report.runs[0]?.toAt).toBeGreaterThan(START_AT)
    expect(report.remarks[0]).toContain('Ended early by SIGINT')
    expect(printed.out).toContain('ended early')
    expect(readAll(join(project.directory, 'cut'))).toEqual(whole)
    const { to, endedEarly } = readRecipe('cut-interrupted')
    expect(to).toBe(new Date(report.runs[0]?.toAt ?? 0).toISOString())
    expect(endedEarly).toMatchObject({ by: 'SIGINT', asked: '2033-03-20T00:00:00.000Z' })
    expect(readdirSync(join(project.directory, 'cut-interrupted', 'pessimistic'))).toContain(
      'fills.csv',
    )
    expect(readdirSync(project.directory).filter((name) => name.includes('unfinished'))).toEqual([])
  })

  test('a promise that a strategy leaves rejected ends it, with a report and the name of the strategy', async () => {
    const code = readFileSync(join(project.directory, 'scripted.ts'), 'utf8')
    project.write(
      'scripted.ts',
      code.replace(
        'const order =',
        "void Promise.reject(new Error('left alone'))\n    const order =",
      ),
    )

    // In a process of its own: the runner of the tests takes a rejected promise for a failure of theirs.
    const ended = spawnSync(
      process.execPath,
      [
        join(import.meta.dirname, '../../bin/intentd.mjs'),
        'backtest',
        'main.yaml',
        '--market',
        'seeded',
        '--days',
        '1',
        '--out',
        'stray',
      ],
      { cwd: project.directory, encoding: 'utf8' },
    )

    expect(ended.status).toBe(78)
    expect(ended.stderr).toMatch(/STRATEGY_STRAY[^]*strategy +scripted[^]*left alone/)
    expect(readReport('stray-interrupted').remarks[0]).toContain('strategy scripted')
    expect(existsSync(join(project.directory, 'stray'))).toBe(false)
  })

  test('a timer that a strategy left is not waited for', async () => {
    const code = readFileSync(join(project.directory, 'scripted.ts'), 'utf8')
    project.write('scripted.ts', `${code}\nsetTimeout(() => 1, 1e6)\n`)

    expect(await backtest('timer', '--days', '1')).toBe(0)
    expect(readReport('timer').runs).toHaveLength(1)
  })

  test('a strategy that never comes back ends it, by its name and the time in the prices', async () => {
    const code = readFileSync(join(project.directory, 'scripted.ts'), 'utf8')
    const endless = `if (snapshot.exchangeTime >= ${START_AT + 7_200_000}) for (;;);\n    const order =`
    project.write('scripted.ts', code.replace('const order =', endless))

    expect(await backtest('hung', '--days', '1', '--hung-after', '2s')).toBe(78)

    expect(printed.error).toMatch(/STRATEGY_HANGS[^]*strategy +scripted\n +at +2025-01-01T02:00:0/)
    expect(readdirSync(project.directory).filter((name) => name.startsWith('hung'))).toEqual([])
  })

  test('a strategy that fills the memory ends it, by its name and the time in the prices', async () => {
    const code = readFileSync(join(project.directory, 'scripted.ts'), 'utf8')
    const hog = `if (snapshot.exchangeTime >= ${START_AT + 7_200_000}) for (;;) kept.push(new Array(1e5).fill(1.5))\n`
    project.write(
      'scripted.ts',
      `const kept: unknown[] = []\n${code.replace('const order =', `${hog}    const order =`)}`,
    )
    const played = playWatched({
      file: '../../src/backtest/playing/backtest-thread',
      askedBy: import.meta.url,
      task: {
        config: join(project.directory, 'main.yaml'),
        version: '0.0.0',
        options: {
          market: ['seeded'],
          days: 1,
          set: [],
          param: [],
          out: join(project.directory, 'full'),
        },
      },
      hungAfterMs: 6e4,
      heapMbMax: 64,
    })

    await expect(played).rejects.toThrow(
      /BACKTEST_MEMORY[^]*strategy +scripted\n +at +2025-01-01T02:00:0/,
    )
    expect(readdirSync(project.directory).filter((name) => name.startsWith('full'))).toEqual([])
  })

  test('a strategy that always throws is no success, and what is denied is said with a hint', async () => {
    const code = readFileSync(join(project.directory, 'scripted.ts'), 'utf8')
    project.write(
      'scripted.ts',
      code.replace('const order =', "throw new Error('no such thing')\n    const order ="),
    )
    expect(await backtest('thrown', '--days', '1')).toBe(78)
    expect(printed.out).toContain('it stood still')
    expect(printed.error).toMatch(/BACKTEST_STRATEGY_HALTED[^]*no such thing/)

    project.write(
      'scripted.ts',
      code.replace('action, lots, tag,', 'action, lots: Number.NaN, tag,'),
    )
    expect(await backtest('denied', '--days', '1')).toBe(0)
    expect(printed.out.replaceAll(/\s+/g, ' ')).toMatch(
      /scripted: \d+ denied, INTENT_MALFORMED \(.*\): a field is wrong, misspelt or no number/,
    )
  })

  test('a strategy that asks the clock is named in the report, with its line', async () => {
    const code = readFileSync(join(project.directory, 'scripted.ts'), 'utf8')
    project.write(
      'scripted.ts',
      code.replace('const order =', 'void Date.now()\n    const order ='),
    )

    expect(await backtest('asked', '--days', '1')).toBe(0)
    const { assumptions: _, ...report } = readReport('asked')
    expect(report).toHaveProperty('remarks', [
      expect.stringMatching(/\/scripted\.ts:\d+ asks Date\.now\(\), which says something else/),
    ])
  })

  test('--out that names a file, or a place that cannot be written, is refused before anything is played', async () => {
    expect(await backtest('main.yaml', '--days', '1')).toBe(73)
    expect(await backtest('main.yaml/report', '--days', '1')).toBe(73)
    // Here the kernel takes no directories, and mkdirSync with recursive never comes back.
    if (process.platform === 'linux')
      expect(await backtest(relative(project.directory, '/proc/report'), '--days', '1')).toBe(73)
    expect(printed.error).toMatch(/REPORT_UNWRITABLE/)
    expect(printed.out).toBe('')
  })

  test('--param changes a parameter of a strategy, and is held to its schema', async () => {
    expect(await backtest('none', '--days', '1', '--param', 'scripted.size=1')).toBe(78)
    expect(printed.error).toMatch(/--param|params\.size/)
    expect(await backtest('none', '--days', '1', '--param', 'scripter.size=1')).toBe(78)
    expect(printed.error).toMatch(/no such strategy.*scripted/)
  })

  test('prices between two ticks are said, and the order of --market changes nothing', async () => {
    const rows = (price: number): string =>
      ['ts_ms,open,high,low,close,volume']
        .concat(
          Array.from(
            { length: 60 },
            (_, minute) => `${START_AT + minute * 60_000},${price},${price},${price},${price},50`,
          ),
        )
        .join('\n')
    const btc = project.write('BTCUSDT.csv', rows(100_000.05))
    const eth = project.write('ETHUSDT.csv', rows(2500))
    const play = (out: string, files: readonly string[]): Promise<number> =>
      main([
        'backtest',
        join(project.directory, 'main.yaml'),
        '--out',
        join(project.directory, out),
        ...files.flatMap((file) => ['--market', file]),
      ])

    expect([await play('one', [btc, eth]), await play('two', [eth, btc])]).toEqual([0, 0])
    expect(
      await main([
        'backtest',
        join(project.directory, 'main.yaml'),
        '--market',
        btc,
        '--days',
        '1',
      ]),
    ).toBe(64)
    expect(printed.error).toContain('BACKTEST_DAYS_UNUSED')

    expect(readReport('one').remarks.join()).toMatch(
      /BTCUSDT: 100 % of its prices lie between two ticks/,
    )
    expect(printed.out).toMatch(/BTCUSDT: 100 %/)
    expect(readAll(join(project.directory, 'two'))).toEqual(readAll(join(project.directory, 'one')))
  })

  test.each([
    [64, ['--market', 'BTCUSDT=main.yaml'], /BACKTEST_MARKET_MIXED/],
    [64, ['--from', 'yesterday'], /write a date/],
    [64, ['--from', '2025-02-30'], /write a date/],
    [64, ['--days', '0'], /from 1 to 3650/],
    [64, ['--from', '2025-03-02', '--to', '2025-03-01'], /BACKTEST_RANGE_EMPTY/],

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
    expect(printed.out).toMatch(/^\n {2}one, made-up prices: Made-up prices \(seeded market\)/)
    expect(printed.out).toMatch(/^ {2}prices +made up +made up$/m)
    expect(readFileSync(page, 'utf8')).toContain(
      '<title>one, made-up prices and two, made-up prices</title>',
    )
    for (const out of ['one', 'two']) {
      const final = Number(readReport(out).runs[0]?.money.final)
        .toFixed(2)
        .replace(/(?=\d{3}\.)/, ',')
      expect(printed.out).toContain(final)
      expect(readFileSync(page, 'utf8')).toContain(final)
    }
    expect(printed.error).toMatch(/REPORT_UNREADABLE[^]*parity RECORDING --out/)
  })
})
