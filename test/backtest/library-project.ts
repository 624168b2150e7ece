// Strategies of the library on candles that are made from a seed: what benches play, and what must keep its bytes.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../src/lib/random.ts'
import { BacktestProject, MINUTE_MS } from './backtest-project.ts'
import { writeStrategy } from '../support/made-limits.ts'

export const START_AT = Date.UTC(2024, 0, 1)

/** The price of the first candle and of a tick. The simulator lists all of them when they are named. */
const PRICES: Readonly<Record<string, number>> = { BTCUSDT: 60_000, ETHUSDT: 3000 }
const OTHERS = ['SOLUSDT', 'BNBUSDT', 'LTCUSDT', 'AVAXUSDT', 'LINKUSDT', 'UNIUSDT']
export const SYMBOLS: readonly string[] = [...Object.keys(PRICES), ...OTHERS]

type PlayedStrategy = 'trend' | 'grid' | 'breakout' | 'market-maker'

/** The settings of a run on made-up candles of a minute. */
export interface PlayedLine {
  readonly strategy: PlayedStrategy
  readonly days: number
  readonly pollMs: number
  readonly instruments: number
}

const PARAMS: Readonly<Record<PlayedStrategy, object>> = {
  trend: { fastSeconds: 3600, slowSeconds: 14_400, size: '0.01', thresholdBps: 10 },
  grid: { spacingBps: 10, levels: 8, size: '0.002', recentreAfterLevels: 8 },
  breakout: { size: '0.01' },
  'market-maker': {
    size: '0.005',
    inventoryMax: '0.02',
    widthMinBps: 4,
    widthDeviations: 1,
    period: 30,
    requoteTicks: 300,
  },
}

/** A folder with the configuration, the prices and a copy of the strategy: another checkout can play it too. */
export function writeProject(line: PlayedLine): { project: BacktestProject; files: string[] } {
  const symbols = SYMBOLS.slice(0, line.instruments)
  const project = new BacktestProject(symbols, [])
  const listed = OTHERS.filter((symbol) => symbols.includes(symbol)).map(
    (symbol) =>
      `  ${symbol}: { tickSize: "0.01", lotSize: "0.01", minSize: "0.01", minNotional: "5" }\n`,
  )
  const ofEth = /^ {2}ETHUSDT: .*\n/m
  project.write(
    'main.yaml',
    project
      .read('main.yaml')
      .replace(ofEth, (text) => text + listed.join(''))
      .replace('pollMs: 5000', `pollMs: ${line.pollMs}`),
  )
  project.write(
    'scripted.yaml',
    writeStrategy({
      id: line.strategy,
      module: 'played.ts',
      instruments: symbols,
      params: PARAMS[line.strategy],
      risk: { openOrdersMax: 40 },
    }),
  )
  copyFileSync(
    join(import.meta.dirname, `../../strategies/${line.strategy}.ts`),
    join(project.directory, 'played.ts'),
  )
  project.edit('played.ts', "'intentd/strategy'", "'intentd/strategy'")
  return { project, files: symbols.map((symbol) => writeCandles(project, symbol, line.days)) }
}

export function writeCandles(project: BacktestProject, symbol: string, days: number): string {
  const random = createRandom(`bench ${symbol}`)
  const lines = ['ts_ms,open,high,low,close,volume']
  let price = PRICES[symbol] ?? 500
  for (let minute = 0; minute < days * 1440; minute++) {
    const moves = Array.from({ length: 4 }, () => 1 + random.normal() * 0.0004)
    const [open, close] = [price, price * (moves[0] ?? 1)]
    const high = Math.max(open, close) * Math.max(1, moves[1] ?? 1)
    const low = Math.min(open, close) * Math.min(1, moves[2] ?? 1)
    const cells = [open, high, low, close].map((value) => value.toFixed(1))
    lines.push(
      [START_AT + minute * MINUTE_MS, ...cells, (20 + 60 * random.next()).toFixed(3)].join(','),
    )
    price = Number(cells[3])
  }
  return project.write(`${symbol}.csv`, `${lines.join('\n')}\n`)
}
