import { afterEach, expect, test } from 'vitest'
import { type RunReport } from '../../src/report/run-report.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const MINUTES = 160
const OPENED_AT = START_AT + 5 * MINUTE_MS

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
  expect(run.ratios.find(({ name }) => name === 'highest margin use')?.value).toBeGreaterThan(0.9)
})

test('by default it is reduced again and again, each time to a tenth beyond 8 % from there', async () => {
  const { run, fills } = await fall(800)
  const [opened, ...closed] = fills

  expect(opened).toMatchObject({ order_side: 'BUY', last_qty: '0.8' })
  expect(closed.length).toBeGreaterThan(3)
  expect(
    closed.every(({ order_side, strategy_id }) => order_side === 'SELL' && strategy_id === 'scripted'),
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
