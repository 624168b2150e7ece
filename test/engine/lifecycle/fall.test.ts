import { expect, test } from 'vitest'
import { toOrderId } from '../../../src/domain/ids.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const CAPITAL = 1000
/** 100 lots of 0.001. */
const LOTS = 100
const SIZE = 0.1
const ENTRY = 10_000
const TOP = 10_100
const FEE = 0.6
const DAILY = 120
const LOSSES = {
  timeZone: 'UTC',
  coolDownMs: 36e5,
  limits: new Map([
    [
      '*',
      {
        daily: DAILY,
        drawdown: {
          warn: 0.05,
          reducing: 0.15,
          flatten: 0.2,
        },
      },
    ],
  ]),
}

/** A fill of all lots at a price in tenths, and the reading that shows it. */
function trade(bench: EngineBench, side: 'buy' | 'sell', ticks: number, profit: number): void {
  const batch = bench.grantBatch()
  bench.accept(batch)
  const fill = bench.fill({
    orderId: toOrderId(`${batch.batchId}001`),
    side,
    lots: LOTS,
    ticks,
    fee: String(FEE),
    scope: 'taker',
    profit: String(profit),
  })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
}

/** A second later: prices, and the position as the exchange states it. */
function moveTo(bench: EngineBench, mark: number): void {
  bench.now += 1000
  bench.price(mark)
  const row = {
    ...({ holdSide: 'long', lots: LOTS, openPriceAvg: ENTRY, fundingFee: '' } as const),
    ...({ markPrice: mark, liquidationPrice: 0, positionMode: 'one_way_mode' } as const),
    unrealisedProfit: ((mark - ENTRY) * SIZE).toFixed(4),
  }
  const held = bench.book.account.get(SYMBOL)?.longLots ?? 0
  const at = { requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({
    kind: 'positionRead',
    reading: { symbol: SYMBOL, rows: held > 0 ? [row] : [], isSilent: false, ...at },
  })
}

function codes(bench: EngineBench): string[] {
  return bench.engine.restrictions.map(({ code }) => code)
}

test('[RSK2] a fall of 30 % in a minute: each limit holds with the reading that shows it, and over a crash', () => {
  const bench = new EngineBench({ capital: decimal(String(CAPITAL)), losses: LOSSES }).start()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: LOTS })
  trade(bench, 'buy', ENTRY * 10, 0)
  moveTo(bench, TOP)
  moveTo(bench, TOP)
  // By hand: bought 0.1 at 10,000 for a fee of 0.6, and 10,100 was the top.
  const peak = CAPITAL - FEE + (TOP - ENTRY) * SIZE
  const equityAt = (mark: number): number => CAPITAL - FEE + (mark - ENTRY) * SIZE
  expect(bench.engine.equity).toEqual({ equity: peak, peak, drawdown: 0 })

  // In steps of 50 a second: 10,050 after one, 7,100 after sixty.
  const seen: Record<string, number> = {}
  const fellAt = bench.now
  const note = (what: string): void => {
    seen[what] ??= (bench.now - fellAt) / 1000
  }
  let hasClosed = false
  for (let second = 1; second <= 60; second++) {
    const mark = TOP - 50 * second
    moveTo(bench, mark)
    if (!hasClosed) {
      const { equity = 0, drawdown = 0 } = bench.engine.equity ?? {}
      expect(equity).toBeCloseTo(equityAt(mark), 8)
      expect(drawdown).toBeCloseTo(peak - equityAt(mark), 8)
    }
    for (const code of codes(bench)) note(code)
    for (const { event } of bench.take('announce')) if (event === 'limits.warned') note('warned')
    if (second === 30) {
      // As after kill -9: the core is built anew from what was recorded.
      bench.restart().start({ holding: { longLots: LOTS, shortLots: 0 } })
      const { peak: recorded } = bench.book.watermarks.get('*') ?? {}
      expect(recorded).toBeCloseTo(peak - CAPITAL, 8)
      expect(codes(bench)).toContain('dailyLoss')
      bench.now = fellAt + 30_000
    }
    const isAsked = bench.take('askGrant').some(({ endpoint }) => endpoint === 'batchPlaceOrder')
    if (isAsked) {
      note('sent')
      hasClosed = true
      trade(bench, 'sell', mark * 10, (mark - ENTRY) * SIZE)
    }
  }

  // Five a second are lost; the day began with the capital.
  const secondsUntil = (fall: number): number => Math.ceil(fall / (50 * SIZE))
  expect(seen).toMatchObject({
    warned: secondsUntil(peak * 0.05),
    drawdown: secondsUntil(peak * 0.15),
    // Everything is closed for it, so it waits for a second reading.
    drawdownFlatten: secondsUntil(peak * 0.2) + 1,
  })
  expect(seen['dailyLoss']).toBe(secondsUntil(DAILY + peak - CAPITAL))
  expect(seen['sent']).toBe(seen['drawdownFlatten'])
  const sold = TOP - 50 * (seen['sent'] ?? 0)
  expect(bench.book.holdings.get(`${STRATEGY}|${SYMBOL}`)?.longLots ?? 0).toBe(0)
  expect(bench.engine.equity?.equity).toBeCloseTo(equityAt(sold) - FEE, 8)
  expect(bench.recordsOf('send')).toHaveLength(2)
})
