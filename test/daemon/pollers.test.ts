import { expect, test } from 'vitest'
import { Pollers } from '../../src/daemon/market-data/pollers.ts'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { TrustedClock } from '../../src/exchange/clock/trusted-clock.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

/** Pollers of an exchange that stamps its ticker answers with these times, one after the other. */
function openPollers(requestTimes: readonly number[]) {
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
  const pollers = new Pollers({
    config: {
      account: { productType: 'USDT-FUTURES' },
      polling: { tickersMs: 250, fillsMs: 500, positionsMs: 1000 },
      calendar: { funding: '0 0 0 * * *', dayRoll: '0 0 0 * * *', timezone: 'UTC' },
    } as ConstructorParameters<typeof Pollers>[0]['config'],
    client: client as ExchangeClient,
    trusted: new TrustedClock(time),
    timers: time,
    dispatch: (event) => events.push(event),
    onTickers: () => undefined,
    onHandled: () => undefined,
    onTime: () => undefined,
    onOperator: () => undefined,
    onRead: () => undefined,
    onDayRoll: () => undefined,
    onError: (_, reason) => {
      throw new Error(reason)
    },
  })
  return { pollers, events }
}

const looked = (events: readonly EngineEvent[]): TickerTable[] =>
  events.flatMap((event) => (event.kind === 'snapshotTaken' ? [event.tickers] : []))

test('[MKT2] what the core looks at stays what it was when an answer is older than that', async () => {
  const { pollers, events } = openPollers([200, 100, 300])
  await pollers.readTickers()
  const [first] = looked(events)

  await pollers.readTickers()
  await pollers.readTickers()

  expect(first?.read('BTCUSDT', 'lastPr')).toBe(200)
  expect(looked(events).map(({ requestTime }) => requestTime)).toEqual([200, 300])
})
