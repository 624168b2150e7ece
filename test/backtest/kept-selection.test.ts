import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ReportedBacktest } from '../../src/backtest/reported-backtest.ts'
import type { KeptRows } from '../../src/backtest/kept-rows.ts'
import { withKeptTickers } from '../../src/backtest/opening/kept-universe.ts'
import { prepareBacktest } from '../../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { ContractRules } from '../../src/domain/contract-rules.ts'
import type { UniverseRecord } from '../../src/domain/record.ts'
import {
  type MarketAggregates,
  MarketWatch,
  TICKER_COLUMNS,
  TickerTable,
} from '../../src/domain/ticker-table.ts'
import { UniverseRecording } from '../../src/recording/universe/universe-recording.ts'
import { UniverseWriter } from '../../src/recording/universe/universe-writer.ts'
import { DrawnTickers } from '../support/drawn-tickers.ts'
import { BacktestProject, MINUTE_MS, START_AT } from './backtest-project.ts'

const COUNT = 600
const MINUTES = 28
const LATENCY_MS = 20
/** Between two looks of the run that is kept. */
const LOOK_MS = 15_000

const directory = mkdtempSync(join(tmpdir(), 'wt-rec-selection-'))
const project = new BacktestProject(['BTCUSDT'], [])
afterAll(() => {
  rmSync(directory, { recursive: true })
  project.remove()
})

/** One answer about all tickers, with the contracts that were known then. */
interface Answer {
  readonly table: TickerTable
  readonly contracts: ReadonlyMap<string, ContractRules>
}

/** Listings and delistings happen between the answers, every few looks. */
function drawAnswers(): readonly Answer[] {
  const drawn = new DrawnTickers({ count: COUNT, seed: 7, churn: 9 })
  const answers: Answer[] = []
  let contracts: ReadonlyMap<string, ContractRules> = new Map()
  for (let look = 0; look < (MINUTES * MINUTE_MS) / LOOK_MS; look++) {
    const table = new TickerTable(COUNT)
    drawn.next(table, START_AT + 1300 + look * LOOK_MS + ((look * 37) % 900))
    if (table.symbols.some((symbol) => !contracts.has(symbol)) || look % 40 === 0)
      contracts = new Map(table.symbols.map((symbol, index) => [symbol, rulesOf(index)]))
    answers.push({ table, contracts })
  }
  return answers
}

/** Some were listed a short time ago, some do not say when, and some cannot be traded. */
function rulesOf(index: number): ContractRules {
  return {
    tickSize: '0.000000001',
    lotSize: '0.001',
    minSize: '0.001',
    minNotional: '5',
    status: index % 17 === 3 ? 'maintain' : 'normal',
    ...(index % 3 > 0 && { launchedAt: START_AT - (index % 5) * 3_600_000 }),
  }
}

/** The first answer of each minute. */
async function keep(answers: readonly Answer[]): Promise<void> {
  const writer = new UniverseWriter({
    directory,
    source: 'api.example.com',
    productType: 'USDT-FUTURES',
    holder: { pid: 1, since: 0, host: 'here', name: 'test', command: 'record' },
    onTorn: () => undefined,
  })
  let minute = 0
  for (const { table, contracts } of answers) {
    const own = Math.floor(table.requestTime / MINUTE_MS)
    if (own === minute) continue
    minute = own
    writer.list({ readAt: table.requestTime, contracts })
    await writer.append(table)
  }
  await writer.close()
}

/** Answers as they came, from memory: none went through a file. */
class LiveRows implements Pick<KeptRows, 'fill' | 'contracts' | 'market'> {
  readonly #answers: readonly Answer[]
  readonly #watch = new MarketWatch()
  #next = 0
  #shown: Answer | undefined
  #market: MarketAggregates | undefined

  constructor(answers: readonly Answer[]) {
    this.#answers = answers
  }

  get contracts(): Answer['contracts'] | undefined {
    return this.#shown?.contracts
  }

  get market(): MarketAggregates | undefined {
    return this.#market
  }

  fill(table: TickerTable, now: number): boolean {
    for (let next = this.#answers[this.#next]; next && next.table.requestTime <= now;) {
      this.#market = this.#watch.follow(next.table)
      this.#shown = next
      next = this.#answers[++this.#next]
    }
    if (this.#shown === undefined) return false
    for (const [row, symbol] of this.#shown.table.symbols.entries()) {
      const place = table.claimRow(symbol)
      for (const column of TICKER_COLUMNS)
        table.columns[column][place] = this.#shown.table.columns[column][row] ?? Number.NaN
    }
    return true
  }
}

const UNIVERSE = `id: scripted
module: scripted.ts
universe:
  every: 5m
  quote: USDT
  volume: { min: 3000000 }
  spread: { max: 0.002 }
  age: { min: 90m }
  volatility: { min: 0.01 }
  top: { count: 12, by: change }
  sticky: 10m
  changesPerDay: 20
  leaving: close
risk: { openOrdersMax: 50, positionNotionalMax: "1000" }
`

test('600 contracts that come and go: what a rule chose live is what it chooses in a replay, to the byte', async () => {
  const answers = drawAnswers()
  await keep(answers)
  project.write('scripted.yaml', UNIVERSE)
  project.edit('main.yaml', 'latencyMs: 20', '')
  // The rule chooses all of them: the main file needs none of its own.
  const main = readFileSync(join(project.directory, 'main.yaml'), 'utf8')
    .replace(/^instruments:\n(?: .*\n)+/m, '')
    .replace(/startPrices: \{[^}]*\}/, 'startPrices: {}')
  project.write('main.yaml', main)
  const universe = new UniverseRecording(directory)
  const request = { file: 'main.yaml', cwd: project.directory }
  const loaded = loadConfig(withKeptTickers(request, universe, {}))
  const prepared = await prepareBacktest(loaded, {
    files: [],
    days: 1,
    seed: undefined,
    balance: undefined,
    version: 'test',
    universe,
  })
  const opened = prepared.optionsFor(prepared.fillModel, undefined)
  const instants = answers.map(({ table }) => table.requestTime)
  const nextTickersMs = (now: number) =>
    (instants.find((at) => at > now + LATENCY_MS) ?? now + LOOK_MS) - now - LATENCY_MS

  const lastAt = instants.at(-1) ?? 0
  const { chosen: replayed, markets: marketsReplayed } = select(opened, lastAt)
  const other = prepared.optionsFor(prepared.fillModel, undefined)
  const polling = { ...other.backtest.polling, nextTickersMs }
  const { chosen: live, markets } = select(
    { ...other, keptRows: new LiveRows(answers), backtest: { ...other.backtest, polling } },
    lastAt,
  )

  for (const [index, choice] of live.entries())
    expect(JSON.stringify(replayed[index])).toBe(JSON.stringify(choice))
  expect(replayed).toHaveLength(live.length)
  expect(marketsReplayed).toEqual(markets)
  expect(markets.length).toBeGreaterThan(MINUTES - 5)
  // Every five minutes, and a minute later where a member would leave.
  const isDue = ({ marketAt }: { readonly marketAt: number }): boolean =>
    Math.floor(marketAt / MINUTE_MS) % 5 === 0
  expect(live.filter(isDue)).toHaveLength(6)
  expect(live.filter((one) => !isDue(one)).length).toBeGreaterThan(0)
  expect(live.flatMap(({ joined }) => joined).length).toBeGreaterThan(12)
  expect(live.flatMap(({ left }) => left).length).toBeGreaterThan(0)
  const reasons = new Set(
    live.flatMap(({ verdicts }) => Object.values(verdicts).map((one) => one?.reason)),
  )
  for (const reason of [
    'ranked',
    'outranked',
    'young',
    'notTradable',
    'volumeLow',
    'spreadWide',
  ] as const)
    expect(reasons).toContain(reason)
})

/** The choices of the rule as they are recorded, without our own clock, until the answers end. */
function select(options: ConstructorParameters<typeof ReportedBacktest>[0], lastAt: number) {
  const chosen: Omit<UniverseRecord, 'at'>[] = []
  const markets = new Set<string>()
  const run = new ReportedBacktest({
    ...options,
    onStep: ({ effects }) => {
      for (const effect of effects) {
        if (effect.kind === 'record' && effect.record.kind === 'universe') {
          const { at: _at, ...choice } = effect.record
          chosen.push(choice)
        }
        const market = effect.kind === 'decide' ? effect.snapshot.market : undefined
        if (market && market.at <= lastAt) markets.add(JSON.stringify(market))
      }
    },
  })
  while (run.runUntil(run.now + 3_600_000));
  run.finish()
  return { chosen: chosen.filter(({ marketAt }) => marketAt <= lastAt), markets: [...markets] }
}
