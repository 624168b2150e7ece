// Runs the backtests of docs/strategies-library.md anew and writes their figures into the page, between its markers:
// `npm run library:figures -- --data FOLDER`, with the two files of prices that the page names in the folder.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type RunReport } from '../../src/report/run-report.ts'
import { showShare, withSign } from '../../src/report/text/figures.ts'
import { runBacktest } from '../backtest/backtest-project.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = join(PROJECT, 'docs/strategies-library.md')
const MARKET = ['BTCUSDT', 'ETHUSDT'].map((symbol) => `${symbol}-perp-1m-2025-05-29_06-19.csv.gz`)
const FROM_AT = Date.UTC(2025, 5, 2)
const DAY_MS = 86_400_000
const DAYS = 5

interface LibraryRun {
  readonly name: string
  /** Absent: an example of the same name. */
  readonly file?: string
  readonly set?: readonly string[]
  readonly params?: readonly string[]
  readonly days?: number
  readonly pollMs?: number
}

/** What the example `follow` reads; no signals of those days are at hand. */
const FOLLOWED_SIGNAL =
  'signals={"port":0,"accept":{"tv":{"secretVariable":"INTENTD_SIGNAL_TV","maxAgeMs":60000,"fields":{"action":{"type":"text"}}}}}'

const RUNS: readonly LibraryRun[] = [
  { name: 'grid', file: 'strategies/grid-btc.yaml' },
  {
    name: 'trend',
    file: 'strategies/trend-btc.yaml',
    params: ['trend-btc.fastSeconds=3600', 'trend-btc.slowSeconds=14400'],
  },
  { name: 'market-maker' },
  { name: 'dca' },
  { name: 'twap' },
  { name: 'breakout', set: ['risk.foreignFills=adopt'] },
  { name: 'funding' },
  { name: 'ratio' },
  { name: 'rebalance' },
  { name: 'pair' },
  { name: 'dip' },
  { name: 'follow', set: [FOLLOWED_SIGNAL] },
]
/** How much hangs on how often is looked. */
const LOOKS: readonly LibraryRun[] = [60_000, 15_000, 5000, 1000].map((pollMs) => ({
  name: 'market-maker',
  days: 1,
  pollMs,
}))

async function run(
  data: string,
  {
    name,
    file = `strategies/examples/${name}.yaml`,
    set = [],
    params = [],
    days = DAYS,
    pollMs = 60_000,
  }: LibraryRun,
): Promise<RunReport> {
  const out = mkdtempSync(join(tmpdir(), 'library-'))
  const overrides = [`strategies=["${file}"]`, `backtest.pollMs=${pollMs}`, ...set]
  try {
    const config = { file: 'config/paper.yaml', cwd: PROJECT, overrides, params }
    const files = MARKET.map((market) => join(data, market))
    const range = { fromAt: FROM_AT, toAt: FROM_AT + days * DAY_MS }
    const [report] = (await runBacktest(config, { files, out, ...range })).runs
    if (report === undefined) throw new Error(`${name} came to no report`)
    return report
  } finally {
    rmSync(out, { recursive: true })
  }
}

function ratioOf({ ratios }: RunReport, name: string): number {
  return ratios.find((ratio) => ratio.name === name)?.value ?? 0
}

function figuresRow(name: string, report: RunReport): string {
  const { money, fills } = report
  const before = Number(money.realised) + Number(money.unrealised)
  const closed = ratioOf(report, 'positions closed')
  return toRow([
    name,
    String(fills.count),
    fills.count === 0 ? 'n/a' : `${Math.round(fills.makerShare * 100)} %`,
    closed === 0 ? 'n/a' : `${Math.round(closed * ratioOf(report, 'winners'))} of ${closed}`,
    ...[before, -Number(money.fees), Number(money.funding), profitOf(report)].map((value) =>
      withSign(value, 2),
    ),
    showShare(ratioOf(report, 'deepest drawdown')),
  ])
}

function profitOf({ money }: RunReport): number {
  return Number(money.final) - Number(money.opening)
}

/** What it made on each day, by the equity at its end. */
function daysRow(name: string, { series, money }: RunReport): string {
  const equityAt = (at: number): number => {
    const buckets = Math.min(series.close.length, Math.round((at - series.startAt) / series.stepMs))
    return (
      series.close.slice(0, buckets).findLast((value) => !Number.isNaN(value)) ??
      Number(money.opening)
    )
  }
  const ends = Array.from({ length: DAYS + 1 }, (_, day) => equityAt(FROM_AT + day * DAY_MS))
  return toRow([name, ...ends.slice(1).map((end, day) => withSign(end - (ends[day] ?? end), 2))])
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function toTable(titles: readonly string[], rows: readonly string[]): string {
  return [toRow(titles), `|${'---|'.repeat(titles.length)}`, ...rows].join('\n')
}

function replaceFigures(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- figures: ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} and ${end}`)
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`
}

const { data } = parseArgs({ options: { data: { type: 'string' } } }).values
if (data === undefined) throw new Error('--data FOLDER names where the files of prices are')
const reports = new Map<string, RunReport>()
for (const one of RUNS) {
  reports.set(one.name, await run(data, one))
  console.log(figuresRow(one.name, reports.get(one.name) as RunReport))
}
const looks: string[] = []
for (const one of LOOKS) {
  const report = await run(data, one)
  looks.push(
    toRow([
      `${(one.pollMs ?? 0) / 1000} s`,
      String(report.fills.count),
      withSign(profitOf(report), 2),
    ]),
  )
}
const titles = [
  '',
  'fills',
  'of these made',
  'positions won',
  'before fees and funding',
  'fees',
  'funding',
  'profit, USDT',
  'deepest drawdown',
]
let page = readFileSync(PAGE, 'utf8')
page = replaceFigures(
  page,
  'all',
  toTable(
    titles,
    [...reports].map(([name, report]) => figuresRow(name, report)),
  ),
)
const dates = Array.from({ length: DAYS }, (_, day) => `${day + 2} June`)
page = replaceFigures(
  page,
  'days',
  toTable(
    ['profit, USDT', ...dates],
    [...reports].map(([name, report]) => daysRow(name, report)),
  ),
)
page = replaceFigures(page, 'looks', toTable(['looking every', 'fills', 'profit, USDT'], looks))
const ofBoth = [...reports.values()].find(
  ({ buyAndHold }) => Object.keys(buyAndHold.instruments).length === MARKET.length,
)
const held = ofBoth?.buyAndHold.value ?? 0
page = replaceFigures(
  page,
  'holding',
  `Buying half BTCUSDT and half ETHUSDT at the beginning and holding both: ${showShare(held)}, or ${withSign(held * 10_000, 0)} USDT.`,
)
writeFileSync(PAGE, page)
