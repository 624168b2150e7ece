import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReportedBacktest } from '../../src/backtest/reported-backtest.ts'
import {
  type BacktestRequest,
  looksOf,
  prepareBacktest,
} from '../../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { type BacktestReport } from '../../src/report/run-report.ts'
import { writeReport } from '../../src/report/write-report.ts'
import { writeRisk } from '../support/made-limits.ts'

/** An hour before funding is paid. */
export const START_AT = Date.UTC(2025, 5, 2, 7)
export const MINUTE_MS = 60_000
const STEP_MS = 10_000

const MAIN = `name: scripted
environment: simulator
account: { productType: USDT-FUTURES, marginCoin: USDT, marginMode: crossed, positionMode: one_way_mode }
instruments:
  BTCUSDT: { tickSize: "0.1", lotSize: "0.001", minSize: "0.001", minNotional: "5" }
  ETHUSDT: { tickSize: "0.01", lotSize: "0.01", minSize: "0.01", minNotional: "5" }
${writeRisk({ openOrdersMax: 100, grossNotionalMax: '2000000' })}  liquidation: none
state: { directory: state }
backtest: { pollMs: 5000 }
simulator: { seed: 1, startingBalance: "10000", leverage: 20, market: { startPrices: { BTCUSDT: "100000", ETHUSDT: "2500" } } }
strategies: [scripted.yaml]
`

/** An order of the script: placed at an instant (Unix ms) at a price, or at the market. */
export interface ScriptedOrder {
  readonly at: number
  readonly action: string
  readonly lots: number
  readonly ticks?: number
  /** Default: the first instrument. */
  readonly symbol?: string
  readonly tag?: string
  /** What is plotted as `planned` until the order is placed. */
  readonly plot?: number
}

/** A project in a temporary directory with one strategy, that places what a script says. */
export class BacktestProject {
  readonly directory = mkdtempSync(join(tmpdir(), 'backtest-'))

  /** By the books of each run, at its end. */
  readonly equities: (number | undefined)[] = []

  constructor(symbols: readonly string[], orders: readonly ScriptedOrder[]) {
    this.write('main.yaml', MAIN)
    this.write(
      'scripted.yaml',
      `id: scripted
module: scripted.ts
instruments: [${symbols.join(', ')}]
risk: { positionMax: "100", orderSizeMax: "100", openOrdersMax: 50 }
`,
    )
    this.write(
      'scripted.ts',
      `import { defineStrategy, z } from 'intentd/strategy'
const orders = ${JSON.stringify(orders)}
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  initialState: () => ({ next: 0 }),
  decide(snapshot, { state }) {
    const order = orders[state.next]
    const [first] = snapshot.instruments
    const market = order?.symbol ? snapshot.instruments.find(({ symbol }) => symbol === order.symbol) : first
    if (order?.plot !== undefined) market?.plot('planned', order.plot)
    if (!order || !market || snapshot.exchangeTime < order.at) return { intents: [], state }
    const { action, lots, ticks, tag } = order
    const limit = ticks === undefined ? {} : { ticks, force: 'post_only' }
    const place = market.place({ key: 'order ' + state.next, action, lots, tag, ...limit })
    return { intents: [place], state: { next: state.next + 1 } }
  },
})
`,
    )
  }

  write(name: string, text: string): string {
    const file = join(this.directory, name)
    writeFileSync(file, text)
    return file
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8')
  }

  edit(name: string, from: string, to: string): void {
    this.write(name, this.read(name).replace(from, to))
  }

  /** Runs it to the end and writes its report. */
  run(
    files: readonly string[],
    out: string,
    change: Partial<BacktestRequest> = {},
  ): Promise<BacktestReport> {
    return runBacktest(
      { file: 'main.yaml', cwd: this.directory },
      { files, out: join(this.directory, out), equities: this.equities, ...change },
    )
  }

  /** Of a CSV file: a row each, without the header. */
  rows(out: string, name: string): readonly Readonly<Record<string, string>>[] {
    const [header = '', ...lines] = this.read(join(out, name)).trim().split('\n')
    const columns = header.split(',')
    return lines.map((line) => {
      const cells = line.split(',')
      return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))
    })
  }

  remove(): void {
    rmSync(this.directory, { recursive: true })
  }
}

export async function runBacktest(
  config: {
    readonly file: string
    readonly cwd: string
    readonly overrides?: readonly string[]
    readonly params?: readonly string[]
  },
  {
    out,
    equities,
    ...change
  }: Partial<BacktestRequest> & {
    readonly files: readonly string[]
    readonly out: string
    /** Hears the last equity by the books. */
    readonly equities?: (number | undefined)[]
  },
): Promise<BacktestReport> {
  const request = { days: 1, seed: undefined, balance: undefined, version: 'test', ...change }
  const prepared = await prepareBacktest(loadConfig(config), request)
  mkdirSync(out, { recursive: true })
  const run = new ReportedBacktest(prepared.optionsFor(prepared.fillModel, out))
  while (run.runUntil(run.now + 3_600_000));
  equities?.push(run.equity)
  const report = {
    format: 1,
    name: 'test',
    coin: prepared.config.account.marginCoin,
    coverage: prepared.coverage,
    assumptions: [],
    remarks: prepared.listRemarks(),
    looks: looksOf(prepared),
    runs: [run.finish()],
  } as const satisfies BacktestReport
  writeReport(out, report, { recipe: { version: 'test' }, models: 1 })
  return report
}

/** Every file below a directory, by name. */
export function readAll(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
  return Object.fromEntries(
    names
      .filter((name) => name.includes('.'))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  )
}

/** Quotes every ten seconds; what is said from a minute on holds until the next. Prices in tenths of a quote coin. */
export function writeQuotes(
  minutes: number,
  script: Readonly<Record<number, { bid: number; mark: number }>>,
): string {
  const lines = ['ts_ms,bid,ask,bidSz,askSz,last,volume,mark,fundingRate']
  let now = { bid: 0, mark: 0 }
  for (let at = 0; at < minutes * MINUTE_MS; at += STEP_MS) {
    now = script[at / MINUTE_MS] ?? now
    const tenths = (price: number): string => (price / 10).toFixed(1)
    const [bid, ask, mark] = [now.bid, now.bid + 1, now.mark].map(tenths)
    lines.push([START_AT + at, bid, ask, 100, 100, bid, 1000, mark, 0.0002].join(','))
  }
  return `${lines.join('\n')}\n`
}
