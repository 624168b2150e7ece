import { afterEach, expect, test } from 'vitest'
import { type RunReport } from '../../src/report/run-report.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const MINUTES = 160
const OPENED_AT = START_AT + 5 * MINUTE_MS

/** Long at 100,000 on 10,000; then the price falls by a tenth of a percent a minute, and once by 5 % at a stroke. */
async function fall(lots: number, survives = '') {
  project = new BacktestProject(['BTCUSDT'], [{ at: OPENED_AT, action: 'openLong', lots }])
  project.edit('main.yaml', '  liquidation: none\n', `  liquidation: none\n${survives}`)
  const priceAt = (minute: number): number =>
    Math.round(1_000_000 * 0.999 ** Math.max(0, minute - 10) * (minute >= 60 ? 0.95 : 1))
  const quotes = Object.fromEntries(
    Array.from({ length: MINUTES }, (_, minute) => [
      minute,
      { bid: priceAt(minute), mark: priceAt(minute) },
    ]),
  )
  const file = project.write('BTCUSDT.csv', writeQuotes(MINUTES + 5, quotes))
  const run = (await project.run([file], 'out')).runs[0] as RunReport
  return { run, fills: project.rows('out', 'fills.csv') }
}

test('[RSK1] the fall that liquidates without a budget is survived with one, in small closes and not at once', async () => {
  const without = await fall(700)
  expect(without.run.liquidations).toBe(1)
  project?.remove()

  // 0.7 × 100,000 × 12.4 % is 87 % of 10,000: it may be held, and is warned of.
  const { run, fills } = await fall(700, '  survives: { move: 0.12 }\n')
  const closed = fills.slice(1)

  expect(run.liquidations).toBe(0)
  expect(closed.length).toBeGreaterThan(2)
  expect(closed.every(({ order_side }) => order_side === 'SELL')).toBe(true)
  expect(Number(closed[0]?.['last_qty'])).toBeLessThan(0.25)
  // Something is still held at the end, and 12 % more would be survived with it.
  const left = 0.7 - closed.reduce((sum, { last_qty }) => sum + Number(last_qty), 0)
  const price = 100_000 * 0.999 ** (MINUTES - 11) * 0.95
  expect(left).toBeGreaterThan(0.1)
  expect(left * price * (0.12 + 0.88 * 0.0046)).toBeLessThan(Number(run.money.final))
})

test('[RSK1] what would not survive the stated move is not opened', async () => {
  const { run, fills } = await fall(900, '  survives: { move: 0.12 }\n')

  expect(fills).toEqual([])
  expect(JSON.stringify(run)).toContain('WORST_CASE')
})
