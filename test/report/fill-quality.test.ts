import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Instrument } from '../../src/domain/instrument.ts'
import { decimal, ZERO } from '../../src/lib/decimal.ts'
import { createGrid } from '../../src/lib/grid.ts'
import { RunCollector } from '../../src/report/run-collector.ts'
import { type RunFill } from '../../src/report/run-facts.ts'

const BTC: Instrument = {
  ...{
    symbol: 'BTCUSDT',
    productType: 'USDT-FUTURES',
    marginCoin: 'USDT',
    lotsMin: 1,
    notionalMin: decimal('5'),
  },
  ...{ tick: createGrid('0.1'), lot: createGrid('0.001') },
}

test('slippage is what was paid beyond the touch, lateness what the middle had moved by then', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fill-quality-'))
  const collector = new RunCollector({
    ...{
      directory,
      coin: 'USDT',
      instruments: new Map([['BTCUSDT', BTC]]),
      fromAt: 0,
      toAt: 1000,
      opening: 100,
    },
    resting: () => ({ buy: Number.NaN, sell: Number.NaN }),
  })
  const fill: RunFill = {
    ...{
      tradeId: '1',
      orderId: '1',
      clientOid: 'a',
      symbol: 'BTCUSDT',
      slot: 'net',
      at: 10,
      fee: ZERO,
      profit: ZERO,
    },
    ...{ direction: 'buy', ticks: 1010, lots: 2000, scope: 'taker', isSystem: false, isLiquidation: false },
    ...{ bidTicks: 1000, askTicks: 1004 },
  }

  // 2 bought at 101.0 with an ask of 100.4, for a middle of 100.0 that was 100.2 by then.
  collector.fill(fill, { strategyId: 'one', middle: 100 })
  // 1 sold at 99.9 with a bid of 100.0; the middle was 100.5 and had fallen to 100.2.
  collector.fill({ ...fill, direction: 'sell', ticks: 999, lots: 1000 }, { strategyId: 'one', middle: 100.5 })
  // Who rests pays neither, and what the exchange closes by itself is nobody's slippage.
  collector.fill({ ...fill, scope: 'maker', ticks: 990 }, { strategyId: 'one', middle: 90 })
  collector.fill({ ...fill, isSystem: true, clientOid: '' }, undefined)
  collector.close()
  rmSync(directory, { recursive: true })

  expect(collector.takers.slippage).toBeCloseTo(2 * 0.6 + 1 * 0.1, 10)
  expect(collector.takers.lateness).toBeCloseTo(2 * 0.2 + 1 * 0.3, 10)
  expect(collector.takers.traded).toBeCloseTo(2 * 101 + 99.9, 10)
})
