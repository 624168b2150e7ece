import { expect, test } from 'vitest'
import { AlertRules } from '../../src/alerts/rules/alert-rules.ts'
import { type Facts } from '../../src/alerts/rules/facts.ts'
import { MarketData } from '../../src/daemon/market-data/market-data.ts'
import { type Intent } from '../../src/domain/intent.ts'
import { type LogEvent } from '../../src/domain/log-events.ts'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { TrustedClock } from '../../src/exchange/clock/trusted-clock.ts'
import { type ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { EngineBench, refused, SYMBOL } from '../engine/engine-bench.ts'
import { ManualTime } from '../support/manual-time.ts'

const FIVE_MINUTES = 300_000
const POLL_MS = 250
const LASTING_MS = 60_000

/** Clocks, market data, core and alerts as in a daemon that trades, on an exchange whose clock is right at first. */
function openScene() {
  const bench = new EngineBench().start()
  const startAt = bench.now
  const time = new ManualTime(startAt)
  const trusted = new TrustedClock(time)
  const rules = new AlertRules({ repeatMs: 600_000, lastingMs: LASTING_MS, repeatsMin: 3 })
  const exchange = { aheadMs: 0, answers: true }
  /** What the strategy answers to each snapshot. */
  const wanted: Intent[] = []
  const logged: string[] = []
  const alerts: string[] = []
  const log = (event: LogEvent, facts: Facts): void => {
    if (!event.startsWith('clock.')) return
    logged.push(event)
    for (const { urgency } of rules.hear(event, facts, time.monotonic())) alerts.push(`${urgency}: ${event}`)
  }
  const client: Pick<ExchangeClient, 'readTickers'> = {
    readTickers: (table: TickerTable) => {
      if (!exchange.answers) return Promise.resolve(refused('503', 'retry'))
      const sentAt = trusted.clock.now()
      table.requestTime = startAt + time.monotonic() + exchange.aheadMs
      const row = table.claimRow(SYMBOL)
      const values = { bidPr: 10_000, askPr: 10_000.1, lastPr: 10_000, ts: table.requestTime } as const
      for (const [column, value] of Object.entries(values)) table.columns[column as 'bidPr'][row] = value
      table.readAt = sentAt
      trusted.offset.observe({ requestTime: table.requestTime, sentAt, receivedAt: sentAt })
      return Promise.resolve({ kind: 'accepted', data: table, receivedAt: sentAt })
    },
  }
  const marketData = new MarketData({
    config: {
      polling: { tickersMs: POLL_MS, fillsMs: 500, positionsMs: 1000 },
      calendar: { funding: '0 0 0 * * *', dayRoll: '0 0 0 * * *', timezone: 'UTC' },
    },
    ...{ client: client as ExchangeClient, limiter: new Limiter({ clock: time, timers: time }) },
    ...{ feeds: [], products: [{ productType: 'USDT-FUTURES', symbols: [] }], trusted, timers: time },
    logger: { log: (_, event, facts = {}) => log(event, facts) },
  })
  const market = marketData.of('USDT-FUTURES')
  market.listen({
    hear(event) {
      bench.now = trusted.clock.now()
      bench.step(event)
      if (bench.take('decide').length > 0) bench.decide(...wanted)
      for (const { event: announced, fields } of bench.take('announce')) log(announced, fields)
    },
    rollDay: () => undefined,
  })
  return {
    ...{ bench, time, trusted, exchange, wanted, logged, alerts },
    elapsedMs: () => trusted.clock.now() - startAt,
    poll: async (): Promise<void> => {
      await time.pass(POLL_MS)
      await market.readTickers()
    },
    asksToPlace: () => bench.take('askGrant').some(({ endpoint }) => endpoint === 'batchPlaceOrder'),
    lasting: () => rules.due(time.monotonic()).map(({ urgency, title }) => `${urgency}: ${title}`),
  }
}

type Scene = ReturnType<typeof openScene>

/** The exchange's clock is known, and nothing is wanted. */
async function openQuietScene(): Promise<Scene> {
  const scene = openScene()
  await scene.poll()
  await scene.poll()
  scene.logged.length = 0
  return scene
}

test.each([FIVE_MINUTES, -FIVE_MINUTES])(
  '[MKT1] the clock of the machine jumps by %d ms: nothing leaves before the exchange was asked again, and it trades on',
  async (jumpMs) => {
    const scene = await openQuietScene()
    const { bench, time, trusted } = scene
    time.setClock(time.now() + jumpMs)

    // The last look before a first byte is the first to see it.
    expect(trusted.isSynchronised).toBe(false)
    expect(scene.logged).toEqual(['clock.moved', 'clock.unsynchronised'])
    scene.wanted.push({ kind: 'target', symbol: SYMBOL, lots: 10 })
    await scene.poll()
    expect([scene.asksToPlace(), scene.alerts]).toEqual([false, []])

    await scene.poll()
    expect(scene.asksToPlace()).toBe(true)
    expect(bench.grantBatch().clientOids).toHaveLength(1)
    expect(scene.elapsedMs()).toBe(4 * POLL_MS)
    expect(scene.logged.slice(2)).toEqual(['clock.stepped', 'clock.synchronised'])
    expect(scene.alerts).toEqual(['warning: clock.stepped'])
  },
)

test('[MKT1] the clocks of machine and exchange go apart: nothing leaves on one answer, and it is urgent', async () => {
  const scene = await openQuietScene()
  scene.exchange.aheadMs = 10_000
  scene.wanted.push({ kind: 'target', symbol: SYMBOL, lots: 10 })

  await scene.poll()
  expect([scene.trusted.isSynchronised, scene.asksToPlace()]).toEqual([false, false])

  await scene.poll()
  expect(scene.asksToPlace()).toBe(true)
  expect(scene.logged).toEqual(['clock.unsynchronised', 'clock.jumped', 'clock.synchronised'])
  expect(scene.alerts).toEqual(['urgent: clock.jumped'])
})

test('a clock that stays in doubt is urgent when it lasts, and its end is said', async () => {
  const scene = await openQuietScene()
  scene.exchange.answers = false
  scene.time.setClock(scene.time.now() + FIVE_MINUTES)
  await scene.poll()
  expect(scene.lasting()).toEqual([])

  await scene.time.pass(LASTING_MS)
  expect(scene.lasting()).toEqual(["urgent: no order leaves: the exchange's clock is not known"])

  scene.exchange.answers = true
  await scene.poll()
  await scene.poll()
  expect(scene.alerts).toEqual(['warning: clock.stepped', 'info: clock.synchronised'])
})
