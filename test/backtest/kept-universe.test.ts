import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, expect, test } from 'vitest'
import { ReportedBacktest } from '../../src/backtest/reported-backtest.ts'
import { createKeptLooks } from '../../src/backtest/kept-rows.ts'
import { listAssumptions } from '../../src/backtest/opening/assumptions.ts'
import { withKeptTickers } from '../../src/backtest/opening/kept-universe.ts'
import { prepareBacktest } from '../../src/backtest/opening/prepare-backtest.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import type { ContractRules } from '../../src/domain/contract-rules.ts'
import type { TickerTable } from '../../src/domain/ticker-table.ts'
import { UniverseRecording } from '../../src/recording/universe/universe-recording.ts'
import { DrawnTickers } from '../support/drawn-tickers.ts'
import { answerAt, keepMinutes } from '../support/kept-universe.ts'
import { toBytes } from '../support/ticker-bytes.ts'
import { BacktestProject, MINUTE_MS, START_AT } from './backtest-project.ts'

const home = mkdtempSync(join(tmpdir(), 'wt-rec-played-'))
const projects: BacktestProject[] = []
afterAll(() => {
  rmSync(home, { recursive: true })
  for (const project of projects) project.remove()
})

const RULES: ContractRules = {
  tickSize: '0.000000001',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '0.01',
  status: 'normal',
}

function openProject(
  symbols: readonly string[],
  orders: ConstructorParameters<typeof BacktestProject>[1],
): BacktestProject {
  const project = new BacktestProject(symbols, orders)
  projects.push(project)
  for (const symbol of symbols)
    if (symbol !== 'BTCUSDT')
      project.edit('main.yaml', 'instruments:\n', `instruments:\n  ${symbol}: {}\n`)
  return project
}

function loadPlayed(project: BacktestProject, universe: UniverseRecording) {
  const request = { file: 'main.yaml', cwd: project.directory }
  return loadConfig(withKeptTickers(request, universe, {}))
}

const REQUEST = { files: [], days: 1, seed: undefined, balance: undefined, version: 'test' }

/** Each table that the core saw, with the instant at which the exchange answered. */
async function play(project: BacktestProject, path: string, files: readonly string[] = []) {
  const universe = new UniverseRecording(path)
  const loaded = loadPlayed(project, universe)
  const prepared = await prepareBacktest(loaded, { ...REQUEST, files, universe })
  const seen: { at: number; bytes: string; rows: ReadonlyMap<string, readonly number[]> }[] = []
  const run = new ReportedBacktest({
    ...prepared.optionsFor(prepared.fillModel, undefined),
    onStep: ({ event }) => {
      if (event.kind !== 'snapshotTaken') return
      const table = event.tickers
      const rows = new Map(
        table.symbols.map((symbol) => [
          symbol,
          [table.read(symbol, 'lastPr'), table.read(symbol, 'usdtVolume')],
        ]),
      )
      seen.push({ at: table.requestTime, bytes: toBytes(table), rows })
    },
  })
  while (run.runUntil(run.now + 3_600_000));
  return { prepared, seen, report: run.finish() }
}

/** Of a table as bytes: without when it was read, and the times of rows, which hang on the run. */
function withoutTimes(bytes: string): unknown {
  const { symbols, columns, unreadable } = JSON.parse(bytes)
  return { symbols, unreadable, columns: columns.toSpliced(7, 1) }
}

test('each kept answer is seen at its instant, with all rows to the bit, also of what is traded on them', async () => {
  const directory = join(home, 'all')
  const drawn = new DrawnTickers({ count: 40, seed: 2, churn: 5 })
  const [one = '', other = ''] = drawn.symbols
  const kept = await keepMinutes({
    directory,
    drawn,
    fromAt: START_AT,
    minutes: 90,
    contracts: () => new Map(drawn.symbols.map((symbol) => [symbol, RULES])),
  })
  const project = openProject([one, other], [])

  const { seen, prepared } = await play(project, directory)

  expect(prepared.config.instruments[one]).toMatchObject({ tickSize: RULES.tickSize })
  const byTime = new Map(seen.map(({ at, bytes }) => [at, bytes]))
  expect(byTime.size).toBeGreaterThan(5 * kept.size)
  for (const [at, bytes] of kept)
    expect([at, withoutTimes(byTime.get(at) ?? '{"columns":[]}')]).toEqual([
      at,
      withoutTimes(bytes),
    ])
})

test('between the beginning of a minute and its answer nothing is looked at', () => {
  const instants = Float64Array.from([0, 1, 2, 3, 30].map((minute) => answerAt(START_AT, minute)))
  const options = { tickersMs: 5000, stepMs: MINUTE_MS, latencyMs: 20 }
  const next = createKeptLooks(instants, options)
  const looks: number[] = []
  for (let now = START_AT; now < START_AT + 31 * MINUTE_MS; now += next(now)) looks.push(now + 20)

  for (const instant of instants) expect(looks).toContain(instant)
  const isEarly = (at: number) =>
    instants.some((instant) => at < instant && at >= instant - (instant % MINUTE_MS))
  expect(looks.slice(1).filter(isEarly)).toEqual([])
  const steps = looks.map((at, index) => at - (looks[index - 1] ?? at))
  expect(Math.max(...steps)).toBeLessThanOrEqual(2 * 5000)
  expect(looks.length).toBeGreaterThan(31 * 11)
})

test('an instrument with a file of prices shows them, and the figures of the day as they were kept', async () => {
  const directory = join(home, 'priced')
  const drawn = new DrawnTickers({ count: 5, seed: 2 })
  const rename = (table: TickerTable) => {
    const row = table.claimRow('BTCUSDT')
    for (const column of Object.values(table.columns)) column[row] = column[0] as number
  }
  await keepMinutes({ directory, drawn, fromAt: START_AT, minutes: 30, edit: rename })
  const project = openProject(['BTCUSDT'], [])
  const candles = Array.from(
    { length: 20 },
    (_, minute) => `${START_AT + (minute + 5) * MINUTE_MS},100,101,99,100,50`,
  )
  project.write('BTCUSDT-1m.csv', ['ts_ms,open,high,low,close,volume', ...candles, ''].join('\n'))

  const { seen, prepared } = await play(project, directory, [
    join(project.directory, 'BTCUSDT-1m.csv'),
  ])

  expect(prepared.coverage).toMatchObject([{ symbol: 'BTCUSDT', kind: 'candles' }])
  const kept = new UniverseRecording(directory)
  const volumes = new Map<number, number>()
  for (const entry of kept.entries())
    if (entry.kind === 'tickers')
      volumes.set(entry.table.requestTime, entry.table.read('BTCUSDT', 'usdtVolume'))
  const exact = seen.filter(({ at }) => volumes.has(at))
  expect(exact.length).toBeGreaterThan(15)
  for (const { at, rows } of exact) {
    const [last = 0, volume] = rows.get('BTCUSDT') ?? []
    expect(last).toBeGreaterThanOrEqual(99)
    expect(last).toBeLessThanOrEqual(101)
    expect(volume).toBe(volumes.get(at))
    expect(rows.size).toBe(6)
  }
})

test('orders are filled on kept quotes; what is delisted is closed, and what comes later begins late', async () => {
  const directory = join(home, 'traded')
  const drawn = new DrawnTickers({ count: 6, seed: 169, churn: 2 })
  const [always = '', , late = '', , gone = ''] = drawn.symbols
  await keepMinutes({
    directory,
    drawn,
    fromAt: START_AT,
    minutes: 60,
    gap: [40, 43],
    contracts: () =>
      new Map(
        drawn.symbols.map((symbol) => [symbol, { ...RULES, lotSize: '0.1', minSize: '0.1' }]),
      ),
  })
  const orders = [
    { at: START_AT + 3 * MINUTE_MS, action: 'openLong', lots: 20, symbol: gone },
    { at: START_AT + 5 * MINUTE_MS, action: 'openLong', lots: 20, symbol: always },
    { at: START_AT + 20 * MINUTE_MS, action: 'openLong', lots: 20, symbol: late },
  ]
  const project = openProject([always, late, gone], orders)

  const { prepared, report } = await play(project, directory)

  const open = report.openPositions.map((text) => text.split(' ')[0])
  expect(new Set(open)).toEqual(new Set([always, late]))
  expect(Number(report.money.realised)).not.toBe(0)
  expect(
    prepared.coverage.every(({ kind, source }) => kind === 'quotes' && source === 'kept tickers'),
  ).toBe(true)
  expect(listAssumptions(prepared, []).join('\n')).toContain(
    `${always}, ${late}, ${gone} trade on kept tickers: quotes of 1 min, no candles.`,
  )
  const remarks = prepared.listRemarks().join('\n')
  expect(remarks).toContain(`${late} begins later`)
  expect(remarks).toContain(`${gone} ends earlier`)
  expect(remarks).not.toContain(`${always} ends earlier`)
  expect(remarks).toMatch(
    /Tickers of all instruments are those that were kept: 57 answers .* with 1 gap, the longest 3 min 59 s/,
  )
})

test('two plays give the same tables, and a cut range plays a part of them', async () => {
  const directory = join(home, 'same')
  const drawn = new DrawnTickers({ count: 8, seed: 5, churn: 1 })
  await keepMinutes({
    directory,
    drawn,
    fromAt: START_AT,
    minutes: 40,
    contracts: () => new Map(drawn.symbols.map((symbol) => [symbol, RULES])),
  })
  const project = openProject([drawn.symbols[0] ?? ''], [])

  const [one, other] = [await play(project, directory), await play(project, directory)]
  expect(other.seen).toEqual(one.seen)

  const universe = new UniverseRecording(directory)
  const range = { fromAt: START_AT + 10 * MINUTE_MS, toAt: START_AT + 20 * MINUTE_MS }
  const prepared = await prepareBacktest(loadPlayed(project, universe), {
    ...REQUEST,
    ...range,
    universe,
  })
  expect(prepared.fromAt).toBe(answerAt(START_AT, 10))
  expect(prepared.universe?.instants.length).toBe(10)
  const none = { fromAt: START_AT + 100 * MINUTE_MS, universe }
  await expect(
    prepareBacktest(loadPlayed(project, universe), { ...REQUEST, ...none }),
  ).rejects.toMatchObject({ code: 'UNIVERSE_RANGE_EMPTY' })
})

test('an instrument that was never kept, and tickers of another product type, are refused', async () => {
  const directory = join(home, 'refused')
  const drawn = new DrawnTickers({ count: 3, seed: 5 })
  await keepMinutes({ directory, drawn, fromAt: START_AT, minutes: 3 })
  const universe = new UniverseRecording(directory)
  const project = openProject(['BTCUSDT'], [])

  await expect(
    prepareBacktest(loadPlayed(project, universe), { ...REQUEST, universe }),
  ).rejects.toMatchObject({ code: 'BACKTEST_PRICES_MISSING' })
  project.edit('main.yaml', 'productType: USDT-FUTURES', 'productType: USDC-FUTURES')
  project.edit('main.yaml', 'marginCoin: USDT', 'marginCoin: USDC')
  await expect(
    prepareBacktest(loadPlayed(project, universe), { ...REQUEST, universe }),
  ).rejects.toMatchObject({ code: 'UNIVERSE_PRODUCT_OTHER' })
})
