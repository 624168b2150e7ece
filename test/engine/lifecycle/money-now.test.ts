import { expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { ACCOUNT, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { viewEquity, viewLosses } from '../../../src/views/losses-view.ts'
import { viewProfit } from '../../../src/views/money-view.ts'
import { RecentActivity } from '../../../src/views/recent-activity.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const CAPITAL = 1000
const OF_STRATEGY = strategyScope(STRATEGY)
const LOSSES: NonNullable<EngineSettings['losses']> = {
  timeZone: 'UTC',
  coolDownMs: 0,
  limits: new Map([
    [ACCOUNT, { daily: 500, drawdown: { reducing: 0.5 } }],
    [OF_STRATEGY, { daily: 500 }],
  ]),
}

/** Ten lots of 0.001 long at 10,000, for a fee of 0.25, and read three times at that price. */
function holding(): EngineBench {
  const bench = new EngineBench({ capital: decimal(String(CAPITAL)), losses: LOSSES }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 10 })
  trade(bench, { side: 'buy', lots: 10, ticks: 100_000, fee: '0.25' })
  for (let reading = 0; reading < 3; reading++) readPosition(bench, 10)
  return bench
}

/** The order of the next batch is filled, and only its fill is read. */
function trade(
  bench: EngineBench,
  stated: Pick<Parameters<EngineBench['fill']>[0], 'side' | 'lots' | 'ticks' | 'fee' | 'profit'>,
): void {
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, scope: 'taker', ...stated })
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading: { fills: [fill], sinceAt: 0, ...at } })
}

function readPosition(bench: EngineBench, lots: number): void {
  bench.now += 100
  bench.price()
  const row = {
    lots,
    holdSide: 'long',
    openPriceAvg: 10_000,
    fundingFee: '',
    markPrice: 10_000,
    liquidationPrice: 0,
    positionMode: 'one_way_mode',
    unrealisedProfit: '0',
  } as const
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  const rows = lots === 0 ? [] : [row]
  bench.step({ kind: 'positionRead', reading: { symbol: SYMBOL, rows, isSilent: false, ...at } })
}

function show({ settings, engine, book, now }: EngineBench) {
  const recent = new RecentActivity({ timeZone: 'UTC', now: () => now, booked: () => [] })
  const profit = viewProfit({ settings, engine, book, recent })
  return {
    profit,
    ...viewEquity({ settings, engine, book, state: 'begun' }, profit),
    losses: viewLosses({ settings, engine, book }),
  }
}

test('all money that is shown is of one moment, also between a fill and the reading of its position', () => {
  const bench = holding()
  bench.now += 100
  bench.price(11_000)
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
  trade(bench, { side: 'sell', lots: 6, ticks: 110_000, fee: '0.5', profit: '6' })

  const { profit, equity, drawdown, losses } = show(bench)
  expect(profit.total).toMatchObject({ net: '5.25', unrealised: '4', netWithUnrealised: '9.25' })
  expect(profit.instruments[SYMBOL]).toMatchObject({ net: '5.25', unrealised: '4' })
  expect(profit.strategies[STRATEGY]).toMatchObject({ net: '5.25', unrealised: '4' })
  expect({ equity, drawdown }).toEqual({ equity: '1009.25', drawdown: '0' })
  expect(losses.map(({ scope, limit, used }) => [scope, limit, used])).toEqual([
    [ACCOUNT, 'daily', 0],
    [ACCOUNT, 'drawdown.reducing', 0],
    [OF_STRATEGY, 'daily', 0],
  ])
})

test('a loss that prices and a fill have made is shown of the same moment, before it is judged', () => {
  const bench = holding()
  bench.now += 100
  bench.price(9000)
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 4 })
  trade(bench, { side: 'sell', lots: 6, ticks: 90_000, fee: '0.5', profit: '-6' })

  const { profit, equity, peak, drawdown, losses } = show(bench)
  expect(profit.total.netWithUnrealised).toBe('-10.75')
  expect({ equity, peak, drawdown }).toEqual({ equity: '989.25', peak: '1000', drawdown: '10.75' })
  expect(losses.map(({ used }) => used)).toEqual([10.75, 0.01075, 10.75])
})

test('[DET1] to look changes nothing of the core, and no limit is judged by it', () => {
  const bench = holding()
  bench.now += 100
  bench.price(9000)
  const before = bench.engine.write()
  show(bench)

  expect(bench.engine.write()).toBe(before)
  expect(bench.engine.losses.get(ACCOUNT)).toMatchObject({ dayLoss: 0.25 })
})

test('[MON2] money is not known without fresh prices, nor before a held position was read', () => {
  const bench = holding()
  bench.now += 60_000
  bench.step({ kind: 'timePassed' })
  const unknown = { unrealised: null, netWithUnrealised: null }
  expect(show(bench).profit.total).toMatchObject(unknown)
  expect(show(bench)).toMatchObject({ equity: null, losses: [{ used: null }, {}, { used: null }] })

  bench.restart()
  bench.price()
  expect(show(bench).profit.total).toMatchObject(unknown)
  expect(show(bench).equity).toBeNull()
})
