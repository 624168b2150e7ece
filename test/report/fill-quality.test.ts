import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Instrument } from '../../src/domain/instrument.ts'
import { decimal, ZERO } from '../../src/lib/decimal.ts'
import { createGrid } from '../../src/lib/grid.ts'
import { RunCollector } from '../../src/report/run-collector.ts'
import { type RunFill } from '../../src/report/run-facts.ts'

const BTC: Instrument = {
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  lotsMin: 1,
  notionalMin: decimal('5'),
  tick: createGrid('0.1'),
  lot: createGrid('0.001'),
}

const FILL: RunFill = {
  tradeId: '1',
  orderId: '1',
  clientOid: 'a',
  symbol: 'BTCUSDT',
  slot: 'net',
  at: 10,
  fee: ZERO,
  profit: ZERO,
  direction: 'buy',
  ticks: 1010,
  lots: 2e3,
  scope: 'taker',
  isSystem: false,
  isLiquidation: false,
  bidTicks: 1e3,
  askTicks: 1004,
}

function openCollector() {
  const directory = mkdtempSync(join(tmpdir(), 'fill-quality-'))
  const collector = new RunCollector({
    directory,
    coin: 'USDT',
    instruments: new Map([['BTCUSDT', BTC]]),
    fromAt: 0,
    toAt: 1e3,
    opening: 100,
    resting: () => ({
      buy: Number.NaN,
      sell: Number.NaN,
    }),
  })
  return { directory, collector }
}

test('slippage is what was paid beyond the touch, lateness what the middle had moved by then', () => {
  const { directory, collector } = openCollector()
  const fill = FILL

  // 2 bought at 101.0 with an ask of 100.4, for a middle of 100.0 that was 100.2 by then.
  collector.fill(fill, { strategyId: 'one', middle: 100 })
  // 1 sold at 99.9 with a bid of 100.0; the middle was 100.5 and had fallen to 100.2.
  collector.fill(
    { ...fill, direction: 'sell', ticks: 999, lots: 1000 },
    { strategyId: 'one', middle: 100.5 },
  )
  // Who rests pays neither, and what the exchange closes by itself is nobody's slippage.
  collector.fill({ ...fill, scope: 'maker', ticks: 990 }, { strategyId: 'one', middle: 90 })
  collector.fill({ ...fill, isSystem: true, clientOid: '' }, undefined)
  collector.close()
  rmSync(directory, { recursive: true })

  expect(collector.takers.slippage).toBeCloseTo(2 * 0.6 + 1 * 0.1, 10)
  expect(collector.takers.lateness).toBeCloseTo(2 * 0.2 + 1 * 0.3, 10)
  expect(collector.takers.traded).toBeCloseTo(2 * 101 + 99.9, 10)
})

test('fills.csv adds up to the report of each strategy, also where strategies share the position of the account', () => {
  const { directory, collector } = openCollector()
  const play = (change: Partial<RunFill>, strategyId?: string): void =>
    collector.fill(
      { ...FILL, ...change },
      strategyId === undefined ? undefined : { strategyId, middle: 0 },
    )

  play({ ticks: 1000, fee: decimal('0.2') }, 'one')
  play({ ticks: 1100, fee: decimal('0.22') }, 'two')
  // The account sells at its average of 105 and realises 5, strategy two what it paid itself: 0.
  play({ tradeId: '2', direction: 'sell', ticks: 1100, lots: 1000, profit: decimal('5') }, 'two')
  // The exchange executes an exit that it kept: 3 at 120, of which 2 were held by one and 1 by two.
  const exit = { direction: 'sell', clientOid: '', ticks: 1200, lots: 3000 } as const
  play({ ...exit, tradeId: '3', fee: decimal('0.36'), profit: decimal('45') })
  collector.close()

  const [header = '', ...lines] = readFileSync(join(directory, 'fills.csv'), 'utf8')
    .trim()
    .split('\n')
  rmSync(directory, { recursive: true })
  const columns = header.split(',')
  const rows = lines.map((line) => line.split(','))
  const column = (row: readonly string[], name: string): string => row[columns.indexOf(name)] ?? ''
  expect(
    rows.map((row) =>
      [
        'trade_id',
        'strategy_id',
        'last_qty',
        'commission',
        'strategy_gross_pnl',
        'account_gross_pnl',
      ].map((name) => column(row, name)),
    ),
  ).toEqual([
    ['1', 'one', '2', '0.2', '0', '0'],
    ['1', 'two', '2', '0.22', '0', '0'],
    ['2', 'two', '1', '0', '0', '5'],
    ['3', 'one', '2', '0.24', '40', '30'],
    ['3', 'two', '1', '0.12', '10', '15'],
  ])
  for (const [name, sums] of collector.strategies) {
    const own = rows.filter((row) => column(row, 'strategy_id') === name)
    const sumOf = (what: string): number =>
      own.reduce((sum, row) => sum + Number(column(row, what)), 0)
    expect([own.length, sumOf('strategy_gross_pnl')]).toEqual([sums.fills, sums.realised])
    expect(sumOf('commission')).toBeCloseTo(sums.fees, 12)
  }
})
