import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { PriceCoverage } from '../../src/report/run-facts.ts'
import { type RunReport } from '../../src/report/run-report.ts'
import { showNumber } from '../../src/report/text/figures.ts'
import { describeReport } from '../../src/report/text/terminal-report.ts'
import {
  BacktestProject,
  MINUTE_MS,
  readAll,
  runBacktest,
  type ScriptedOrder,
  START_AT,
  writeQuotes,
} from './backtest-project.ts'

/** As {@link writeQuotes} writes them. */
const VOLUME_COLUMN = 6

const projects: BacktestProject[] = []
afterEach(() => {
  for (const project of projects.splice(0)) project.remove()
})

function createProject(
  symbols: readonly string[],
  orders: readonly ScriptedOrder[],
): BacktestProject {
  const project = new BacktestProject(symbols, orders)
  projects.push(project)
  return project
}

const at = (minute: number): number => START_AT + minute * MINUTE_MS

function ratioOf({ ratios }: RunReport, name: string): number | null | undefined {
  return ratios.find((ratio) => ratio.name === name)?.value
}

describe('a scripted strategy on scripted prices', () => {
  const SCRIPT = {
    0: { bid: 1_000_000, mark: 1_000_000 },
    50: { bid: 1_004_999, mark: 1_005_000 },
    90: { bid: 1_010_100, mark: 1_010_100 },
    110: { bid: 1_008_999, mark: 1_009_000 },
  }
  const ORDERS: readonly ScriptedOrder[] = [
    { at: at(10), action: 'openLong', lots: 500 },
    { at: at(70), action: 'closeLong', lots: 500, ticks: 1_010_000 },
    { at: at(100), action: 'openShort', lots: 200 },
  ]

  test('every fill, fee and funding payment, and the final equity, are what arithmetic says', async () => {
    const project = createProject(['BTCUSDT'], ORDERS)
    const file = project.write('BTCUSDT.csv', writeQuotes(120, SCRIPT))

    const report = await project.run([file], 'out')
    const { runs } = report

    // 0.5 bought at the ask of 100000.1; funding at 08:00 on 0.5 at the mark of 100500; sold at the limit of 101000 when
    // the bid went through it; 0.2 sold at the bid of 101010 and held at a mark of 100900.
    const taken = ['0.0006', 'TAKER'] as const
    const made = ['0.0002', 'MAKER'] as const
    const expected = [
      ['BUY', '100000.1', '0.5', taken, '30.00003', '0'],
      ['SELL', '101000', '0.5', made, '10.1', '499.95'],
      ['SELL', '101010', '0.2', taken, '12.1212', '0'],
    ] as const
    const fills = project.rows('out', 'fills.csv')
    expect(
      fills.map((fill) => [
        fill['order_side'],
        fill['last_px'],
        fill['last_qty'],
        fill['liquidity_side'],
      ]),
    ).toEqual(expected.map(([side, price, size, [, scope]]) => [side, price, size, scope]))
    expect(
      fills.map((fill) => [
        fill['commission'],
        fill['account_gross_pnl'],
        fill['strategy_gross_pnl'],
      ]),
    ).toEqual(expected.map(([, , , , fee, profit]) => [fee, profit, profit]))
    for (const [, price, size, [rate], fee] of expected) {
      expect(Number(price) * Number(size) * Number(rate)).toBeCloseTo(Number(fee), 9)
    }
    const [run] = runs
    // 10000 + 499.95 + 22 - 52.22123 - 10.05
    expect(run?.money).toEqual({
      opening: '10000',
      realised: '499.95',
      unrealised: '22',
      fees: '52.22123',
      funding: '-10.05',
      insurance: '0',
      final: '10459.67877',
    })
    expect(run?.strategies).toMatchObject([
      { name: 'scripted', fills: 3, orders: 3, funding: -10.05, denied: 0 },
    ])
    expect(run?.strategies[0]?.profit).toBeCloseTo(459.67877, 8)
    expect(run?.instruments[0]?.profit).toBeCloseTo(459.67877, 8)
    expect(run?.series.close.at(-1)).toBeCloseTo(10_459.67877, 8)
    expect(run?.openPositions).toEqual(['BTCUSDT short 0.2 at 101010, unrealised 22 USDT'])
    // Strategies and limits know the equity by our own figure: at the last price, which is the bid of 100899.9 and not the mark.
    expect(project.equities).toEqual([10_459.69877])
    expect(describeReport(report).join('\n')).toMatch(/final equity +10,459\.68/)
  })

  test('its closed trades have their fees, funding and reason; one that is open is none', async () => {
    const project = createProject(['BTCUSDT'], ORDERS)
    const file = project.write('BTCUSDT.csv', writeQuotes(120, SCRIPT))

    const run = (await project.run([file], 'out')).runs[0] as RunReport

    const [trade, ...others] = project.rows('out', 'trades.csv')
    expect(others).toEqual([])
    expect(trade).toMatchObject({
      strategy_id: 'scripted',
      entry: 'BUY',
      peak_qty: '0.5',
      avg_px_open: '100000.1',
      avg_px_close: '101000',
      gross_pnl: '499.95',
      commissions: '40.10003',
      funding: '-10.05',
      net_pnl: '449.79997',
      reason: 'order',
      fills: '2',
    })
    expect(run.trades).toMatchObject({
      count: 1,
      last: [{ net: '449.79997', side: 'long' }],
      reasons: [{ reason: 'order', trades: 1, wins: 1, losses: 0 }],
    })
    const page = readAll(join(project.directory, 'out'))['report.html']
    expect(page).toContain('In order of time, all 1')
    for (const text of [
      'realised profit, at the average price of the position of the account',
      'realised, at own average',
      'A strategy realises at the average price of its own fills.',
    ])
      expect(page).toContain(text)
  })

  test('its report draws what was plotted, and sums up trades by their tags', async () => {
    const [first, second] = ORDERS
    const orders = [
      { at: at(10), action: 'openLong', lots: 500, ...first, tag: 'breakout', plot: 100_200 },
      { at: at(70), action: 'closeLong', lots: 500, ...second, tag: 'enough', plot: 3 },
    ]
    const project = createProject(['BTCUSDT'], orders)
    const file = project.write('BTCUSDT.csv', writeQuotes(120, SCRIPT))

    const run = (await project.run([file], 'out')).runs[0] as RunReport

    const planned = (run.plots?.['BTCUSDT']?.['scripted planned'] ?? []).map(Number)
    expect([planned.find((value) => !Number.isNaN(value)), planned.at(-1)]).toEqual([100_200, 3])
    expect(run.trades).toMatchObject({
      tags: [{ tag: 'breakout', trades: 1, wins: 1 }],
      last: [{ entryTag: 'breakout', exitTag: 'enough' }],
    })
    const page = readAll(join(project.directory, 'out'))['report.html']
    for (const text of [
      'BTCUSDT, plotted by its strategies',
      'scripted planned',
      'order, as enough',
    ])
      expect(page).toContain(text)
    expect(page).toContain('By what they were entered as')
  })

  test('its ratios are those of the same numbers worked out otherwise', async () => {
    const project = createProject(['BTCUSDT'], ORDERS)
    const file = project.write('BTCUSDT.csv', writeQuotes(120, SCRIPT))

    const run = (await project.run([file], 'out')).runs[0] as RunReport

    expect(ratioOf(run, 'total return')).toBeCloseTo(0.045967877, 9)
    expect(ratioOf(run, 'positions closed')).toBe(1)
    expect(ratioOf(run, 'expectancy')).toBeCloseTo(499.95 - 30.00003 - 10.1, 8)
    expect(ratioOf(run, 'yearly growth')).toBeNull()
    // After the first fill: 30.00003 of fees, and 0.5 bought 0.1 above the mark.
    expect(run.drawdowns.at(-1)?.amount).toBeGreaterThan(10)
    expect(Math.max(...run.drawdowns.map(({ amount }) => amount))).toBeCloseTo(30.05003, 6)
    expect(run.buyAndHold.value).toBeCloseTo(100_899.9 / 100_000 - 1, 9)
    const [first] = project.rows('out', 'positions.csv')
    expect(first).toMatchObject({
      entry: 'BUY',
      peak_qty: '0.5',
      avg_px_open: '100000.1',
      avg_px_close: '101000',
    })
    expect(first).toMatchObject({ realized_pnl: '459.84997', commissions: '40.10003', fills: '2' })
    expect(
      project.rows('out', 'orders.csv').map((order) => [order['status'], order['filled_qty']]),
    ).toEqual([
      ['FILLED', '0.5'],
      ['FILLED', '0.5'],
      ['FILLED', '0.2'],
    ])
  })

  test('a position that cannot stand is liquidated, and the books still add up', async () => {
    const project = createProject(['BTCUSDT'], [{ at: at(10), action: 'openLong', lots: 1500 }])
    const crash = { 0: { bid: 1_000_000, mark: 1_000_000 }, 40: { bid: 935_000, mark: 935_000 } }
    const file = project.write('BTCUSDT.csv', writeQuotes(55, crash))

    const run = (await project.run([file], 'out')).runs[0] as RunReport

    const { opening, realised, unrealised, fees, funding, insurance, final } = run.money
    const sum = [opening, realised, unrealised, `-${fees}`, funding, insurance]
      .map(Number)
      .reduce((a, b) => a + b)
    expect(sum).toBeCloseTo(Number(final), 8)
    expect(run.liquidations).toBeGreaterThan(0)
    expect(ratioOf(run, 'highest margin ratio')).toBe(1)
    expect(run.strategies.map(({ name }) => name)).toEqual(['scripted'])
    expect(run.strategies[0]?.profit).toBeCloseTo(
      Number(final) - Number(opening) - Number(insurance),
      6,
    )
  })
})

describe('other accounts', () => {
  const FLAT = { 0: { bid: 1_000_000, mark: 1_000_000 }, 30: { bid: 1_010_000, mark: 1_010_000 } }

  test('in hedge mode long and short are two positions', async () => {
    const project = createProject(
      ['BTCUSDT'],
      [
        { at: at(10), action: 'openLong', lots: 500 },
        { at: at(11), action: 'openShort', lots: 200 },
        { at: at(40), action: 'closeLong', lots: 500 },
      ],
    )
    project.edit('main.yaml', 'one_way_mode', 'hedge_mode')
    const file = project.write('BTCUSDT.csv', writeQuotes(60, FLAT))

    const run = (await project.run([file], 'out')).runs[0] as RunReport

    // 0.5 from 100000.1 to 101000; 0.2 sold at 100000 and held at a mark of 101000; 0.06 % of each.
    const fees = (0.5 * 100_000.1 + 0.2 * 100_000 + 0.5 * 101_000) * 0.0006
    expect([run.money.realised, run.money.unrealised]).toEqual(['499.95', '-200'])
    expect(Number(run.money.fees)).toBeCloseTo(fees, 8)
    // Funding at 08:00: 2 bp of 0.2 at 101000, paid to shorts.
    expect(run.money.funding).toBe('4.04')
    expect(run.strategies[0]?.profit).toBeCloseTo(499.95 - 200 - fees + 4.04, 8)
    expect(
      project.rows('out', 'positions.csv').map((row) => [row['entry'], row['peak_qty']]),
    ).toEqual([
      ['BUY', '0.5'],
      ['SELL', '0.2'],
    ])
  })

  test('a coin-margined contract earns coins: size times (1 / entry - 1 / exit) of its quote value', async () => {
    const project = createProject(
      ['BTCUSD'],
      [
        { at: at(10), action: 'openLong', lots: 50 },
        { at: at(40), action: 'closeLong', lots: 50 },
      ],
    )
    project.edit('main.yaml', '  BTCUSDT: {', '  BTCUSD: {')
    project.edit('main.yaml', '{ BTCUSDT: "100000"', '{ BTCUSD: "100000"')
    project.edit('main.yaml', 'USDT-FUTURES, marginCoin: USDT', 'COIN-FUTURES, marginCoin: BTC')
    project.edit('main.yaml', 'startingBalance: "10000"', 'startingBalance: "1"')
    const file = project.write('BTCUSD.csv', writeQuotes(60, FLAT))

    const report = await project.run([file], 'out')

    const { money, strategies } = report.runs[0] as RunReport
    expect(report.coin).toBe('BTC')
    expect(Number(money.realised)).toBeCloseTo(0.05 * (101_000 / 101_000 - 100_000.1 / 101_000), 10)
    expect(Number(money.fees)).toBeCloseTo(2 * 0.05 * 0.0006, 10)
    expect(strategies[0]?.profit).toBeCloseTo(Number(money.final) - 1, 10)
    expect(describeReport(report).join('\n')).toContain(showNumber(Number(money.final), 6))
    const expectancy = ratioOf(report.runs[0] as RunReport, 'expectancy') ?? Number.NaN
    const page = readAll(join(project.directory, 'out'))['report.html']
    expect(page).toContain(showNumber(expectancy, 6))
  })
})

test('a coin at 0.00000248 with a tick of 0.0000000001 is sold, and shown with the digits of its price', async () => {
  const project = createProject(['PEPEUSDT'], [{ at: at(1), action: 'openShort', lots: 500 }])
  const small =
    '{ tickSize: "0.0000000001", lotSize: "100000", minSize: "100000", minNotional: "1" }'
  project.edit(
    'main.yaml',
    '{ tickSize: "0.1", lotSize: "0.001", minSize: "0.001", minNotional: "5" }',
    small,
  )
  project.edit('main.yaml', '  BTCUSDT: {', '  PEPEUSDT: {')
  project.edit('main.yaml', 'BTCUSDT: "100000"', 'PEPEUSDT: "0.0000024801"')
  for (const setting of ['positionMax', 'orderSizeMax'])
    project.edit('scripted.yaml', `${setting}: "100"`, `${setting}: "100000000"`)
  const rows = Array.from({ length: 30 }, (_, row) =>
    [START_AT + row * 10_000, '0.0000024801', '0.0000024803', 1e9, 1e9, '0.0000024801', 1e10].join(
      ',',
    ),
  )
  const file = project.write(
    'PEPEUSDT.csv',
    ['ts_ms,bid,ask,bidSz,askSz,last,volume', ...rows].join('\n'),
  )

  const run = (await project.run([file], 'out')).runs[0] as RunReport

  expect(run.openPositions).toEqual([
    expect.stringMatching(/^PEPEUSDT short 50000000 at 0\.0000024801, unrealised -0\.005 USDT$/),
  ])
  expect(project.rows('out', 'positions.csv')[0]).toMatchObject({ avg_px_open: '0.0000024801' })
})

test('buy and hold is of what strategies trade, and the report says so', async () => {
  const project = createProject(['BTCUSDT'], [])
  const quotes = (first: number, last: number): string =>
    writeQuotes(20, { 0: { bid: first, mark: first }, 10: { bid: last, mark: last } })
  const btc = project.write('BTCUSDT.csv', quotes(1_000_000, 1_010_000))
  const eth = project.write('ETHUSDT.csv', quotes(25_000, 50_000))

  const report = await project.run([btc, eth], 'out')

  const run = report.runs[0] as RunReport
  expect(run.buyAndHold.instruments).toEqual({ BTCUSDT: expect.closeTo(0.01, 12) })
  expect(run.buyAndHold.value).toBeCloseTo(0.01, 12)
  expect(run.series.buyAndHold.at(-1)).toBeCloseTo(10_100, 8)
  expect(describeReport(report).join('\n')).toContain(
    'buy and hold: BTCUSDT from the first price to the last, without fees',
  )

  const [btcPrices, ethPrices] = report.coverage.map((part) => ({
    ...part,
    madeUp: true as const,
  }))
  const named = (...coverage: (PriceCoverage | undefined)[]): string => {
    const given = coverage.filter((part) => part !== undefined)
    return describeReport({ ...report, coverage: given })
      .slice(2, 4)
      .join('\n')
  }
  expect(named(btcPrices, ethPrices)).toContain(
    'on made-up prices (downloaded from a simulator); real ones: download from an',
  )
  expect(named(btcPrices, report.coverage[1])).toContain('on made-up prices of BTCUSDT (downloaded')
  expect(named(btcPrices, ethPrices && { ...ethPrices, kind: 'seeded' })).toMatch(
    /on made-up prices \(seeded market, or downloaded from a simulator\);/,
  )
})

describe('prices that are not whole', () => {
  const candles = (from: number, minutes: readonly number[]): string =>
    [
      'ts_ms,open,high,low,close,volume',
      ...minutes.map((minute) => `${from + minute * MINUTE_MS},100,101,99,100,50`),
    ].join('\n')

  test('a gap, a late start and an early end are said, and nothing is decided where there is no price', async () => {
    const project = createProject(
      ['BTCUSDT', 'ETHUSDT'],
      [
        { at: at(22), action: 'openLong', lots: 100 },
        { at: at(35), action: 'openLong', lots: 200 },
      ],
    )
    const whole = Array.from({ length: 60 }, (_, minute) => minute)
    const btc = project.write(
      'BTCUSDT.csv',
      candles(START_AT, [...whole.slice(0, 20), ...whole.slice(30)]),
    )
    const eth = project.write('ETHUSDT.csv', candles(START_AT, whole.slice(10, 50)))

    const { coverage, remarks, runs } = await project.run([btc, eth], 'out')

    expect(coverage.map(({ gaps }) => [gaps.count, gaps.totalMs])).toEqual([
      [1, 10 * MINUTE_MS],
      [0, 0],
    ])
    expect(remarks.join('\n')).toMatch(/ETHUSDT begins later, at 2025-06-02 07:10/)
    expect(remarks.join('\n')).toMatch(/ETHUSDT ends earlier, at 2025-06-02 07:50/)
    expect(remarks.join('\n')).toMatch(/BTCUSDT has 1 gap, 10 minutes/)
    expect(remarks.join('\n')).not.toMatch(/nothing was played/)
    const range = { fromAt: START_AT - 86_400_000, toAt: START_AT + 30 * 86_400_000 }
    const asked = await project.run([btc, eth], 'asked', range)
    expect(asked.remarks.slice(0, 2)).toEqual([
      'The prices begin at 2025-06-02 07:00, 1 d after --from (2025-06-01 07:00): before that nothing was played.',
      expect.stringMatching(
        /^The prices end at 2025-06-02 08:00, .* before --to \(2025-07-02 07:00\): after that nothing/,
      ) as string,
    ])
    const [order] = project.rows('out', 'orders.csv')
    expect(order?.['quantity']).toBe('0.2')
    expect(runs[0]?.denials.map(({ code }) => code)).toEqual(['DATA_STALE', 'INTENT_EXPIRED'])
    expect(runs[0]?.toAt).toBe(at(60))
  })

  test('quotes without a volume that stand still fill nothing, and the report says so', async () => {
    const run = async (isVolumeStated: boolean) => {
      const order = { at: at(2), action: 'openLong', lots: 100 } as const
      const project = createProject(['BTCUSDT'], [order])
      const quotes = writeQuotes(10, { 0: { bid: 1000, mark: 1000 } })
      const cut = (line: string): string =>
        line
          .split(',')
          .filter((_, column) => isVolumeStated || column !== VOLUME_COLUMN)
          .join(',')
      const file = project.write('BTCUSDT.csv', quotes.trimEnd().split('\n').map(cut).join('\n'))
      const { remarks, runs } = await project.run([file], 'out')
      return { remarks: remarks.join('\n'), fills: runs[0]?.fills.count }
    }

    const [silent, stated] = [await run(false), await run(true)]

    expect([silent.fills, stated.fills]).toEqual([0, 1])
    expect(silent.remarks).toContain('BTCUSDT: its quotes have no volume: ')
    expect(stated.remarks).not.toContain('no volume')
  })

  test('a price ten times as high as those around it is said, with its time', async () => {
    const project = createProject(['BTCUSDT'], [])
    const lines = candles(START_AT, [0, 1, 2, 3]).split('\n')
    lines[2] = `${START_AT + MINUTE_MS},1000,1010,990,1000,50`
    const file = project.write('BTCUSDT.csv', lines.join('\n'))

    const { remarks } = await project.run([file], 'out')

    expect(remarks.join('\n')).toContain(
      'BTCUSDT: 1 of its rows have a price five times as high or low as the one before, and are played as they are: 2025-06-02T07:01:00.000Z, open 1000 after 100. `intentd import BTCUSDT.csv` names the line.',
    )
  })

  test('--from and --to cut, and a range without prices is refused', async () => {
    const project = createProject(['BTCUSDT'], [])
    const file = project.write('BTCUSDT.csv', candles(START_AT, [0, 1, 2, 3, 4, 5]))

    const { runs } = await project.run([file], 'out', { fromAt: at(1), toAt: at(4) })

    expect([runs[0]?.fromAt, runs[0]?.toAt]).toEqual([at(1), at(4)])
    await expect(project.run([file], 'none', { fromAt: at(100) })).rejects.toMatchObject({
      code: 'BACKTEST_RANGE_EMPTY',
    })
  })

  test('prices of a traded instrument that lie wholly outside the range are said to be there', async () => {
    const project = createProject(['BTCUSDT', 'ETHUSDT'], [])
    const btc = project.write('BTCUSDT.csv', candles(START_AT, [0, 1, 2, 30, 31, 32]))
    const eth = project.write('ETHUSDT.csv', candles(START_AT, [0, 1, 2]))

    await expect(project.run([btc, eth], 'out', { fromAt: at(20) })).rejects.toMatchObject({
      code: 'BACKTEST_PRICES_OUTSIDE',
      facts: {
        ETHUSDT:
          'traded by scripted (scripted.yaml:3); ETHUSDT.csv: its prices end before, at 2025-06-02T07:02:00.000Z',
      },
    })
  })

  test('strategies without prices of their instrument are refused, and all are named', async () => {
    const project = createProject(['BTCUSDT', 'ETHUSDT'], [])
    for (const id of ['other', 'off']) {
      project.write(
        `${id}.yaml`,
        project.read('scripted.yaml').replace('id: scripted', `id: ${id}`),
      )
      project.edit('main.yaml', ']\n', `, ${id}.yaml]\n`)
    }
    project.edit('off.yaml', 'id: off', 'enabled: false\nid: off')
    const file = project.write('BTCUSDT.csv', candles(START_AT, [0, 1, 2]))

    await expect(project.run([file], 'out')).rejects.toThrow(
      /BACKTEST_PRICES_MISSING[^]*ETHUSDT +traded by scripted \(scripted.yaml:3\), other \(other.yaml:3\)\n.*leave out every strategy/,
    )
  })
})

describe('the shipped strategies on a seeded market', () => {
  const cwd = join(import.meta.dirname, '../..')
  const overrides = ['backtest.pollMs=15000']
  const folder = mkdtempSync(join(tmpdir(), 'backtest-seeded-'))

  test('[DET1] the same options give the same files to the byte; another seed gives others', async () => {
    const play = async (out: string, seed: number) => {
      const directory = join(folder, out)
      await runBacktest(
        { file: 'config/paper.yaml', cwd, overrides },
        { files: [], out: directory, seed, days: 0.1 },
      )
      return readAll(directory)
    }
    try {
      const [first, again, other] = [await play('a', 1), await play('b', 1), await play('c', 2)]

      expect(Object.keys(first)).toEqual([
        'equity.csv',
        'fills.csv',
        'orders.csv',
        'positions.csv',
        'report.html',
        'report.json',
        'returns.csv',
        'run.json',
        'trades.csv',
      ])
      expect(again).toEqual(first)
      expect(other['fills.csv']).not.toBe(first['fills.csv'])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('a window that is shorter than a few looks at the prices is said', async () => {
    const remarksAt = async (pollMs: number) => {
      const out = mkdtempSync(join(tmpdir(), 'backtest-looks-'))
      try {
        const config = { file: 'config/paper.yaml', cwd, overrides: [`backtest.pollMs=${pollMs}`] }
        return (await runBacktest(config, { files: [], out, days: 0.01 })).remarks
      } finally {
        rmSync(out, { recursive: true })
      }
    }

    expect(await remarksAt(15_000)).toEqual([])
    expect(await remarksAt(16_000)).toEqual(
      ['trend-btc', 'trend-eth'].map((id) =>
        expect.stringContaining(
          `${id}: fastSeconds 60 is shorter than 4 looks at the prices, one each 16000 ms`,
        ),
      ),
    )
  })

  test('what the strategies made comes to what the account made', async () => {
    const out = mkdtempSync(join(tmpdir(), 'backtest-sum-'))
    try {
      const { runs } = await runBacktest(
        { file: 'config/paper.yaml', cwd, overrides },
        { files: [], out, days: 0.1 },
      )

      const run = runs[0] as RunReport
      const made = Number(run.money.final) - Number(run.money.opening)
      const sum = (parts: RunReport['strategies']): number =>
        parts.reduce((total, { profit }) => total + profit, 0)
      expect(run.fills.count).toBeGreaterThan(20)
      expect(sum(run.strategies)).toBeCloseTo(made, 6)
      expect(sum(run.instruments)).toBeCloseTo(made, 6)
    } finally {
      rmSync(out, { recursive: true })
    }
  })
})
