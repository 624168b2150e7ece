import { afterEach, expect, test } from 'vitest'
import { BacktestProject, MINUTE_MS, type ScriptedOrder, START_AT } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const HOUR_MS = 60 * MINUTE_MS
const PRICES = { BTCUSDT: 100_000, ETHUSDT: 2500 } as const
type Symbol = keyof typeof PRICES

/** Minutes of one price, from 07:00 UTC on; what a cell of fundingRate says follows from the minute. */
function writeMinutes(symbol: Symbol, hours: number, rateAt?: (at: number) => string): string {
  const price = PRICES[symbol]
  const header = ['ts_ms,open,high,low,close,volume', ...(rateAt ? ['fundingRate'] : [])].join(',')
  const rows = Array.from({ length: hours * 60 }, (_, minute) => {
    const at = START_AT + minute * MINUTE_MS
    return [at, price, price, price, price, 10_000, ...(rateAt ? [rateAt(at)] : [])].join(',')
  })
  return [header, ...rows, ''].join('\n')
}

interface Played {
  readonly hours: number
  readonly rateAt?: (at: number) => string
  readonly edits?: readonly (readonly [from: string, to: string])[]
  readonly files?: Readonly<Record<string, string>>
  readonly ethHours?: number
  readonly more?: readonly ScriptedOrder[]
}

/** Buys 0.01 BTC (1000 USDT) at once, and says what was paid, and when (hours after the start). */
async function play({ hours, rateAt, edits = [], files = {}, ethHours, more = [] }: Played) {
  const orders: ScriptedOrder[] = [
    { at: START_AT + 10 * MINUTE_MS, action: 'openLong', lots: 10 },
    ...more,
  ]
  const symbols = ethHours === undefined ? ['BTCUSDT'] : ['BTCUSDT', 'ETHUSDT']
  const opened = new BacktestProject(symbols, orders)
  project = opened
  opened.edit('main.yaml', 'pollMs: 5000', 'pollMs: 60000')
  for (const [from, to] of edits) opened.edit('main.yaml', from, to)
  for (const [name, text] of Object.entries(files)) opened.write(name, text)
  const played = [opened.write('BTCUSDT-1m.csv', writeMinutes('BTCUSDT', hours, rateAt))]
  if (ethHours !== undefined)
    played.push(opened.write('ETHUSDT-1m.csv', writeMinutes('ETHUSDT', ethHours)))
  const report = await opened.run(played, 'out')
  const [run] = report.runs
  if (run === undefined) throw new Error('no run')
  return {
    paid: Number(run.money.funding),
    remarks: report.remarks.join('\n'),
    fills: opened.rows('out', 'fills.csv'),
    run,
  }
}

const hourOf = (at: number): number => new Date(at).getUTCHours()
const isWhole = (at: number): boolean => at % HOUR_MS === 0

test('funding is paid as often as calendar.funding says', async () => {
  const { paid } = await play({
    hours: 26,
    edits: [['backtest:', "calendar: { funding: '5 0 */4 * * *' }\nbacktest:"]],
  })

  // At 08, 12, 16, 20, 00, 04 and 08: half of 1 bp of 1000 USDT each.
  expect(paid).toBeCloseTo(-7 * 0.05, 4)
})

test('the hours of an instrument go before the calendar', async () => {
  const { paid } = await play({
    hours: 26,
    edits: [['minNotional: "5" }', 'minNotional: "5", fundingHours: 1 }']],
  })

  // 26 full hours, an eighth of 1 bp each.
  expect(paid).toBeCloseTo(-26 * 0.0125, 4)
})

test.each([
  [
    'of another instrument',
    ['ts_ms,symbol,fundingRate', `${START_AT},ETHUSDT,0.0001`],
    /RECORDING_SYMBOLS_DIFFER[^]*ETHUSDT/,
  ],
  ['in percent', ['ts_ms,fundingRate', `${START_AT},0.01`], /RECORDING_FUNDING_RATE[^]*in percent/],
  [
    'at half past',
    ['ts_ms,fundingRate', `${START_AT + HOUR_MS / 2},0.0001`],
    /RECORDING_FUNDING_TIMES[^]*whole hours/,
  ],
])('payments %s are refused', async (_, lines, problem) => {
  const run = play({
    hours: 2,
    edits: [
      [
        'market: { ',
        'market: { funding: { BTCUSDT: funding.csv }, recordings: { BTCUSDT: BTCUSDT-1m.csv }, ',
      ],
    ],
    files: { 'funding.csv': [...lines, ''].join('\n'), 'BTCUSDT-1m.csv': '' },
  })

  await expect(run).rejects.toThrow(problem)
})

test('funding and final equity take the newest mark price and rate of an hourly file, and no later one', async () => {
  const opened = new BacktestProject(
    ['BTCUSDT'],
    [{ at: START_AT + HOUR_MS / 4, action: 'openLong', lots: 10 }],
  )
  project = opened
  opened.edit('main.yaml', 'pollMs: 5000', 'pollMs: 60000')
  // From 07:00, 08:00 and 09:00 on, and each known an hour later.
  const rows = [
    [0, 99_000, 0.0002],
    [1, 98_000, 0.0007],
    [2, 97_000, 0.0009],
  ].map(([hour = 0, mark, rate]) => [
    START_AT + hour * HOUR_MS,
    ...Array(4).fill(100_000),
    10_000,
    mark,
    rate,
  ])
  const header = 'ts_ms,open,high,low,close,volume,mark,fundingRate'
  const file = opened.write('BTCUSDT-1h.csv', `${[header, ...rows.map(String)].join('\n')}\n`)

  const [run] = (await opened.run([file], 'out')).runs

  // At 08:00 the candle of 07:00 has ended: 0.01 BTC at 99,000, of it 2 bp.
  expect(Number(run?.money.funding)).toBeCloseTo(-0.198, 8)
  // At 10:00 that of 09:00: 97,000. Bought at 100,000.
  expect(Number(run?.money.unrealised)).toBeCloseTo(0.01 * (97_000 - 100_000), 8)
})

test('an interval that becomes 4 and then 1 hour: each payment once, counted by hand', async () => {
  // Bought at 07:10. Every 8 hours: 08:00 and 16:00; every 4: 20:00 and 00:00; every hour: 01:00, 02:00 and 03:00.
  const payments = [
    [1, 0.0001],
    [9, 0.0002],
    [13, 0.0003],
    [17, -0.0004],
    [18, 0.00005],
    [19, 0.00006],
    [20, 0.00007],
  ].map(([hour = 0, rate]) => `${START_AT + hour * HOUR_MS},${rate}`)
  const { paid } = await play({
    hours: 21,
    edits: [
      [
        'market: { ',
        'market: { funding: { BTCUSDT: funding.csv }, recordings: { BTCUSDT: BTCUSDT-1m.csv }, ',
      ],
    ],
    files: {
      'funding.csv': ['ts_ms,fundingRate', ...payments, ''].join('\n'),
      'BTCUSDT-1m.csv': '',
    },
  })

  // Of 1000 USDT: 0.10 + 0.20, then 0.30 - 0.40, then 0.05 + 0.06 + 0.07.
  expect(paid).toBeCloseTo(-0.38, 5)
})

test('a file of payments says when and how much, also where the interval changes', async () => {
  const payments = [
    [1, 0.0002],
    [5, 0.0001],
    [6, -0.0003],
    [14, 0.0004],
  ].map(([hour = 0, rate]) => `${START_AT + hour * HOUR_MS + 7},${rate}`)
  const { paid, remarks } = await play({
    hours: 20,
    edits: [
      [
        'market: { ',
        'market: { funding: { BTCUSDT: funding.csv }, recordings: { BTCUSDT: BTCUSDT-1m.csv }, ',
      ],
    ],
    files: {
      'funding.csv': ['ts_ms,fundingRate', ...payments, ''].join('\n'),
      'BTCUSDT-1m.csv': '',
    },
  })

  // And at 00:00, after the last of them, 1 bp by the calendar.
  expect(paid).toBeCloseTo(-(0.2 + 0.1 - 0.3 + 0.4 + 0.1), 4)
  expect(remarks).not.toContain('payments of funding are known')
})

test('a column that is empty but for some rows holds the payments', async () => {
  const { paid } = await play({
    hours: 26,
    rateAt: (at) => (isWhole(at) && [8, 12, 20].includes(hourOf(at)) ? '0.0003' : ''),
  })

  // The last of them is at 08:00 of the next day.
  expect(paid).toBeCloseTo(-4 * 0.3, 4)
})

test('rates in each row that change at other hours than funding is paid are named', async () => {
  const rateAt = (at: number): string =>
    Math.floor((at + MINUTE_MS) / (4 * HOUR_MS)) % 2 === 0 ? '0.0002' : '0.0001'
  const { remarks } = await play({ hours: 26, rateAt })

  expect(remarks).toContain(
    'BTCUSDT: its fundingRate changes at 04:00, 12:00 and 20:00 too, and funding is paid at 00:00, 08:00 and 16:00 UTC: set instruments.BTCUSDT.fundingHours',
  )
})

test('an instrument whose prices end is closed at its last price, and pays no funding any more', async () => {
  const { paid, fills, run, remarks } = await play({ hours: 2, ethHours: 26 })

  // At 08:00 alone.
  expect(paid).toBeCloseTo(-0.1, 4)
  expect(fills[1]).toMatchObject({ last_px: '100000', last_qty: '0.01', strategy_id: 'scripted' })
  expect(Date.parse(fills[1]?.['ts_event'] ?? '')).toBe(START_AT + 2 * HOUR_MS)
  expect(run.openPositions).toEqual([])
  expect(remarks).toContain('what was held of it is closed at its last price, as at a delivery')
})

test('funding that is due when the prices end is that of the strategy that holds', async () => {
  const { paid, run } = await play({ hours: 1, ethHours: 3 })

  expect(paid).toBeCloseTo(-0.1, 4)
  expect(run.strategies.map(({ name, funding }) => [name, Number(funding)])).toEqual([
    ['scripted', paid],
  ])
})

test.each(['', 'leverageMax: 5', 'survives: { move: 0.05 }'])(
  'a position whose prices have ended and that is held stops no other instrument: %s',
  async (risk) => {
    const { fills } = await play({
      hours: 2,
      ethHours: 5,
      edits: [
        ['simulator: { seed: 1', 'simulator: { delisting: hold, seed: 1'],
        ['risk:', `risk:\n  ${risk}`],
      ],
      more: [{ at: START_AT + 3 * HOUR_MS, symbol: 'ETHUSDT', action: 'openLong', lots: 10 }],
    })

    expect(fills.map(({ instrument_id: symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT'])
  },
)

test('or held without funding, and a range that ends before the prices do closes nothing', async () => {
  const { paid, fills, run } = await play({
    hours: 2,
    ethHours: 26,
    edits: [['simulator: { seed: 1', 'simulator: { delisting: hold, seed: 1']],
  })

  expect(paid).toBeCloseTo(-0.1, 4)
  expect(fills).toHaveLength(1)
  expect(run.openPositions).toHaveLength(1)
})

test.each([
  ['a rate in percent', 'ts_ms,fundingRate\n1748822400000,0.5\n', 'RECORDING_FUNDING_RATE'],
  [
    'a payment twice',
    'ts_ms,fundingRate\n1748822400000,0.0001\n1748822400005,0.0001\n',
    'RECORDING_FUNDING_TIMES',
  ],
  ['another file', 'time,rate\n1748822400000,0.0001\n', 'RECORDING_HEADER_UNKNOWN'],
  ['no rows', 'ts_ms,fundingRate\n', 'RECORDING_EMPTY'],
])('%s is refused', async (_, text, code) => {
  const edits = [['market: { ', 'market: { funding: { BTCUSDT: funding.csv }, ']] as const
  await expect(play({ hours: 2, edits, files: { 'funding.csv': text } })).rejects.toMatchObject({
    code,
  })
})
