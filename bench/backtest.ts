// How long a backtest takes: one-minute candles of one instrument, made from a seed, and a strategy that follows the
// trend. In the same run: the market alone, then the exchange with nobody on it, then the backtest with a decision at
// each minute and at each point of each candle. `npm run bench:backtest -- [--days 365] [--points false]`

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BacktestRun } from '../src/backtest/backtest-run.ts'
import { prepareBacktest } from '../src/cli/backtest/open-backtest.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { createRandom } from '../src/lib/random.ts'
import { createExchangeCore } from '../src/simulator/futures/exchange-core.ts'
import { buildInstruments, toMarketInstrument } from '../src/simulator/futures/instruments/instruments.ts'
import { loadRecording } from '../src/prices/load-recording.ts'
import { createRecordedMarket } from '../src/simulator/market/recorded/recorded-market.ts'
import { BacktestProject } from '../test/backtest/backtest-project.ts'

const START_AT = Date.UTC(2024, 0, 1)
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** Of a candle: as many as the simulator makes of a minute. */
const POINTS = 16

const { values } = parseArgs({
  options: { days: { type: 'string', default: '365' }, points: { type: 'string', default: 'true' } },
})
const days = Number(values.days)
const project = new BacktestProject(['BTCUSDT'], [])
try {
  await measure(project.write('BTCUSDT.csv', writeCandles(days * 1440)))
} finally {
  project.remove()
}

async function measure(file: string): Promise<void> {
  project.write(
    'scripted.yaml',
    `id: trend
module: ${join(import.meta.dirname, '../strategies/trend.ts')}
instruments: [BTCUSDT]
params: { fastSeconds: 3600, slowSeconds: 14400, size: "0.01", thresholdBps: 10 }
risk: { positionMax: "1", orderSizeMax: "1", openOrdersMax: 4 }
`,
  )
  console.log(`${days} days of one-minute candles, one instrument`)
  const instruments = buildInstruments(START_AT).filter(({ symbol }) => symbol === 'BTCUSDT')
  const recordings = [await loadRecording(file)]
  const openMarket = () =>
    createRecordedMarket({
      ...{ recordings, speed: 1, startAt: START_AT, instruments: instruments.map(toMarketInstrument) },
      fallback: { seed: 1 },
    })
  const endAt = START_AT + days * DAY_MS
  let steps = 0
  const market = openMarket()
  const alone = time('market alone', 1, () => {
    while (!market.advance(endAt, () => steps++));
  })
  const core = createExchangeCore({ instruments, accounts: [], market: openMarket, seed: 1 })
  time('exchange, nobody on it', alone, () => {
    while (!core.advance(endAt));
  })
  await timeBacktest(file, MINUTE_MS, alone)
  if (values.points === 'true') await timeBacktest(file, MINUTE_MS / POINTS, alone)
  console.log(`${steps} points of the market`)
}

async function timeBacktest(file: string, pollMs: number, alone: number): Promise<void> {
  const overrides = [`backtest.pollMs=${pollMs}`]
  const loaded = loadConfig({ file: 'main.yaml', cwd: project.directory, overrides })
  const request = { files: [file], days, seed: undefined, balance: undefined, version: 'bench' }
  const run = new BacktestRun(
    (await prepareBacktest(loaded, request)).open('default', join(project.directory, 'out')),
  )
  time(`backtest, decisions every ${pollMs / 1000} s`, alone, () => {
    while (run.playTo(run.now + DAY_MS));
  })
  const { fills, orders } = run.finish()
  console.log(`    ${fills.count} fills, orders ${JSON.stringify(orders)}`)
}

/** @returns seconds. */
function time(name: string, alone: number, work: () => void): number {
  const startedAt = systemClock.monotonic()
  work()
  const seconds = (systemClock.monotonic() - startedAt) / 1000
  const share = alone === 1 ? 1 : seconds / alone
  console.log(
    `  ${name.padEnd(36)} ${seconds.toFixed(1).padStart(7)} s   ${share.toFixed(1)} times the market`,
  )
  return seconds
}

function writeCandles(minutes: number): string {
  const random = createRandom('bench')
  const lines = ['ts_ms,open,high,low,close,volume']
  let price = 60_000
  for (let minute = 0; minute < minutes; minute++) {
    const moves = Array.from({ length: 4 }, () => 1 + random.normal() * 0.0004)
    const [open, close] = [price, price * (moves[0] ?? 1)]
    const high = Math.max(open, close) * Math.max(1, moves[1] ?? 1)
    const low = Math.min(open, close) * Math.min(1, moves[2] ?? 1)
    const cells = [open, high, low, close].map((value) => value.toFixed(1))
    lines.push([START_AT + minute * MINUTE_MS, ...cells, (20 + 60 * random.next()).toFixed(3)].join(','))
    price = Number(cells[3])
  }
  return `${lines.join('\n')}\n`
}
