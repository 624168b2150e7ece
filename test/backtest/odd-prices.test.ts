import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { importPrices, type ImportedPrices } from '../../src/prices/import/import-prices.ts'
import { BacktestProject, MINUTE_MS, type ScriptedOrder, START_AT } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const at = (minute: number): number => START_AT + minute * MINUTE_MS

/** Rows of candles: minute, open, high, low, close, volume. */
type Candle = readonly [
  minute: number,
  open: number,
  high: number,
  low: number,
  close: number,
  volume?: number,
]

const flat = (from: number, to: number, price: number, volume = 10_000): Candle[] =>
  Array.from({ length: to - from }, (_, index) => [
    from + index,
    price,
    price,
    price,
    price,
    volume,
  ])

const LOTS_OF_1000 = 'lotSize: "1000", minSize: "1000"'

interface PriceSet {
  readonly orders: readonly ScriptedOrder[]
  readonly candles: readonly Candle[]
  readonly edits?: readonly (readonly [file: string, from: string, to: string])[]
  readonly symbol?: string
  readonly name?: string
  readonly decimals?: number
  readonly writeTime?: (at: number) => string
}

/** Imports the set, and runs a backtest on the price file. */
async function play({
  orders,
  candles,
  edits = [],
  symbol = 'BTCUSDT',
  name = `${symbol}-1m.csv`,
  decimals = 1,
  writeTime = String,
}: PriceSet) {
  const opened = new BacktestProject([symbol], orders)
  project = opened
  for (const edit of edits) opened.edit(...edit)
  const rows = candles.map(([minute, open, high, low, close, volume = 10_000]) =>
    [
      writeTime(at(minute)),
      ...[open, high, low, close].map((price) => price.toFixed(decimals)),
      volume,
    ].join(','),
  )
  const file = opened.write(name, ['open_time,open,high,low,close,volume', ...rows, ''].join('\n'))
  const imported: ImportedPrices[] = []
  const options = {
    directory: join(opened.directory, 'prices'),
    isStrict: false,
    isReplacing: false,
    now: START_AT + 366 * 86_400_000,
  }
  for await (const one of importPrices({ ...options, files: [file] }))
    if ('rows' in one) imported.push(one)
  const written = imported[0]?.written?.file ?? ''
  const report = await opened.run([written], 'out')
  const run = report.runs[0]
  if (run === undefined) throw new Error('no run')
  const { opening, realised, unrealised, fees, funding, insurance, final } = run.money
  const sum = [opening, realised, unrealised, funding, insurance].reduce(
    (total, text) => total + Number(text),
    0,
  )
  expect(sum - Number(fees)).toBeCloseTo(Number(final), 8)
  return { imported, report, run, fills: opened.rows('out', 'fills.csv') }
}

test('a crash of 60 % in a minute liquidates, and nothing is owed after it', async () => {
  const { run, fills } = await play({
    orders: [{ at: at(10), action: 'openLong', lots: 1500 }],
    candles: [
      ...flat(0, 40, 100_000),
      [40, 100_000, 100_000, 40_000, 41_000],
      ...flat(41, 60, 41_000),
    ],
  })

  expect(run.liquidations).toBe(1)
  expect(run.openPositions).toEqual([])
  // Far below the price at which nothing was left: the fund bears the rest.
  expect(Number(fills[1]?.['last_px'])).toBeLessThan(93_000)
  expect(Number(run.money.insurance)).toBeGreaterThan(0)
  expect(run.money.final).toBe('0')
  expect(Math.max(...run.drawdowns.map(({ amount }) => amount))).toBeCloseTo(10_000, 6)
})

test('a price of 0.00001234 is traded to its last tick', async () => {
  const { run, fills } = await play({
    symbol: 'PEPEUSDT',
    orders: [
      { at: at(10), action: 'openLong', lots: 2000 },
      { at: at(45), action: 'closeLong', lots: 2000 },
    ],
    candles: [...flat(0, 40, 0.000_012_34, 5e10), ...flat(40, 60, 0.000_013_34, 5e10)],
    edits: [
      [
        'main.yaml',
        'tickSize: "0.1", lotSize: "0.001", minSize: "0.001"',
        `tickSize: "0.00000001", ${LOTS_OF_1000}`,
      ],
      ['main.yaml', '  BTCUSDT: {', '  PEPEUSDT: {'],
      ['main.yaml', 'BTCUSDT: "100000"', 'PEPEUSDT: "0.00001234"'],
      [
        'scripted.yaml',
        'positionMax: "100", orderSizeMax: "100"',
        'positionMax: "10000000", orderSizeMax: "10000000"',
      ],
    ],
    decimals: 8,
  })

  expect(fills.map((fill) => [fill['last_px'], fill['last_qty']])).toEqual([
    ['0.00001235', '2000000'],
    ['0.00001333', '2000000'],
  ])
  expect(run.money.realised).toBe('1.96')
  expect(Number(run.money.fees)).toBeCloseTo(2_000_000 * (0.000_012_35 + 0.000_013_33) * 0.0006, 12)
})

test('a coin-margined contract earns its coin, from candles whose file is called as Binance calls it', async () => {
  const { run, fills, report } = await play({
    symbol: 'BTCUSD',
    name: 'BTCUSD_PERP-1m-2025-06.csv',
    orders: [
      { at: at(10), action: 'openLong', lots: 50 },
      { at: at(50), action: 'closeLong', lots: 50 },
    ],
    candles: [...flat(0, 40, 100_000), ...flat(40, 60, 101_000)],
    edits: [
      ['main.yaml', '  BTCUSDT: {', '  BTCUSD: {'],
      ['main.yaml', '{ BTCUSDT: "100000"', '{ BTCUSD: "100000"'],
      ['main.yaml', 'USDT-FUTURES, marginCoin: USDT', 'COIN-FUTURES, marginCoin: BTC'],
      ['main.yaml', 'startingBalance: "10000"', 'startingBalance: "1"'],
    ],
  })

  const [bought = 0, sold = 0] = fills.map((fill) => Number(fill['last_px']))
  expect(report.coin).toBe('BTC')
  expect([bought, sold]).toEqual([100_000.1, 100_999.9])
  expect(Number(run.money.realised)).toBeCloseTo((0.05 * (sold - bought)) / sold, 9)
  expect(Number(run.money.fees)).toBeCloseTo(2 * 0.05 * 0.0006, 12)
})

test('stamps in microseconds are the same minutes', async () => {
  const { run, imported, fills } = await play({
    orders: [{ at: at(10), action: 'openLong', lots: 100 }],
    candles: flat(0, 30, 100_000),
    writeTime: (time) => `${time}000`,
  })

  expect(imported[0]?.intervalMs).toBe(MINUTE_MS)
  expect([run.fromAt, run.toAt]).toEqual([START_AT, at(30)])
  expect(Math.abs(Date.parse(fills[0]?.['ts_event'] ?? '') - at(10))).toBeLessThan(5000)
})

test('over a gap of days a position is held, pays its funding, and nothing is decided', async () => {
  const days = 3 * 24 * 60
  const { run, report, fills } = await play({
    orders: [
      { at: at(10), action: 'openLong', lots: 10 },
      { at: at(500), action: 'closeLong', lots: 10 },
    ],
    candles: [...flat(0, 55, 100_000), ...flat(days + 65, days + 90, 100_000)],
    edits: [['main.yaml', 'pollMs: 5000', 'pollMs: 60000']],
  })

  // 1 bp at 08:00 on the first day, ten times until 08:00 on the fourth.
  expect(Number(run.money.funding)).toBeCloseTo(-10 * 0.01 * 100_000 * 0.0001, 4)
  expect(Date.parse(fills[1]?.['ts_event'] ?? '')).toBeGreaterThan(at(days + 65))
  expect(report.remarks.join()).toContain('BTCUSDT has 1 gap, 4330 minutes in all')
})

test('where nothing is traded nothing is filled, and the report says so', async () => {
  const { run, report, fills } = await play({
    orders: [
      { at: at(30), action: 'openLong', lots: 10 },
      { at: at(31), action: 'openLong', lots: 10, ticks: 999_990 },
    ],
    candles: flat(0, 60, 100_000, 0),
  })

  expect(fills).toEqual([])
  expect(run.orders).toEqual({ ACCEPTED: 1, CANCELED: 1 })
  expect(run.money.final).toBe('10000')
  expect(report.remarks).toContain(
    'BTCUSDT: 100 % of its candles have no volume: nothing is filled in them.',
  )
})
