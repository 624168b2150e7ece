import { expect, test } from 'vitest'
import { MarketData, type MarketDataOptions } from '../../src/daemon/market-data/market-data.ts'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { TrustedClock } from '../../src/exchange/clock/trusted-clock.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

/** Market data of an exchange that stamps its ticker answers with these times, one after the other. */
function openMarket(requestTimes: readonly number[]) {
  const time = new ManualTime(MOMENT_AT)
  const events: EngineEvent[] = []
  const left = [...requestTimes]
  const client: Pick<ExchangeClient, 'readTickers'> = {
    readTickers: (table: TickerTable) => {
      table.requestTime = left.shift() ?? 0
      table.columns.lastPr[table.claimRow('BTCUSDT')] = table.requestTime
      return Promise.resolve({ kind: 'accepted', data: table, receivedAt: time.now() })
    },
  }
  const market = new MarketData({
    config: {
      account: { productType: 'USDT-FUTURES' },
      polling: { tickersMs: 250, fillsMs: 500, positionsMs: 1000 },
      calendar: { funding: '0 0 0 * * *', dayRoll: '0 0 0 * * *', timezone: 'UTC' },
    } as MarketDataOptions['config'],
    client: client as ExchangeClient,
    limiter: new Limiter({ clock: time, timers: time }),
    feeds: [],
    trusted: new TrustedClock(time),
    timers: time,
    logger: {
      log: (_, event) => {
        throw new Error(event)
      },
    },
  })
  market.listen({ hear: (event) => events.push(event), rollDay: () => undefined })
  return { market, events }
}

const looked = (events: readonly EngineEvent[]): TickerTable[] =>
  events.flatMap((event) => (event.kind === 'snapshotTaken' ? [event.tickers] : []))

test('[MKT2] what the core looks at stays what it was when an answer is older than that', async () => {
  const { market, events } = openMarket([200, 100, 300])
  await market.readTickers()
  const [first] = looked(events)

  await market.readTickers()
  await market.readTickers()

  expect(first?.read('BTCUSDT', 'lastPr')).toBe(200)
  expect(looked(events).map(({ requestTime }) => requestTime)).toEqual([200, 300])
})
