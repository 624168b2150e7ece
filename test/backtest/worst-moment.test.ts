import { afterEach, expect, test } from 'vitest'
import { renderRunTables } from '../../src/report/page/run-tables.ts'
import { type RunReport } from '../../src/report/run-report.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const TAKER = 0.0006
const NEED = 0.004 + TAKER
const FUNDING = 0.0002
const ASK = 100_000.1
const at = (minute: number): number => START_AT + minute * MINUTE_MS

/** Long 0.3 BTC on 10,000, and a buy of 0.1 rests at 90,000; the price falls to 94,000, further to 92,000, and comes back. */
async function fall(risk: string) {
  project = new BacktestProject(
    ['BTCUSDT'],
    [
      { at: at(5), action: 'openLong', lots: 300 },
      { at: at(12), action: 'openLong', lots: 100, ticks: 900_000 },
    ],
  )
  project.edit('main.yaml', '  liquidation: none\n', risk)
  const flat = (price: number) => ({ bid: price * 10, mark: price * 10 })
  const script = { 0: flat(100_000), 10: flat(94_000), 20: flat(92_000), 30: flat(99_000) }
  const file = project.write('BTCUSDT.csv', writeQuotes(40, script))
  return (await project.run([file], 'out')).runs[0] as RunReport
}

const PAID = 0.3 * ASK * TAKER
/** The last price is the bid. */
const EQUITY = 10_000 - PAID + 0.3 * (92_000 - ASK)

/** Without a fill the fall takes its loss, and the next funding at the price there. */
function leftAt(move: number): number {
  const price = 92_000 * (1 + move)
  return EQUITY + 0.3 * 92_000 * move - 0.3 * price * FUNDING
}

test('a run shows what each move would have left at its worst moment, by the budget', async () => {
  const run = await fall('  liquidation: none\n  survives: { move: 0.12 }\n')
  const moment = run.liquidation?.worstMoment

  expect(moment).toMatchObject({
    measure: 'worstCase',
    subject: 'BTCUSDT down 12 %',
    held: [{ symbol: 'BTCUSDT', holdSide: 'long', size: 0.3, price: 92_000, resting: 1 }],
    notCounted: [],
  })
  // The figure is of the first reading at 92,000. It counts as approvals do: at the dearer ask, with
  // the order that rests.
  expect((moment?.at ?? 0) - at(20)).toBeGreaterThanOrEqual(0)
  expect((moment?.at ?? 0) - at(20)).toBeLessThan(20_000)
  const ask = 92_000.1
  const there = ask * 0.88
  const need = 0.4 * ask * 0.12 + 0.1 * ask * TAKER + 0.4 * there * NEED + 0.4 * ask * FUNDING
  expect(moment?.figure).toBeCloseTo(need / EQUITY, 5)
  expect(moment?.equity).toBeCloseTo(EQUITY, 6)

  const { moves, none, reached, liquidations } = moment?.curve ?? {
    moves: [],
    none: [],
    reached: [],
    liquidations: undefined,
  }
  const index = (move: number): number => moves.findIndex((one) => Math.abs(one - move) < 1e-9)
  for (const move of [-0.3, -0.1, 0, 0.2]) expect(none[index(move)]).toBeCloseTo(leftAt(move), 6)
  // At -10 % the buy at 90,000 is filled on the way to 82,800; at -6 % it is not.
  const [near, far] = [90_160, 82_800]
  expect(reached[index(-0.02)]).toBeCloseTo(leftAt(near / 92_000 - 1), 6)
  expect(reached[index(-0.1)]).toBeCloseTo(
    leftAt(-0.1) + 0.1 * (far - 90_000) - 0.1 * 90_000 * TAKER - 0.1 * far * FUNDING,
    6,
  )
  // Without a fill the rest of the equity meets the need: E + 0.3 (p - 92,000) = 0.3 p × 0.46 %.
  const end = (0.3 * 92_000 - EQUITY) / (0.3 * (1 - NEED))
  expect(liquidations?.none).toEqual([expect.closeTo(end / 92_000 - 1, 8)])

  const page = renderRunTables(run, 0, 'USDT')
  expect(page).toMatch(/The worst moment[^]*BTCUSDT down 12 %[^]*<svg[^]*<table/)
  expect(page).toContain(
    `<td class="text">-10 %</td><td class="none">${leftAt(-0.1).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}</td>`,
  )
  expect(page).toContain('liquidated</td>')
})

test('without a budget the worst moment is the one nearest to a liquidation', async () => {
  const run = await fall('')
  const { worstMoment, nearest } = run.liquidation ?? {}

  expect(worstMoment).toMatchObject({
    measure: 'distance',
    subject: 'BTCUSDT long',
    figure: nearest?.[0]?.distance,
    at: nearest?.[0]?.at,
  })
  expect(worstMoment?.figure).toBeCloseTo(
    1 - (0.3 * ASK - (10_000 - PAID)) / (0.3 * (1 - NEED)) / 92_000,
    6,
  )
  expect(renderRunTables(run, 0, 'USDT')).toContain('from its liquidation')
})
