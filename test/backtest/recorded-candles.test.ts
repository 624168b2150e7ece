import { afterAll, expect, test } from 'vitest'
import { ReportedBacktest } from '../../src/backtest/reported-backtest.ts'
import { readRecordedCandles } from '../../src/backtest/played-prices.ts'
import { prepareBacktest } from '../../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { CandleRow } from '../../src/domain/candles.ts'
import { createRandom } from '../../src/lib/random.ts'
import type { Recording } from '../../src/prices/recording.ts'
import { BacktestProject, MINUTE_MS, START_AT } from './backtest-project.ts'

const MINUTES = 40
const FROM_MINUTE = 10

const project = new BacktestProject(['BTCUSDT'], [])
afterAll(() => project.remove())

/** Candles of a minute that move by much within it, in tenths of the quote coin. */
const CANDLES = (() => {
  const random = createRandom('recorded candles')
  let open = 1_000_000
  return Array.from({ length: MINUTES }, (_, minute) => {
    const close = open + random.integer(401) - 200
    const high = Math.max(open, close) + random.integer(100)
    const low = Math.min(open, close) - random.integer(100)
    const row = { openAt: START_AT + minute * MINUTE_MS, open, high, low, close }
    open = close + random.integer(21) - 10
    return row
  })
})()

const WATCHING = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  needs: { candles: { '1m': 5, '5m': 5, '30s': 5 } },
  decides: 'candle',
  initialState: () => ({}),
  decide: (snapshot, { state }) => ({ intents: [], state }),
})
`

interface Closing {
  readonly at: number
  readonly row: CandleRow
}

/** The candles of an interval that strategies have seen of a backtest, and when. */
async function playCandles(
  pollMs: number,
  intervalMs: number,
  fromAt = START_AT,
): Promise<readonly Closing[]> {
  project.write('scripted.ts', WATCHING)
  const lines = CANDLES.map(({ openAt, open, high, low, close }) =>
    [openAt, ...[open, high, low, close].map((tenths) => (tenths / 10).toFixed(1)), 1000].join(','),
  )
  const file = project.write(
    'BTCUSDT.csv',
    ['ts_ms,open,high,low,close,volume', ...lines, ''].join('\n'),
  )
  const overrides = [`backtest.pollMs=${pollMs}`, 'risk.dataAgeMaxMs=60000']
  const loaded = loadConfig({ file: 'main.yaml', cwd: project.directory, overrides })
  const request = { days: 1, seed: undefined, balance: undefined, version: 'test', fromAt }
  const prepared = await prepareBacktest(loaded, { files: [file], ...request })
  const closings: Closing[] = []
  const run = new ReportedBacktest({
    ...prepared.optionsFor('default', undefined),
    onStep: ({ at, effects }) => {
      for (const effect of effects) {
        if (effect.kind !== 'record' || effect.record.kind !== 'candles') continue
        const { record } = effect
        if (record.intervalMs !== intervalMs) continue
        const ofRun = record.candles.filter(([openAt]) => openAt >= fromAt)
        closings.push(...ofRun.map((row) => ({ at, row })))
      }
    },
  })
  while (run.runUntil(run.now + 3_600_000));
  return closings
}

function fileRows(fromMinute: number, toMinute: number): readonly CandleRow[] {
  return CANDLES.slice(fromMinute, toMinute).map(({ openAt, open, high, low, close }) => [
    openAt,
    ...([open / 10, high / 10, low / 10, close / 10] as const),
    1,
  ])
}

test.each([1000, 15_000, 45_000, 60_000])(
  'closed candles are those of the recording at a look each %i ms, also in the first minute of a warm run',
  async (pollMs) => {
    const closings = await playCandles(pollMs, MINUTE_MS, START_AT + FROM_MINUTE * MINUTE_MS)

    const rows = closings.map(({ row }) => row)
    // The last one closes with the run.
    expect(rows.length).toBeGreaterThanOrEqual(MINUTES - FROM_MINUTE - 1)
    expect(rows).toEqual(fileRows(FROM_MINUTE, FROM_MINUTE + rows.length))
    const early = closings.filter(({ at, row }) => at < row[0] + MINUTE_MS)
    expect(early).toEqual([])
  },
)

test.each([1000, 60_000])(
  'a cold run shows the first candle of the file, at a look each %i ms',
  async (pollMs) => {
    const [first, second] = await playCandles(pollMs, MINUTE_MS)

    expect([first?.row, second?.row]).toEqual(fileRows(0, 2))
    expect(first?.at).toBeGreaterThanOrEqual(START_AT + MINUTE_MS)
  },
)

test('at a look each minute a candle is known right after its end, and one of five minutes joins five', async () => {
  const minutes = (await playCandles(60_000, MINUTE_MS)).slice(1)
  expect(Math.max(...minutes.map(({ at, row }) => at - row[0] - MINUTE_MS))).toBeLessThan(1000)

  const [first] = await playCandles(60_000, 5 * MINUTE_MS)
  const joined = fileRows(0, 5)
  expect(first?.row).toEqual([
    START_AT,
    joined[0]?.[1],
    Math.max(...joined.map((row) => row[2])),
    Math.min(...joined.map((row) => row[3])),
    joined[4]?.[4],
    5,
  ])
})

test('a candle shorter than those of the recording is made of what was seen', async () => {
  const halves = await playCandles(1000, MINUTE_MS / 2)

  const seen = halves.filter(({ row }) => row[5] > 20)
  expect(seen.length).toBeGreaterThan(MINUTES)
})

const MINUTE_ROWS: Recording['rows'] = {
  kind: 'candles',
  at: Float64Array.of(0, 60_000, 120_000, 300_000),
  open: Float64Array.of(1, 2, 3, 4),
  high: Float64Array.of(5, 6, 7, 8),
  low: Float64Array.of(0.5, 0.4, 0.3, 0.2),
  close: Float64Array.of(2, 3, 4, 5),
  volume: Float64Array.of(1, 1, 1, 1),
}
const QUOTE_ROWS: Recording['rows'] = {
  kind: 'quotes',
  at: Float64Array.of(100, 3e4, 59999, 6e4),
  bid: Float64Array.of(1, 1, 1, 1),
  ask: Float64Array.of(2, 2, 2, 2),
  bidSize: Float64Array.of(1, 1, 1, 1),
  askSize: Float64Array.of(1, 1, 1, 1),
  last: Float64Array.of(10, 12, 9, 20),
}

const recordingOf = (rows: Recording['rows']): Recording => ({
  symbol: 'BTCUSDT',
  source: 'file',
  sha256: '',
  rows,
})

test.each([
  ['one row', MINUTE_ROWS, 60_000, 60_000, [60_000, 2, 6, 0.4, 3, 1]],
  ['rows joined', MINUTE_ROWS, 120_000, 0, [0, 1, 6, 0.4, 3, 2]],
  ['rows beside a gap', MINUTE_ROWS, 180_000, 180_000, [180_000, 4, 8, 0.2, 5, 1]],
  ['quotes', QUOTE_ROWS, 60_000, 0, [0, 10, 12, 9, 9, 3]],
  ['none that closes after the run', MINUTE_ROWS, 180_000, 300_000, undefined],
  ['none in a gap', MINUTE_ROWS, 60_000, 180_000, undefined],
  ['none that a row outlasts', MINUTE_ROWS, 90_000, 0, undefined],
  ['none shorter than a row', MINUTE_ROWS, 30_000, 0, undefined],
] as const)('of a recording: %s', (_, rows, intervalMs, openAt, expected) => {
  const recordedCandle = readRecordedCandles([recordingOf(rows)], 360_000)

  expect(recordedCandle('BTCUSDT', intervalMs, openAt)).toEqual(expected)
  expect(recordedCandle('ETHUSDT', intervalMs, openAt)).toBeUndefined()
})

test('a row that lies across the end of a candle gives it nothing: it knows what comes later', () => {
  const at = MINUTE_ROWS.at.map((time) => time + 30_000)
  const recordedCandle = readRecordedCandles([recordingOf({ ...MINUTE_ROWS, at })], 420_000)

  expect(recordedCandle('BTCUSDT', 60_000, 0)).toBeUndefined()
  expect(recordedCandle('BTCUSDT', 120_000, 0)).toBeUndefined()
})

test('a thin market that leaves out most minutes has its candles all the same', () => {
  const at = Float64Array.of(0, 120_000, 180_000, 300_000)
  const recordedCandle = readRecordedCandles([recordingOf({ ...MINUTE_ROWS, at })], 420_000)

  expect(recordedCandle('BTCUSDT', 60_000, 120_000)).toEqual([120_000, 2, 6, 0.4, 3, 1])
  expect(recordedCandle('BTCUSDT', 60_000, 60_000)).toBeUndefined()
  expect(recordedCandle('BTCUSDT', 300_000, 0)).toEqual([0, 1, 7, 0.3, 4, 3])
})
