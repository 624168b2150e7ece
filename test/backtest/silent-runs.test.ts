// What a run says of itself when a strategy did less than was expected of it, and where its candles come from.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeDenials, describeReport } from '../../src/report/text/terminal-report.ts'
import { BacktestProject, MINUTE_MS, START_AT, writeQuotes } from './backtest-project.ts'

let project: BacktestProject
beforeEach(() => (project = new BacktestProject(['BTCUSDT'], [])))
afterEach(() => project.remove())

const strategyOf = (
  needs: string,
  decide: string,
) => `import { defineStrategy, sma, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'scripted',
  params: z.strictObject({}).prefault({}),
  needs: ${needs},
  initialState: () => ({ count: 0 }),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    ${decide}
  },
})
`

/** A candle a minute from an hour before the start on. */
function writeCandles(hours: number): string {
  const rows = Array.from({ length: hours * 60 }, (_, minute) => {
    const price = 100_000 + (minute % 7)
    return [START_AT - 3_600_000 + minute * MINUTE_MS, price, price + 1, price - 1, price, 10].join(
      ',',
    )
  })
  return project.write('BTCUSDT.csv', ['ts_ms,open,high,low,close,volume', ...rows, ''].join('\n'))
}

test('a strategy that never wanted anything is named', async () => {
  project.write(
    'scripted.ts',
    strategyOf('{}', 'return { intents: [], state: market ? state : state }'),
  )
  const quotes = writeQuotes(10, { 0: { bid: 1_000_000, mark: 1_000_000 } })

  const [run] = (await project.run([project.write('BTCUSDT.csv', quotes)], 'out')).runs

  expect(run?.notes).toEqual(['scripted wanted no order in all of the run'])
})

test('an indicator that was never warm is named, with what it waited for', async () => {
  const needs = "{ indicators: { slow: sma({ interval: '1m', period: 50 }) } }"
  project.write(
    'scripted.ts',
    strategyOf(needs, 'return { intents: [], state: { count: market?.indicators.slow ?? 0 } }'),
  )
  const quotes = writeQuotes(10, { 0: { bid: 1_000_000, mark: 1_000_000 } })

  const [run] = (await project.run([project.write('BTCUSDT.csv', quotes)], 'out')).runs

  expect(run?.notes?.join('\n')).toMatch(/scripted BTCUSDT: \d of 50 candles of 1m/)
})

test('decisions that failed are counted, with the first reason', async () => {
  project.write(
    'scripted.ts',
    strategyOf(
      '{}',
      `if (snapshot.exchangeTime < ${START_AT + 20_000}) throw new Error('too early')
    return { intents: [], state: { count: state.count + 1 } }`,
    ),
  )
  const quotes = writeQuotes(1, { 0: { bid: 1_000_000, mark: 1_000_000 } })

  const [run] = (await project.run([project.write('BTCUSDT.csv', quotes)], 'out')).runs

  expect(run?.notes?.[0]).toMatch(/^scripted: \d+ decisions failed, the first with .*too early/)
})

test('a run that begins in the middle of a file begins warm, with the candles before it and none of later', async () => {
  const needs = "{ candles: { '1m': 30 } }"
  const decide = `const candles = market.candles('1m')
    const last = candles.at(-1)
    if (state.count > 0 || last?.openAt !== ${START_AT - MINUTE_MS} || last.close !== ${100_000 + (59 % 7)})
      return { intents: [], state: { count: 1 } }
    return { intents: [market.place({ key: 'warm', action: 'openLong', lots: candles.length })], state: { count: 1 } }`
  project.write('scripted.ts', strategyOf(needs, decide))

  await project.run([writeCandles(2)], 'out', { fromAt: START_AT })

  const [order] = project.rows('out', 'orders.csv')
  expect(order?.['quantity']).toBe('0.03')
})

test('of many denials the most frequent codes are named, and each that means a fault of the strategy', () => {
  const causes = (
    [
      ['DATA_STALE', 900],
      ['POSITION_LIMIT', 800],
      ['PRICE_COLLAR', 700],
      ['LEVERAGE_LIMIT', 600],
      ['INTENTS_TOO_MANY', 2],
    ] as const
  ).map(([code, count]) => ({ code, meaning: '', count }))

  const named = describeDenials('grid', causes).map((line) => /denied, ([A-Z_]+)/.exec(line)?.[1])

  expect(named).toEqual(['DATA_STALE', 'POSITION_LIMIT', 'PRICE_COLLAR', 'INTENTS_TOO_MANY'])
})

test.each([
  ['prices have gaps', undefined],
  ['prices have gaps', { everyMs: 5000, dataAgeMaxMs: 5000 }],
  ['normal in this run: prices are read every 5001 ms', { everyMs: 5001, dataAgeMaxMs: 5000 }],
])('why prices were too old: %s, with %j', (why, looks) => {
  const [text] = describeDenials('grid', [{ code: 'DATA_STALE', meaning: 'old', count: 9 }], looks)

  expect(text).toMatch(new RegExp(`^grid: 9 denied, DATA_STALE \\(old\\): ${why}`))
})

test('the summary of a run that looks more seldom than prices may be old says that such denials are normal', async () => {
  project.write(
    'scripted.ts',
    strategyOf('{}', 'return { intents: [], state: market ? state : state }'),
  )
  const quotes = writeQuotes(10, { 0: { bid: 1_000_000, mark: 1_000_000 } })
  const report = await project.run([project.write('BTCUSDT.csv', quotes)], 'out')
  const denialsByStrategy = { scripted: [{ code: 'DATA_STALE', meaning: 'old', count: 9 }] }
  const runs = report.runs.map((run) => ({ ...run, denialsByStrategy }))

  expect(
    describeReport({ ...report, runs })
      .join(' ')
      .replaceAll(/\s+/g, ' '),
  ).toContain(
    'scripted: 9 denied, DATA_STALE (old): normal in this run: prices are read every 5000 ms (backtest.pollMs) and are too old after 2000 ms (risk.dataAgeMaxMs), so what is wanted in between is denied until the next look',
  )
})
