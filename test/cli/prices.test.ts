import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { UniverseRecording } from '../../src/recording/universe/universe-recording.ts'
import { Projects } from '../daemon/project.ts'

const TIMEOUT_MS = 120_000
const HEADER = 'ts_ms,open,high,low,close,volume\n'
const AT = Date.UTC(2025, 5, 2)

const projects = new Projects()
afterAll(() => projects.close())

const candle = (minute: number, prices = '61837.6,61900,61800.1,61850') =>
  `${AT + minute * 60_000},${prices},5\n`

test.concurrent(
  'import says what it found and did, and data what there is',
  async () => {
    const project = projects.open()
    const rows = [0, 1, 1, 3, 9, 8].map((minute) => candle(minute))
    project.write('BTCUSDT-1m-2025-06.csv', HEADER + rows.join('') + candle(10, '1,1,0,1'))

    const imported = project.start([
      'import',
      'BTCUSDT-1m-2025-06.csv',
      '--out',
      'data',
      '--market',
      'futures',
    ])
    const { code } = await imported.ended
    const shown = project.start(['data', 'data/BTCUSDT-futures-1m.prices'])
    await shown.ended

    expect(code).toBe(0)
    expect(imported.stdout.slice(0, 7)).toEqual([
      'symbol         kind          rows  from              to                  gaps',
      'BTCUSDT        1m               5  2025-06-02 00:00  2025-06-02 00:09       2',
      '  gaps         2: 5 candles missing; the longest 5m from 2025-06-02 00:03',
      '  disorder     1 out of order, sorted; first BTCUSDT-1m-2025-06.csv:7',
      '  duplicates   1 there already, the first kept; first BTCUSDT-1m-2025-06.csv:4',
      '  zero prices  1 dropped; first BTCUSDT-1m-2025-06.csv:8',
      expect.stringMatching(
        /^ {2}written {6}data\/BTCUSDT-futures-1m\.prices, [\d,]+ bytes, of 1 file$/,
      ),
    ])
    expect(shown.stdout.slice(1, 6)).toEqual([
      imported.stdout[1],
      '  file         BTCUSDT-futures-1m.prices',
      '  market       futures',
      '  tick         0.1, as far as its prices show',
      imported.stdout[2],
    ])
    expect(shown.stdout[6]).toMatch(/^ {2}sha256 {7}[0-9a-f]{64}$/)
    const lines = [...imported.stdout, ...shown.stdout]
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  },
  TIMEOUT_MS,
)

test.concurrent(
  'data names the outliers of a price file and of a CSV in the words of import, with their time',
  async () => {
    const project = projects.open()
    const rows = [candle(0), candle(1, '61.8376,61.9,61.8,61.85'), candle(2)]
    project.write('BTCUSDT.csv', HEADER + rows.join(''))

    const imported = project.start(['import', 'BTCUSDT.csv', '--out', 'data'])
    await imported.ended
    const shown = project.start(['data', 'data/BTCUSDT-1m.prices', 'BTCUSDT.csv'])
    await shown.ended

    const outlier = (where: string) =>
      `outliers 1 more than 5 times the price before, or less than a fifth of it, kept; first ${where}, open 61.8376 after 61850`
    const said = (lines: readonly string[]) => lines.join(' ').replaceAll(/ +/g, ' ')
    expect(said(imported.stdout)).toContain(outlier('BTCUSDT.csv:3'))
    expect(said(shown.stdout).split(outlier('2025-06-02T00:01:00.000Z'))).toHaveLength(3)
    expect(shown.stdout.filter((line) => line.length > 80)).toEqual([])
  },
  TIMEOUT_MS,
)

test.concurrent(
  'import --json and data --json print the same facts',
  async () => {
    const project = projects.open()
    project.write('BTCUSDT.csv', HEADER + candle(0) + candle(1) + candle(3))

    const imported = project.start(['import', 'BTCUSDT.csv', '--out', 'data', '--json'])
    await imported.ended
    const shown = project.start(['data', 'data/BTCUSDT-1m.prices', '--json'])
    await shown.ended

    const [one] = JSON.parse(imported.stdout.join('\n')) as [{ written: { sha256: string } }]
    const common = {
      symbol: 'BTCUSDT',
      kind: 'candles',
      intervalMs: 60_000,
      rows: 3,
      from: AT,
      to: AT + 180_000,
    }
    const gaps = { count: 1, missing: 1, longestMs: 120_000, longestFrom: AT + 60_000 }
    expect(one).toMatchObject({ ...common, gaps, findings: { disorder: { count: 0 } } })
    expect(JSON.parse(shown.stdout.join('\n'))).toMatchObject([
      { ...common, gaps, sha256: one.written.sha256 },
    ])
  },
  TIMEOUT_MS,
)

test.concurrent(
  'import makes a file of funding payments, and data describes it',
  async () => {
    const project = projects.open()
    project.write(
      'BTCUSDT-fundingRate-2025-06.csv',
      `calc_time,funding_interval_hours,last_funding_rate\n${AT},8,0.0001\n${AT + 28_800_001},8,-0.00003\n`,
    )

    const imported = project.start(['import', 'BTCUSDT-fundingRate-2025-06.csv', '--out', 'data'])
    const { code } = await imported.ended
    const shown = project.start(['data', 'data/BTCUSDT-funding.csv'])
    await shown.ended

    expect(code).toBe(0)
    expect(imported.stdout[1]).toBe(
      'BTCUSDT        funding          2  2025-06-02 00:00  2025-06-02 08:00       0',
    )
    expect(shown.stdout.slice(1)).toEqual([
      imported.stdout[1],
      '  file         BTCUSDT-funding.csv',
      "  paid         0.0070 % of a position's value by longs, all payments together",
    ])
  },
  TIMEOUT_MS,
)

test.concurrent(
  'exit codes: 65 with --strict and for what is no price, 66 for no file, 64 for a file that is there',
  async () => {
    const project = projects.open()
    project.write('BTCUSDT.csv', HEADER + candle(0) + candle(1) + candle(3))
    project.write('ETHUSDT.csv', 'hello\n')
    const importing = async (...args: string[]) => {
      const run = project.start(['import', '--out', 'data', ...args])
      const { code } = await run.ended
      return [code, run.stderr[0]?.split(':')[0]]
    }

    expect(await importing('BTCUSDT.csv', '--strict')).toEqual([65, undefined])
    expect(readdirSync(project.directory)).not.toContain('data')
    expect(await importing('ETHUSDT.csv')).toEqual([65, 'IMPORT_SHAPE_UNKNOWN'])
    expect(await importing('SOLUSDT.csv')).toEqual([66, 'RECORDING_UNREADABLE'])
    expect(await importing('nope.csv')).toEqual([66, 'RECORDING_UNREADABLE'])
    expect(await importing('BTCUSDT.csv')).toEqual([0, undefined])
    expect(await importing('BTCUSDT.csv')).toEqual([64, 'IMPORT_EXISTS'])
    expect(await importing('BTCUSDT.csv', '--symbol', 'btc')).toEqual([64, 'error'])
    expect(readdirSync(join(project.directory, 'data'))).toEqual(['BTCUSDT-1m.prices'])
  },
  TIMEOUT_MS,
)

test.concurrent(
  'record makes price files of what a daemon saw, and the simulator plays them',
  async () => {
    const project = projects.open()
    const first = project.run(['--set', 'record=true', '--for', '1500ms'])
    await first.ended
    const state = readdirSync(project.directory, { recursive: true, encoding: 'utf8' })
    const recordings = state.find((path) => path.endsWith('recordings')) ?? ''

    const recorded = project.start(['record', recordings, '--out', 'data'])
    const { code } = await recorded.ended
    const played = project.run([
      '--market',
      'data/BTCUSDT-futures-quotes.prices',
      '--market',
      'data/ETHUSDT-futures-quotes.prices',
      '--speed',
      '1',
      '--for',
      '1s',
      '--summary',
      'text',
    ])
    const ended = await played.ended

    expect([code, ended.code]).toEqual([0, 0])
    expect(recorded.stdout[1]).toMatch(/^BTCUSDT +quotes +[1-9]/)
    expect(played.stdout.join('\n')).toMatch(/prices +BTCUSDT-futures-quotes\.prices/)
  },
  TIMEOUT_MS,
)

test.concurrent(
  'record --universe keeps all tickers, survives a kill -9, and lets no second writer in',
  async () => {
    const project = projects.open()
    const words = ['record', '--universe', '--every', '1s', '--out', 'kept']
    const directory = join(project.directory, 'kept')
    const count = (): number => {
      try {
        const entries = [...new UniverseRecording(directory).entries()]
        return entries.filter(({ kind }) => kind === 'tickers').length
      } catch {
        return 0
      }
    }
    const untilKept = (answers: number) =>
      vi.waitFor(() => expect(count()).toBeGreaterThanOrEqual(answers), {
        timeout: TIMEOUT_MS,
        interval: 200,
      })

    const first = project.start(words)
    await untilKept(2)
    const second = project.start(words)
    const refused = await second.ended
    first.kill('SIGKILL')
    await first.ended
    const before = count()
    const third = project.start(words)
    await untilKept(before + 1)
    third.kill('SIGINT')
    const { code } = await third.ended

    expect(refused.code).toBe(75)
    expect(second.stderr.join('\n')).toContain('UNIVERSE_FILES_HELD')
    expect(code).toBe(0)
    expect(third.stdout.join('\n')).toMatch(/^kept {2}\d+ answers, \d+ bytes, 0 missed$/)
    const symbols = new Set<string>()
    for (const entry of new UniverseRecording(directory).entries())
      for (const symbol of entry.kind === 'contracts' ? entry.contracts.keys() : [])
        symbols.add(symbol)
    expect(symbols).toContain('BTCUSDT')
  },
  TIMEOUT_MS,
)
