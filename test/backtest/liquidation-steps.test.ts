import { afterEach, expect, test } from 'vitest'
import { renderRunTables } from '../../src/report/page/run-tables.ts'
import { describeSteps } from '../../src/report/text/figures.ts'
import { type RunReport } from '../../src/report/run-report.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const MINUTES = 160
const OPENED_AT = START_AT + 5 * MINUTE_MS
const at = (minute: number): number => START_AT + minute * MINUTE_MS
/** What an order costs as a taker, and what a position needs of its value at its liquidation: 0.4 % and the fee of closing. */
const TAKER = 0.0006
const NEED = 0.004 + TAKER

/** Long at 100,000 on 10,000; from the tenth minute on the price falls by a tenth of a percent a minute. */
async function fall(lots: number, liquidation = '') {
  project = new BacktestProject(['BTCUSDT'], [{ at: OPENED_AT, action: 'openLong', lots }])
  project.edit('main.yaml', '  liquidation: none\n', liquidation)
  const quotes = Object.fromEntries(
    Array.from({ length: MINUTES }, (_, minute) => {
      const price = Math.round(1_000_000 * 0.999 ** Math.max(0, minute - 10))
      return [minute, { bid: price, mark: price }]
    }),
  )
  const file = project.write('BTCUSDT.csv', writeQuotes(MINUTES + 5, quotes))
  const run = (await project.run([file], 'out')).runs[0] as RunReport
  return { run, fills: project.rows('out', 'fills.csv') }
}

/** Of 0.8 BTC: 10,000 less the fee of opening and a payment of funding; 0.4 % and the fee of closing are needed. */
const LIQUIDATION = (0.8 * 100_000.1 - 10_000 + 48 + 16) / (0.8 * (1 - 0.004 - 0.0006))

test('where nothing follows from the distance the exchange closes it', async () => {
  const { run, fills } = await fall(800, '  liquidation: none\n')

  expect(Number(fills[1]?.['last_px'])).toBeLessThan(LIQUIDATION * 1.001)
  expect(run.ratios.find(({ name }) => name === 'highest margin ratio')?.value).toBeGreaterThan(0.9)
})

test('by default it is reduced again and again, each time to a tenth beyond 8 % from there', async () => {
  const { run, fills } = await fall(800)
  const [opened, ...closed] = fills

  expect(opened).toMatchObject({ order_side: 'BUY', last_qty: '0.8' })
  expect(closed.length).toBeGreaterThan(3)
  expect(
    closed.every(
      ({ order_side, strategy_id }) => order_side === 'SELL' && strategy_id === 'scripted',
    ),
  ).toBe(true)
  // As little as is enough: the first one when a liquidation of all is 8 % away.
  expect(Number(closed[0]?.['last_qty'])).toBeLessThan(0.1)
  expect(1 - LIQUIDATION / Number(closed[0]?.['last_px'])).toBeLessThan(0.08)
  expect(1 - LIQUIDATION / Number(closed[0]?.['last_px'])).toBeGreaterThan(0.075)
  expect(closed.reduce((sum, { last_qty }) => sum + Number(last_qty), 0)).toBeLessThan(0.8)
  expect(run.liquidations).toBe(0)
  expect(Number(run.money.final)).toBeGreaterThan(1000)
})

test('an order that opens nearer than that is denied: nothing is traded at 19 times the balance', async () => {
  const { run, fills } = await fall(1900)

  expect(fills).toEqual([])
  expect(JSON.stringify(run)).toContain('LIQUIDATION_NEAR')
})

/** Bought at the ask of 60,000: 2 BTC on 10,000, which is twelve times the balance, at a leverage of 20. */
const DEMONSTRATED = { size: 2, ask: 60_000.1 }

/** Long 2 BTC on 10,000; from the tenth minute on the price falls by a tenth of a percent a minute. */
async function demonstrate(liquidation: string) {
  project = new BacktestProject(['BTCUSDT'], [{ at: OPENED_AT, action: 'openLong', lots: 2000 }])
  project.edit('main.yaml', '  liquidation: none\n', liquidation)
  const quotes = Object.fromEntries(
    Array.from({ length: MINUTES }, (_, minute) => [
      minute,
      { bid: tenthsAt(minute), mark: tenthsAt(minute) },
    ]),
  )
  const file = project.write('BTCUSDT.csv', writeQuotes(MINUTES + 5, quotes))
  return (await project.run([file], 'out')).runs[0] as RunReport
}

const tenthsAt = (minute: number): number => Math.round(600_000 * 0.999 ** Math.max(0, minute - 10))

/** The first minute at whose price a liquidation at `price` is no farther than a share of it. */
function minuteOf(price: number, share: number): number {
  let minute = 10
  while (1 - price / (tenthsAt(minute) / 10) > share) minute++
  return minute
}

test('a position that would begin nearer than reduce is denied: 2 BTC at 60,000 on 10,000 are 7.9 % from the end', async () => {
  const run = await demonstrate('')

  expect(run.fills.count).toBe(0)
  expect(run.denials.map(({ code }) => code)).toContain('LIQUIDATION_NEAR')
  expect(run.liquidation).toEqual({ nearest: [], steps: [] })
})

test('the same position is warned of, then reduced as often as it comes too near, and it is said when and why', async () => {
  const { size, ask } = DEMONSTRATED
  const run = await demonstrate('  liquidation: { warn: 0.07, reduce: 0.05, flatten: 0.03 }\n')
  const sold = project?.rows('out', 'fills.csv').slice(1) ?? []

  const opened = 10_000 - size * ask * TAKER
  const liquidationOf = (held: number, balance: number): number =>
    (held * ask - balance) / (held * (1 - NEED))
  const before = liquidationOf(size, opened)
  expect(before.toFixed(0)).toBe('55290')
  const minutes = [minuteOf(before, 0.07), minuteOf(before, 0.05)]
  expect(minutes).toEqual([20, 41])

  const steps = run.liquidation?.steps ?? []
  expect(steps.map(({ step, symbol }) => `${step} ${symbol}`)).toEqual([
    'warn BTCUSDT',
    'reduce BTCUSDT',
  ])
  for (const [index, minute] of minutes.entries()) {
    // Positions are read every five seconds.
    const lateMs = (steps[index]?.at ?? 0) - at(minute)
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(20_000)
  }
  const said = (price: number, share: string, limit: string): string =>
    `the long position is ${share} % from ${before.toPrecision(7)} by our own count at ${price}, limit ${limit} %`
  expect(steps.map(({ reason }) => reason)).toEqual([
    said(59_402.7, '6.92', '7.00'),
    said(58_167.6, '4.95', '5.00'),
  ])

  // The first time, as few lots as lead to 5.5 %.
  const price = 58_167.6
  const distanceAfter = (lots: number): number => {
    const closed = lots / 1000
    const balance = opened + closed * (price - ask) - closed * price * TAKER
    return 1 - liquidationOf(size - closed, balance) / price
  }
  const lots = Math.round(Number(sold[0]?.['last_qty']) * 1000)
  expect(distanceAfter(lots)).toBeGreaterThan(0.055)
  expect(distanceAfter(lots - 1)).toBeLessThanOrEqual(0.055)
  expect(sold.length).toBeGreaterThan(5)
  const [nearest] = run.liquidation?.nearest ?? []
  expect(nearest?.distance).toBeGreaterThan(0.048)
  expect(run.ratios.find(({ name }) => name === 'nearest to liquidation')?.value).toBe(
    nearest?.distance,
  )
  expect(describeSteps(run)[0]).toMatch(/^BTCUSDT 2025-06-02 07:20\S* UTC, step warn: the long/)
  expect(renderRunTables(run, 0, 'USDT')).toMatch(
    /Nearest to a liquidation[^]*BTCUSDT[^]*step reduce/,
  )
  expect(run.liquidations).toBe(0)
})

/** 2 BTC long on 10,000 at a leverage of 20, opened at 50,000; 0.1 % a minute are lost, and in the 140th 6 % at a stroke. */
async function fallAndGap(liquidation: string) {
  project = new BacktestProject(['BTCUSDT'], [{ at: OPENED_AT, action: 'openLong', lots: 2000 }])
  project.edit('main.yaml', '  liquidation: none\n', liquidation)
  const tenths = (minute: number): number =>
    Math.round(500_000 * 0.999 ** Math.max(0, minute - 10) * (minute >= GAP ? 0.94 : 1))
  const quotes = Object.fromEntries(
    Array.from({ length: MINUTES }, (_, minute) => [
      minute,
      { bid: tenths(minute), mark: tenths(minute) },
    ]),
  )
  const file = project.write('BTCUSDT.csv', writeQuotes(MINUTES + 5, quotes))
  const run = (await project.run([file], 'out')).runs[0] as RunReport
  return { run, sold: project.rows('out', 'fills.csv').slice(1) }
}

const GAP = 140

test('by default 2 BTC at 20 times are warned of, reduced and flattened in time, and it is said when and why', async () => {
  const { run: without } = await fallAndGap('  liquidation: none\n')
  expect(without.liquidations).toBe(1)
  project?.remove()

  const { run, sold } = await fallAndGap('')
  const minuteOfStep = (when: number): number => Math.floor((when - START_AT) / MINUTE_MS)
  // By hand: 10,000 less the fee of 60 is behind 2 BTC bought at 50,000.1.
  const balance = 10_000 - 2 * 50_000.1 * TAKER
  const end = (2 * 50_000.1 - balance) / (2 * (1 - NEED))
  expect(end.toPrecision(7)).toBe('45238.20')
  // 9.5 % away at once; 8 % first at 50,000 × 0.999 ^ 17.
  expect((1 - end / 50_000).toFixed(4)).toBe('0.0952')
  const first = Math.round(500_000 * 0.999 ** 17) / 10
  expect([16, 17].map((falls) => (1 - end / (50_000 * 0.999 ** falls)).toFixed(4))).toEqual([
    '0.0806',
    '0.0797',
  ])

  const steps = run.liquidation?.steps ?? []
  expect(steps.map(({ step, at: when }) => `${step} ${minuteOfStep(when)}`)).toEqual([
    'warn 5',
    'reduce 27',
    `flatten ${GAP}`,
  ])
  expect(steps[0]?.reason).toBe(
    'the long position is 9.52 % from 45238.20 by our own count at 50000, limit 15.00 %',
  )
  expect(steps[1]?.reason).toBe(
    `the long position is 7.97 % from 45238.20 by our own count at ${first}, limit 8.00 %`,
  )
  expect(steps[2]?.reason).toMatch(
    /^the long position is 2\.\d\d % from .* at 41\d+\.?\d*, limit 4\.00 %$/,
  )
  // Sold little by little before the gap, and the whole rest within seconds after it.
  const isBefore = ({ ts_event: when = '' }): boolean =>
    Date.parse(when) < START_AT + GAP * MINUTE_MS
  expect(sold.filter(isBefore).length).toBeGreaterThan(5)
  expect(sold.filter((fill) => !isBefore(fill)).length).toBe(1)
  expect(Date.parse(sold.at(-1)?.['ts_event'] ?? '')).toBeLessThan(
    START_AT + GAP * MINUTE_MS + 20_000,
  )
  expect(sold.reduce((sum, { last_qty: size }) => sum + Number(size), 0)).toBeCloseTo(2, 9)
  expect([run.liquidations, run.openPositions]).toEqual([0, []])
  // What is left is what every sale brought, less its fee.
  const left = sold.reduce((sum, { last_qty: size, last_px: price }) => {
    const [lots, sale] = [Number(size), Number(price)]
    return sum + lots * (sale - 50_000.1) - lots * sale * TAKER
  }, balance)
  expect(Number(run.money.final)).toBeCloseTo(left + Number(run.money.funding), 6)
  expect(left).toBeGreaterThan(0)
})

test('a market that falls, gaps and recovers: it is closed at the price after the gap, and stays so', async () => {
  project = new BacktestProject(['BTCUSDT'], [{ at: OPENED_AT, action: 'openLong', lots: 800 }])
  project.edit('main.yaml', '  liquidation: none\n', '')
  const flat = (price: number) => ({ bid: price * 10, mark: price * 10 })
  const script = {
    0: flat(100_000),
    10: flat(97_000),
    20: flat(91_000),
    22: flat(100_000),
    30: flat(110_000),
  }
  const file = project.write('BTCUSDT.csv', writeQuotes(50, script))
  const run = (await project.run([file], 'out')).runs[0] as RunReport

  const opened = 10_000 - 0.8 * 100_000.1 * TAKER
  const end = (0.8 * 100_000.1 - opened) / (0.8 * (1 - NEED))
  // 9.3 % before the gap warns; after it, 3.3 % are below both other steps.
  expect([1 - end / 97_000, 1 - end / 91_000].map((share) => share.toFixed(3))).toEqual([
    '0.093',
    '0.033',
  ])
  expect(run.liquidation?.steps.map(({ step }) => step)).toEqual(['warn', 'reduce', 'flatten'])
  expect(Number(run.money.final)).toBeCloseTo(
    opened + 0.8 * (91_000 - 100_000.1) - 0.8 * 91_000 * TAKER,
    6,
  )
  expect(run.liquidation?.nearest[0]?.distance).toBeCloseTo(1 - end / 91_000, 6)
})

test('a coin-margined contract is measured in its coin: 2 BTC long on half of one', async () => {
  project = new BacktestProject(['BTCUSD'], [{ at: OPENED_AT, action: 'openLong', lots: 2000 }])
  for (const [from, to] of [
    ['USDT-FUTURES, marginCoin: USDT', 'COIN-FUTURES, marginCoin: BTC'],
    ['  BTCUSDT: {', '  BTCUSD: {'],
    ['startingBalance: "10000"', 'startingBalance: "0.5"'],
    ['BTCUSDT: "100000"', 'BTCUSD: "100000"'],
    ['  liquidation: none\n', ''],
  ] as const)
    project.edit('main.yaml', from, to)
  const flat = (price: number) => ({ bid: price * 10, mark: price * 10 })
  const script = {
    0: flat(100_000),
    10: flat(95_000),
    20: flat(87_000),
    30: flat(82_000),
    35: flat(120_000),
  }
  const file = project.write('BTCUSD.csv', writeQuotes(50, script))
  const run = (await project.run([`BTCUSD=${file}`], 'out')).runs[0] as RunReport

  // A profit is size − size × entry / price in coins; what is needed is 0.46 % of the size, whatever the price.
  const entry = 100_000.1
  const balanceAfter = (sold: number): number =>
    0.5 - 2 * TAKER + sold * (1 - entry / 87_000) - sold * TAKER
  const endAfter = (sold: number): number =>
    ((2 - sold) * entry) / ((2 - sold) * (1 - NEED) + balanceAfter(sold))
  expect([95_000, 87_000].map((price) => (1 - endAfter(0) / price).toFixed(3))).toEqual([
    '0.154',
    '0.077',
  ])
  const lots = Array.from({ length: 2000 }, (_, one) => one).find(
    (one) => 1 - endAfter(one / 1000) / 87_000 > 0.088,
  )
  const sold = (lots ?? 0) / 1000
  expect((1 - endAfter(sold) / 82_000).toFixed(3)).toBe('0.032')
  expect(
    run.liquidation?.steps.map(
      ({ step, at: when }) => `${step} ${Math.floor((when - START_AT) / MINUTE_MS)}`,
    ),
  ).toEqual(['warn 20', 'reduce 20', 'flatten 30'])
  expect(run.liquidation?.nearest[0]?.distance).toBeCloseTo(1 - endAfter(sold) / 82_000, 6)
  const left = 2 - sold
  expect(Number(run.money.final)).toBeCloseTo(
    balanceAfter(sold) + left * (1 - entry / 82_000) - left * TAKER,
    8,
  )
})
