import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SweepReport } from '../../src/sweep/sweep-report.ts'
import { BacktestProject } from '../backtest/backtest-project.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/intentd.mjs')
const START_AT = Date.UTC(2025, 0, 1)
const MINUTE_MS = 60_000

/** Buys and sells by the clock; at 7 lots it throws, at 8 it never ends, and 6 do not go with an hour. */
const STRATEGY = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'timed',
  params: z.strictObject({ everyMinutes: z.number().int(), lots: z.number().int(), interval: z.string().optional() })
    .refine(({ everyMinutes, lots }) => everyMinutes !== 60 || lots !== 6, 'not 6 an hour'),
  needs: ({ interval }) => ({ candles: interval === undefined ? {} : { [interval]: 1 } }),
  initialState: () => ({ next: 0 }),
  decide(snapshot, { params, state }) {
    if (params.lots === 7) throw new Error('seven is too much')
    if (params.lots === 8) for (;;);
    const [market] = snapshot.instruments
    const turn = Math.floor(snapshot.exchangeTime / (params.everyMinutes * 60_000))
    if (!market || turn === state.next) return { intents: [], state }
    return { intents: [market.target(turn % 2 === 0 ? params.lots : 0)], state: { next: turn } }
  },
})
`

let project: BacktestProject

beforeAll(() => {
  project = new BacktestProject(['BTCUSDT'], [])
  project.write('scripted.ts', STRATEGY)
  project.edit(
    'scripted.yaml',
    'instruments:',
    'params: { everyMinutes: 60, lots: 1 }\ninstruments:',
  )
  project.edit('main.yaml', 'pollMs: 5000', 'pollMs: 60000')
  const price = (minute: number): string => (100_000 + 300 * Math.sin(minute / 40)).toFixed(1)
  const rows = Array.from({ length: 6 * 60 }, (_, minute) =>
    [
      START_AT + minute * MINUTE_MS,
      price(minute),
      price(minute),
      price(minute),
      price(minute),
      50,
    ].join(','),
  )
  project.write('BTCUSDT.csv', `ts_ms,open,high,low,close,volume\n${rows.join('\n')}\n`)
  project.write(
    'sweep.yaml',
    'folds: 1\nparams:\n  scripted: { everyMinutes: [30, 60], lots: [5, 10] }\n',
  )
  project.write(
    'whole.yaml',
    'folds: 0\nparams:\n  scripted: { everyMinutes: [30, 60], lots: [5, 10] }\n',
  )
  project.write(
    'bad.yaml',
    'folds: 0\nparams:\n  scripted: { everyMinutes: [60, 30], lots: [5, 7, 6] }\n',
  )
  project.write(
    'endless.yaml',
    'folds: 0\nparams:\n  scripted: { everyMinutes: [60], lots: [8] }\n',
  )
})
afterAll(() => project.remove())

const words = (out: string, file = 'sweep.yaml') => [
  PROGRAM,
  'sweep',
  'main.yaml',
  '--params',
  file,
  '--market',
  'BTCUSDT.csv',
  '--out',
  out,
  '--jobs',
  '2',
]

function run(args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: project.directory, encoding: 'utf8' })
}

/** Ends a sweep by a signal when its log has so many lines. */
async function endAfter(log: string, lines: number, signal: NodeJS.Signals) {
  const sweep = spawn(process.execPath, words('killed'), {
    cwd: project.directory,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let stdout = ''
  sweep.stdout.on('data', (text) => (stdout += String(text)))
  while (!existsSync(log) || readFileSync(log, 'utf8').split('\n').length <= lines) await sleep(5)
  sweep.kill(signal)
  const code = await new Promise<number | null>((ended) => sweep.once('close', ended))
  return { code, stdout }
}

function read(...path: readonly string[]): string {
  return readFileSync(join(project.directory, ...path), 'utf8')
}

describe('intentd sweep', () => {
  test('[DET1] one that was interrupted, then killed, goes on, and ends with the same table to the byte', async () => {
    const whole = run(words('whole'))
    const log = join(project.directory, 'killed', 'trials.jsonl')
    const interrupted = await endAfter(log, 1, 'SIGINT')
    const cut = JSON.parse(read('killed', 'sweep.json')) as SweepReport
    await endAfter(log, cut.trials.filter(({ failed }) => failed === '').length + 1, 'SIGKILL')
    const before = readFileSync(log, 'utf8')

    const resumed = run(words('killed'))

    expect(interrupted.code).toBe(75)
    expect(interrupted.stdout).toMatch(/note: Ended early: [1-4] of 5 trials were run/)
    expect(interrupted.stdout).not.toContain('failed')

    expect([whole.status, whole.stderr]).toEqual([0, ''])
    expect(existsSync(join(project.directory, 'killed', 'sweep.json'))).toBe(true)
    expect(
      read('killed', 'trials.jsonl').startsWith(before.slice(0, before.lastIndexOf('\n') + 1)),
    ).toBe(true)
    for (const name of ['sweep.json', 'trials.csv', 'sweep.html'])
      expect(read('killed', name)).toBe(read('whole', name))
    expect(resumed.stdout.replaceAll('killed', 'whole')).toBe(whole.stdout)
  })

  test('each trial has the figures of the backtest that its command runs', () => {
    const report = JSON.parse(read('whole', 'sweep.json')) as SweepReport
    const [best] = report.trials
    const [fold] = report.folds
    expect(report.trials).toHaveLength(4)
    expect(report.folds).toHaveLength(1)
    for (const [index, row] of [best, fold].entries()) {
      const [, ...command] = (row?.command ?? '').split(' ')
      expect(run([PROGRAM, ...command, '--out', `alone-${index}`]).status).toBe(0)
      const [alone] = (
        JSON.parse(read(`alone-${index}`, 'report.json')) as {
          runs: { money: object; fills: { count: number } }[]
        }
      ).runs
      expect(alone?.money).toMatchObject({ final: row?.figures?.final, fees: row?.figures?.fees })
      expect(alone?.fills.count).toBe(row?.figures?.fills)
      expect(row?.figures?.fills).toBeGreaterThan(0)
    }
    const again = run([...words('whole'), '--trial', best?.id ?? ''])
    expect(again.status).toBe(0)
    expect(read('whole', `trial-${best?.id}`, 'report.json')).toBe(read('alone-0', 'report.json'))
  })

  test('every try on the same prices counts, over all runs of the directory', () => {
    const tries = (out: string): number =>
      (JSON.parse(read(out, 'sweep.json')) as SweepReport).tries
    project.write(
      'more.yaml',
      'folds: 0\nparams:\n  scripted: { everyMinutes: [30, 45], lots: [5] }\n',
    )
    const first = tries('whole')

    expect(run(words('whole', 'more.yaml')).status).toBe(0)

    expect([first, tries('whole')]).toEqual([4, 5])
  })

  test('a trial that throws, never ends or is misconfigured is a row with its reason', () => {
    const { status, stdout } = run(words('bad', 'bad.yaml'))
    const endless = run([...words('endless', 'endless.yaml'), '--trial-limit', '1s'])
    const rowsOf = (out: string) =>
      (JSON.parse(read(out, 'sweep.json')) as SweepReport).trials
        .map(({ params, failed }) => {
          const [headline] = failed.split('\n', 1)
          return [
            `${params['scripted.lots']} in ${params['scripted.everyMinutes']}`,
            headline,
          ] as const
        })
        .toSorted(([one], [other]) => one.localeCompare(other))
    const threw: unknown = expect.stringMatching(/10 decisions failed in a row: STRATEGY_THREW/)

    expect([status, endless.status]).toEqual([0, 1])
    expect(endless.stderr).toContain('every trial failed')
    expect(rowsOf('endless')).toEqual([['8 in 60', 'not done after 1 s (--trial-limit)']])
    expect(rowsOf('bad')).toEqual([
      ['5 in 30', ''],
      ['5 in 60', ''],
      ['6 in 30', ''],
      ['6 in 60', expect.stringMatching(/not 6 an hour/)],
      ['7 in 30', threw],
      ['7 in 60', threw],
    ])
    expect(stdout).toContain('3 of 6 failed')
  })

  test('a trial whose trading a loss limit ended is marked, and the limit is named', () => {
    const { status, stdout } = run([
      ...words('limited', 'whole.yaml'),
      '--set',
      'risk.losses.daily=3',
    ])
    const { trials, remarks } = JSON.parse(read('limited', 'sweep.json')) as SweepReport
    const ended = trials.filter(({ figures }) => (figures?.restrictions.length ?? 0) > 0)

    expect(status).toBe(0)
    expect(ended.length).toBeGreaterThan(0)
    expect(ended.length).toBeLessThan(trials.length)
    const [first] = remarks
    expect(first).toContain(
      `Trading ended early in ${ended.length} of ${trials.length} trials. In the best`,
    )
    expect(first).toMatch(
      /trading ended 2025-01-01 \d\d:\d\d UTC, reducing \(dailyLoss\): lost 3\.\d+ since/,
    )
    expect(stdout).toContain(`note: ${first}`)
    for (const { id, figures } of trials) {
      const line = stdout.split('\n').find((text) => text.startsWith(`  ${id} `)) ?? ''
      expect(line.includes('(trading ended early)')).toBe(figures?.restrictions.length === 1)
    }
    expect(read('limited', 'sweep.html')).toContain(ended[0]?.figures?.restrictions[0] ?? 'nothing')
  })

  test('prices that begin too late for a part of the range are refused before anything is computed', () => {
    project.write('late.csv', read('BTCUSDT.csv').split('\n').toSpliced(1, 90).join('\n'))
    project.edit('scripted.yaml', '[BTCUSDT]', '[BTCUSDT, ETHUSDT]')
    project.write(
      'halving.yaml',
      'method: halving\nfolds: 0\nparams:\n  scripted: { everyMinutes: [1, 2, 3], lots: [1] }\n',
    )
    const late = (...more: readonly string[]) =>
      run([...words('late', 'halving.yaml'), '--market', 'ETHUSDT=late.csv', ...more])
    const refused = late('--to', '2025-01-01T04:00')
    const later = late('--from', '2025-01-01T01:30', '--to', '2025-01-01T03:00')
    project.edit('scripted.yaml', '[BTCUSDT, ETHUSDT]', '[BTCUSDT]')

    expect([refused.status, later.status]).toEqual([64, 0])
    expect(refused.stderr).toMatch(
      /SWEEP_PRICES_OUTSIDE[^]*ETHUSDT +traded by scripted \(scripted.yaml:4\); late\.csv: its prices begin after, at 2025-01-01T01:30/,
    )
    expect(refused.stderr).toMatch(/part +2025-01-01T00:00:00\.000Z to 2025-01-01T01:20:00\.000Z/)
  })

  test.each([
    [
      78,
      'params: { other: { lots: [1] } }',
      /^wrong\.yaml:1:11 params\.other: no such strategy; there are scripted/,
    ],
    [
      78,
      'params: { scripted: { lots: { from: 3, to: 1, step: 1 } } }',
      /^wrong\.yaml:1:37 .*: from is above to/,
    ],
    [78, 'method: annealing\nparams: {}', /method: expected "grid", "random" or "halving"/],
    [
      78,
      'params:\n  scripted: { lot: [1, 2] }',
      /^wrong\.yaml:2:15 params\.scripted\.lot: unknown key; there are everyMinutes, lots, interval; did you mean "lots"\?$/m,
    ],
    [
      78,
      'params:\n  scripted:\n    lots: [5]\n    interval: [7x, 9y]',
      /^wrong\.yaml:4:5 params\.scripted\.interval: .*an interval is .*, not "7x" \(scripted\.yaml\)$/m,
    ],
    [
      78,
      'params:\n  scripted:\n    everyMinutes: [60, 1.5, 30]\n    lots: [5, 6, x]',
      /^wrong\.yaml:3:5 params\.scripted\.everyMinutes: 1\.5: expected a whole .*\nwrong\.yaml:4:5 params\.scripted\.lots: "x": expected a whole .*\n\n2 problems/,
    ],
    [
      78,
      'params:\n  scripted: { lots: [x] }',
      /^wrong\.yaml:2:15 params\.scripted\.lots: expected a whole/,
    ],
  ])('exits with %i for %j', (code, text, says) => {
    project.write('wrong.yaml', text)
    const { status, stderr } = run(words('wrong', 'wrong.yaml'))

    expect(status).toBe(code)
    expect(stderr).toMatch(says)
    expect(stderr).not.toContain('main.yaml')
    expect(existsSync(join(project.directory, 'wrong'))).toBe(false)
  })
})
