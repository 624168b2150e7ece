// One side of a line of bench/backtest-sides.ts, in a process of its own: `node bench/backtest-round.ts CHECKOUT
// DIRECTORY ORDER-AS-JSON` plays the project in DIRECTORY with the sources of CHECKOUT and prints the figures as JSON.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as runs from '../src/backtest/reported-backtest.ts'
import type * as preparing from '../src/backtest/opening/prepare-backtest.ts'
import type * as configs from '../src/config/load-config.ts'
import type * as candles from '../src/simulator/market/recorded/candle-tape.ts'
import type * as reports from '../src/report/write-report.ts'
import type * as projects from '../test/backtest/backtest-project.ts'

export interface RoundOrder {
  readonly files: readonly string[]
  /** How often it is played in the process, as a worker of a sweep plays one trial after the other. */
  readonly repeats: number
}

export interface BacktestRound {
  /** Seconds of CPU of each time it was played, loading of prices not included. */
  readonly cpu: readonly number[]
  readonly fills: number
  /** SHA-256 of each file of the report. */
  readonly hashes: Readonly<Record<string, string>>
}

const DAY_MS = 86_400_000

const [checkout = '', directory = '', text = '{}'] = process.argv.slice(2)
const { files, repeats } = JSON.parse(text) as RoundOrder

/** A module of the checkout; its type is ours. */
const from = (file: string): Promise<unknown> => import(pathToFileURL(join(checkout, file)).href)
const { ReportedBacktest } = (await from('src/backtest/reported-backtest.ts')) as typeof runs
const { looksOf, prepareBacktest } = (await from(
  'src/backtest/opening/prepare-backtest.ts',
)) as typeof preparing
const { loadConfig } = (await from('src/config/load-config.ts')) as typeof configs
const { writeReport } = (await from('src/report/write-report.ts')) as typeof reports
const { readAll } = (await from('test/backtest/backtest-project.ts')) as typeof projects

/** Shared by the runs of this process as by the trials of a sweep, where the checkout has it. */
const TAPE = 'src/simulator/market/recorded/candle-tape.ts'
const tapes = existsSync(join(checkout, TAPE))
  ? new ((await from(TAPE)) as typeof candles).CandleTapes()
  : undefined

const cpu: number[] = []
let last: Omit<BacktestRound, 'cpu'> = { fills: 0, hashes: {} }
for (let time = 0; time < repeats; time++) last = await play()
console.log(JSON.stringify({ cpu, ...last } satisfies BacktestRound))

async function play(): Promise<Omit<BacktestRound, 'cpu'>> {
  const request = { files, days: 1, seed: undefined, balance: undefined, version: 'bench', tapes }
  const prepared = await prepareBacktest(
    loadConfig({ file: 'main.yaml', cwd: directory, overrides: [] }),
    request,
  )
  const out = join(directory, `out-${process.pid}`)
  mkdirSync(out)
  const before = process.cpuUsage()
  const run = new ReportedBacktest(prepared.optionsFor(prepared.fillModel, out))
  while (run.runUntil(run.now + DAY_MS));
  const { coverage, config } = prepared
  const remarks = prepared.listRemarks()
  const report = run.finish()
  const { user, system } = process.cpuUsage(before)
  cpu.push((user + system) / 1e6)
  const head = { format: 1, name: 'bench', coin: config.account.marginCoin } as const
  writeReport(
    out,
    { ...head, coverage, assumptions: [], remarks, looks: looksOf(prepared), runs: [report] },
    { recipe: { version: 'bench' }, models: 1 },
  )
  const hashes = Object.fromEntries(
    Object.entries(readAll(out)).map(([name, content]) => [
      name,
      createHash('sha256').update(content).digest('hex'),
    ]),
  )
  rmSync(out, { recursive: true })
  return { fills: report.fills.count, hashes }
}
