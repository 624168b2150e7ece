import { expect, test } from 'vitest'
import type { ClosedTradesQuery, ClosedTradesView } from '../../src/control/detail-views.ts'
import type { ClosedTrade } from '../../src/domain/closed-trade.ts'
import { FLAT, type Holding } from '../../src/domain/position.ts'
import type { JournalRecord } from '../../src/domain/record.ts'
import { ClosedTradeLog } from '../../src/daemon/reporting/closed-trade-log.ts'
import { createBook } from '../../src/engine/book/book.ts'
import { ManualTime } from '../support/manual-time.ts'

const AT = Date.UTC(2026, 0, 1)

function tradeAt(closedAt: number, symbol = 'BTCUSDT'): ClosedTrade {
  const money = { gross: '1', fees: '0.1', otherFees: {}, funding: '0', net: '0.9', coin: 'USDT' }
  const place = { strategyId: 'grid', symbol, side: 'long' } as const
  const prices = { size: '1', entryPrice: '100', exitPrice: '101' }
  const tags = { entryTag: '', exitTag: '' }
  const rest = { share: 0.01, fills: 2, reason: 'order', uncounted: '', ...tags } as const
  return { ...place, openedAt: closedAt - 1000, closedAt, ...prices, ...money, ...rest }
}

/** A run that begins at `AT`, a journal to which trades are written, and what was logged of them. */
function createScene() {
  const time = new ManualTime(AT)
  const durable: ClosedTrade[] = []
  const logged: string[] = []
  const scene = { readings: 0, isBroken: false, time, durable, logged }
  const read = ({ since = 0, limit }: ClosedTradesQuery): Promise<ClosedTradesView> => {
    scene.readings += 1
    if (scene.isBroken) return Promise.reject(new Error('its thread has ended'))
    const trades = durable.filter(({ closedAt }) => closedAt >= since).slice(-limit)
    return Promise.resolve({ journal: { run: 1, sequence: 9 }, trades, unexplained: [] })
  }
  const log = new ClosedTradeLog({
    read,
    timers: time,
    logger: {
      log: (_level, event, facts) =>
        void logged.push(`${event} ${String(facts?.['symbol'] ?? facts?.['reason'])}`),
    },
    book: { ...createBook('one_way_mode'), fillsThroughAt: AT - 1 },
  })
  const hold = (pairs: Readonly<Record<string, number>>, sides: readonly string[] = ['sell']) => {
    const holdings = Object.entries(pairs).map(([symbol, longLots]): [string, Holding] => [
      `grid|${symbol}`,
      { ...FLAT, longLots },
    ])
    const fills = sides.map((side) => ({ side }))
    log.observe({ kind: 'fills', fills } as unknown as JournalRecord, {
      holdings: new Map(holdings),
    })
  }
  return Object.assign(scene, { log, hold })
}

test('trades that close faster than the journal is read are logged all the same, each once', async () => {
  const { time, durable, logged, hold } = createScene()
  for (let step = 0; step < 40; step++) {
    hold({ BTCUSDT: 1 })
    hold({ BTCUSDT: 0 })
    durable.push(tradeAt(AT + step * 250, `X${step}`))
    await time.pass(250)
    // Ten seconds without a pause in which nothing closes.
    if (step === 12) expect(logged.length).toBeGreaterThan(8)
  }
  await time.pass(2000)

  expect(logged).toEqual(Array.from({ length: 40 }, (_, step) => `trade.closed X${step}`))
})

test('a trade is read for again until the journal has it, but not for ever', async () => {
  const scene = createScene()
  const { time, durable, logged, hold } = scene
  hold({ BTCUSDT: 1, ETHUSDT: 1 })
  hold({ BTCUSDT: 0, ETHUSDT: 0 })
  durable.push(tradeAt(AT + 10, 'ETHUSDT'))
  await time.pass(2500)
  // The fill of the other one became known late.
  durable.push(tradeAt(AT + 5, 'BTCUSDT'))
  await time.pass(1000)
  expect(logged).toEqual(['trade.closed ETHUSDT', 'trade.closed BTCUSDT'])

  const { readings } = scene
  await time.pass(20_000)
  expect(scene.readings).toBe(readings)

  scene.isBroken = true
  hold({ BTCUSDT: 1 })
  hold({})
  await time.pass(20_000)
  expect(scene.readings).toBe(readings + 5)
  expect(logged.at(-1)).toBe('trade.unread its thread has ended')
})

test('trades of the last run are not logged again, one hidden in a record and those of a stop are', async () => {
  const { time, durable, logged, hold, log } = createScene()
  durable.push(tradeAt(AT - 1, 'EARLIER'), tradeAt(AT + 1, 'TURNED'))
  hold({ BTCUSDT: 1 }, ['buy'])
  hold({ BTCUSDT: 1 }, ['sell', 'buy'])
  await time.pass(1500)
  expect(logged).toEqual(['trade.closed TURNED'])

  hold({ BTCUSDT: 0 })
  durable.push(tradeAt(AT + 2000, 'LAST'))
  await log.finish()
  expect(logged).toEqual(['trade.closed TURNED', 'trade.closed LAST'])
})
