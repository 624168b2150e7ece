// How long a backtest takes, in CPU: one-minute candles made from a seed, and a strategy that follows the trend. Beside
// a bare loop over the same columns that makes the same decisions and nothing else, a public backtester of candles, and
// the market alone; the lines in turn, `--rounds` times, after a round that counts for nothing. Then what one line costs
// at twice the length, with two instruments, and with many fills: in proportion, it costs twice as much, or so much a
// fill.
// `npm run bench:backtest -- [--days 60] [--rounds 5] [--points] [--linear false]`
// `npm run bench:backtest -- --against PATH [--days 60] [--rounds 5] [--only TEXT]` plays the lines of
// bench/backtest-sides.ts instead, in turn with another checkout of this project, and ends with 1 where a report differs.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ReportedBacktest } from '../src/backtest/reported-backtest.ts'
import { prepareBacktest } from '../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { loadRecording } from '../src/prices/load-recording.ts'
import { type CandleRows, type Recording } from '../src/prices/recording.ts'
import {
  buildInstruments,
  toMarketInstrument,
} from '../src/simulator/futures/instruments/instruments.ts'
import { RecordedMarket } from '../src/simulator/market/recorded/recorded-market.ts'
import { BacktestProject, MINUTE_MS } from '../test/backtest/backtest-project.ts'
import { START_AT, SYMBOLS, writeCandles } from '../test/backtest/library-project.ts'
import { compareSides } from './backtest-sides.ts'
import { openCandleBacktester } from './candle-backtester.ts'
import { medianOf } from './figures.ts'
import { writeStrategy } from '../test/support/made-limits.ts'

const DAY_MS = 86_400_000
const YEAR_DAYS = 365
const PAIR = SYMBOLS.slice(0, 2)
const LOOKS = [1, 4]
/** As many as the simulator makes of a minute. */
const POINTS = 16

interface Averages {
  readonly fastSeconds: number
  readonly slowSeconds: number
}
const SELDOM: Averages = { fastSeconds: 3600, slowSeconds: 14_400 }
const OFTEN: Averages = { fastSeconds: 120, slowSeconds: 600 }

interface Play {
  readonly days: number
  readonly symbols: readonly string[]
  /** A minute. */
  readonly looks: number
  readonly averages: Averages
}

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '5' },
    points: { type: 'boolean', default: false },
    linear: { type: 'string', default: 'true' },
    against: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})
const days = Number(values.days)
const rounds = Number(values.rounds)
/** Of the run before. */
let fills = 0
const project = new BacktestProject(PAIR, [])
try {
  if (values.against === undefined) {
    await measureLines()
    if (values.linear === 'true') await measureGrowth()
  } else {
    const { against, only } = values
    if (!compareSides({ against, only, days, rounds })) process.exitCode = 1
  }
} finally {
  project.remove()
}

async function measureLines(): Promise<void> {
  const recording = await loadRecording(writeCandles(project, 'BTCUSDT', days))
  const backtester = openCandleBacktester()
  if (!backtester)
    console.log('without a public backtester: npm --prefix bench/candle-backtester ci')
  const looks = values.points ? [...LOOKS, POINTS] : LOOKS
  const lines: readonly (readonly [string, () => Promise<number>])[] = [
    ['bare loop, four points a minute', async () => timeCpu(() => loopBarely(recording))],
    ...(backtester
      ? [
          [
            'grademark, closes alone',
            async () => timeCpu(() => backtester(recording.rows as CandleRows, SELDOM)),
          ] as const,
        ]
      : []),
    ['market alone', async () => timeCpu(() => playMarket(recording))],
    ...looks.map(
      (each) =>
        [
          `backtest, ${each} decision${each === 1 ? '' : 's'} a minute`,
          () => playBacktest({ days, symbols: ['BTCUSDT'], looks: each, averages: SELDOM }),
        ] as const,
    ),
  ]
  const taken = new Map<string, number[]>(lines.map(([name]) => [name, []]))
  for (let round = 0; round <= rounds; round++)
    for (const [name, run] of lines) {
      const seconds = await run()
      if (round > 0) taken.get(name)?.push(seconds)
    }
  const [[, bare] = ['', [Number.NaN]]] = taken
  console.log(
    `${days} days of one-minute candles, one instrument; CPU of ${rounds} rounds, least, median, most`,
  )
  for (const [name, seconds] of taken) {
    const [least, median, most] = [Math.min(...seconds), medianOf(seconds), Math.max(...seconds)]
    const perMinute = (median / (days * 1440)) * 1e6
    console.log(
      `  ${name.padEnd(34)} ${[least, median, most].map((each) => each.toFixed(3).padStart(7)).join(' ')} s` +
        `  ${perMinute.toFixed(2).padStart(7)} us a minute  a year ${((median * YEAR_DAYS) / days).toFixed(1).padStart(6)} s` +
        `  ${(median / medianOf(bare)).toFixed(0).padStart(5)} times the loop`,
    )
  }
}

/** Each beside the line that it grows from. */
async function measureGrowth(): Promise<void> {
  const usual: Play = { days: days / 2, symbols: ['BTCUSDT'], looks: 1, averages: SELDOM }
  const lines: Readonly<Record<string, Play>> = {
    'half the length': usual,
    'the whole length': { ...usual, days },
    'two instruments': { ...usual, symbols: PAIR },
    'many fills': { ...usual, averages: OFTEN },
  }
  console.log('one decision a minute, median')
  for (const [name, play] of Object.entries(lines)) {
    const seconds: number[] = []
    for (let round = 0; round < rounds; round++) seconds.push(await playBacktest(play))
    console.log(
      `  ${name.padEnd(34)} ${medianOf(seconds).toFixed(3).padStart(7)} s  ${fills} fills`,
    )
  }
}

/** @returns seconds of CPU. */
async function playBacktest({ days: length, symbols, looks, averages }: Play): Promise<number> {
  project.write(
    'scripted.yaml',
    writeStrategy({
      id: 'trend',
      module: join(import.meta.dirname, '../strategies/trend.ts'),
      instruments: symbols,
      params: { ...averages, size: '0.01', thresholdBps: 10 },
    }),
  )
  const overrides = [`backtest.pollMs=${MINUTE_MS / looks}`]
  const loaded = loadConfig({ file: 'main.yaml', cwd: project.directory, overrides })
  const files = symbols.map((symbol) => writeCandles(project, symbol, length))
  const request = { files, days: length, seed: undefined, balance: undefined, version: 'bench' }
  const out = join(project.directory, 'out')
  const run = new ReportedBacktest(
    (await prepareBacktest(loaded, request)).optionsFor('default', out),
  )
  const seconds = timeCpu(() => {
    while (run.runUntil(run.now + DAY_MS));
  })
  fills = run.finish().fills.count
  rmSync(out, { recursive: true })
  return seconds
}

/** What the strategy decides at the four prices of each candle, worked out from the columns. */
function loopBarely({ rows }: Recording): void {
  const { open, high, low, close } = rows as CandleRows
  const [fastWeight, slowWeight] = [SELDOM.fastSeconds, SELDOM.slowSeconds].map(
    (seconds) => 15 / (15 + seconds),
  ) as [number, number]
  let [fast, slow, side, changes] = [open[0] as number, open[0] as number, 0, 0]
  for (let row = 0; row < open.length; row++) {
    for (const column of [open, high, low, close]) {
      const price = column[row] as number
      fast += (price - fast) * fastWeight
      slow += (price - slow) * slowWeight
      const gap = (fast / slow - 1) * 10_000
      const wanted = gap > 10 ? 1 : gap < -10 ? -1 : side
      if (wanted !== side) changes += 1
      side = wanted
    }
  }
  if (changes === 0) throw new Error('the loop decided nothing')
}

function playMarket(recording: Recording): void {
  const instruments = buildInstruments(START_AT).filter(({ symbol }) => symbol === recording.symbol)
  const market = new RecordedMarket({
    recordings: [recording],
    speed: 1,
    startAt: START_AT,
    instruments: instruments.map(toMarketInstrument),
    fallback: { seed: 1 },
  })
  const endAt = START_AT + days * DAY_MS
  while (!market.advance(endAt, () => undefined));
}

/** @returns seconds, user and system. */
function timeCpu(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
