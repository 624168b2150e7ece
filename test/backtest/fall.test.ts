import { afterEach, expect, test } from 'vitest'
import { type RunReport } from '../../src/report/run-report.ts'
import { describeReport } from '../../src/report/text/terminal-report.ts'
import { BacktestProject, MINUTE_MS, START_AT } from './backtest-project.ts'

let project: BacktestProject | undefined
afterEach(() => project?.remove())

const OPENING = 10_000
const TAKER = 0.0006
const SIZE = 0.1
/** Below the mark price by more than this the simulator takes no limit order to sell. */
const PRICE_LIMIT = 0.01
const FELL_AT = START_AT + 20 * MINUTE_MS
/** A share of the peak of the equity. */
const FLATTEN = 0.04

/** 30 % in a minute, in steps of 500 a second; the mark price comes ten seconds after. */
function bidAt(second: number): number {
  return 100_000 - 500 * Math.min(60, Math.max(0, second))
}

function markAt(second: number): number {
  return bidAt(second - 10)
}

function writeFall(): string {
  const lines = ['ts_ms,bid,ask,bidSz,askSz,last,volume,mark,fundingRate']
  for (let at = START_AT; at < START_AT + 25 * MINUTE_MS; at += 1000) {
    const second = (at - FELL_AT) / 1000
    const bid = bidAt(second)
    lines.push([at, bid, bid + 0.1, 100, 100, bid, 1000, markAt(second), 0.0002].join(','))
  }
  return `${lines.join('\n')}\n`
}

test('[RSK3] in a fall of 30 % in a minute a limit on losses closes at the market what no price can close', async () => {
  project = new BacktestProject(
    ['BTCUSDT'],
    [{ at: START_AT + MINUTE_MS, action: 'openLong', lots: SIZE / 0.001 }],
  )
  project.edit('main.yaml', 'risk:', `risk:\n  losses: { drawdown: { flatten: ${FLATTEN} } }`)

  const file = project.write('BTCUSDT.csv', writeFall())
  const report = await project.run([file], 'out')
  const run = report.runs[0] as RunReport

  // At the first poll, every five seconds, that shows a mark price so far below the entry.
  const entry = 100_000.1
  const paid = OPENING - SIZE * entry * TAKER
  const isBeyond = (second: number): boolean =>
    SIZE * (entry - markAt(second)) - SIZE * 0.1 >= FLATTEN * paid
  let seen = 0
  while (!isBeyond(seen)) seen += 5
  // A flatten waits for a second reading with other prices (MON1), and the mark in a reading is from before its prices.
  seen += 10
  expect(bidAt(seen) / markAt(seen)).toBeLessThan(1 - PRICE_LIMIT)

  const closes = project.rows('out', 'orders.csv').filter(({ order_side: side }) => side === 'SELL')
  expect(
    closes.map((order) => [order['order_type'], order['status'], order['reason']?.slice(0, 5)]),
  ).toEqual([
    ['LIMIT', 'REJECTED', '43040'],
    ['MARKET', 'FILLED', ''],
  ])
  const [fill] = project.rows('out', 'fills.csv').slice(1)
  expect(Number(fill?.['last_px'])).toBe(bidAt(seen))
  expect(Date.parse(fill?.['ts_event'] ?? '') - (FELL_AT + seen * 1000)).toBeLessThan(500)
  const fees = SIZE * TAKER * (entry + bidAt(seen))
  expect(Number(run.money.final)).toBeCloseTo(OPENING - SIZE * (entry - bidAt(seen)) - fees, 8)
  // It fell in minute 20 of 25, and nothing was traded any more: the summary says so before any figure.
  const [head = ''] = describeReport(report).join(' ').split('fill model')
  expect(head.replaceAll(/\s+/g, ' ')).toMatch(
    /trading ended 2025-06-02 07:20 UTC, halted \(drawdownFlatten\): .* below the peak, limit 4\.00 %; 20 min .* of 25 min \(8\d %\) were traded, the figures count the whole time/,
  )
  expect(head.match(/ended/g)).toHaveLength(1)
})
