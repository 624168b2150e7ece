import { expect, test } from 'vitest'
import { MarketData } from '../../src/daemon/market-data/market-data.ts'
import { type ProductType } from '../../src/domain/instrument.ts'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type ExchangeClient } from '../../src/exchange/exchange-client.ts'
import { Limiter } from '../../src/exchange/limiter/limiter.ts'
import { TrustedClock } from '../../src/exchange/clock/exchange-clock.ts'
import { ManualTime } from '../support/manual-time.ts'
import { MOMENT_AT } from '../support/market-moment.ts'

type Rows = Readonly<Partial<Record<ProductType, readonly number[]>>>

/** Market data of an exchange that stamps its ticker answers with these times, one after the other. */
function openMarket(requestTimes: Rows) {
  const time = new ManualTime(MOMENT_AT)
  const left = new Map(
    Object.entries(requestTimes).map(([productType, times]) => [productType, [...times]]),
  )
  const products = Object.keys(requestTimes).map((name) => ({
    productType: name as ProductType,
    symbols: ['BTCUSDT'],
  }))
  const trusted = new TrustedClock(time)
  const client: Pick<ExchangeClient, 'readTickers' | 'close'> = {
    close: () => Promise.resolve(),
    readTickers: (table: TickerTable, productType: ProductType) => {
      table.requestTime = left.get(productType)?.shift() ?? 0
      table.readAt = time.now()
      table.columns.lastPr[table.claimRow('BTCUSDT')] = table.requestTime
      const [requestTime, sentAt] = [time.now(), time.now()]
      trusted.offset.observe({ requestTime, sentAt, receivedAt: sentAt }, 'public')
      return Promise.resolve({ kind: 'accepted', data: table, receivedAt: time.now() })
    },
  }
  const market = new MarketData({
    config: {
      polling: {
        tickersMs: 250,
        fillsMs: 500,
        positionsMs: 1e3,
      },
      calendar: {
        funding: '0 0 0 * * *',
        dayRoll: '0 0 0 * * *',
        timezone: 'UTC',
      },
    },
    client: client as ExchangeClient,
    limiter: new Limiter({
      clock: time,
      timers: time,
    }),
    products,
    feeds: [],
    trusted,
    timers: time,
    logger: {
      log: (_, event) => {
        throw new Error(event)
      },
    },
  })
  const heard = products.map(({ productType }) => {
    const events: EngineEvent[] = []
    market.of(productType).listen({ hear: (event) => events.push(event), rollDay: () => undefined })
    return events
  })
  return { market, heard, time }
}

const looked = (events: readonly EngineEvent[]): TickerTable[] =>
  events.flatMap((event) => (event.kind === 'snapshotTaken' ? [event.tickers] : []))

test('[MKT2] what the core looks at stays what it was when an answer is older than that', async () => {
  const { market, heard } = openMarket({ 'USDT-FUTURES': [200, 100, 300] })
  const [events = []] = heard
  const product = market.of('USDT-FUTURES')
  await product.readTickers()
  const [first] = looked(events)

  await product.readTickers()
  await product.readTickers()

  expect(first?.read('BTCUSDT', 'lastPr')).toBe(200)
  expect(looked(events).map(({ requestTime }) => requestTime)).toEqual([200, 300])
})

test('[MKT1] [MON1] an answer that a cache repeats is no second answer, and its prices grow old', async () => {
  const stated = MOMENT_AT - 1
  const { market, time } = openMarket({ 'USDT-FUTURES': [stated, stated, stated, MOMENT_AT + 1] })
  const product = market.of('USDT-FUTURES')
  // A table is filled again later: what counts is what it says when it is heard.
  const heard: { readonly requestTime: number; readonly readAt: number }[] = []
  product.listen({
    hear(event) {
      if (event.kind !== 'snapshotTaken') return
      heard.push({ requestTime: event.tickers.requestTime, readAt: event.tickers.readAt })
    },
    rollDay: () => undefined,
  })
  for (let read = 0; read < 4; read++) {
    await product.readTickers()
    await time.pass(250)
  }

  const once = { requestTime: stated, readAt: MOMENT_AT }
  expect(heard).toEqual([once, once, once, { requestTime: MOMENT_AT + 1, readAt: MOMENT_AT + 750 }])
})

test('[MKT1] an answer whose time is far in the future does not make all later ones look old', async () => {
  const { market, heard } = openMarket({
    'USDT-FUTURES': [MOMENT_AT, MOMENT_AT + 3_600_000, MOMENT_AT + 1],
  })
  const product = market.of('USDT-FUTURES')
  for (let read = 0; read < 3; read++) await product.readTickers()

  expect(product.tickers?.requestTime).toBe(MOMENT_AT + 1)
  expect(looked(heard[0] ?? []).map(({ requestTime }) => requestTime)).toHaveLength(3)
})

test('accounts of two product types hear their own prices alone, and each of the clock before them', async () => {
  const { market, heard } = openMarket({ 'USDT-FUTURES': [100, 200], 'COIN-FUTURES': [1000, 2000] })

  expect(await market.synchronise()).toBe(true)
  await market.of('COIN-FUTURES').readTickers()

  expect(heard.map((events) => looked(events).map(({ requestTime }) => requestTime))).toEqual([
    [100],
    [1000, 2000],
  ])
  for (const events of heard)
    expect(events.map(({ kind }) => kind).slice(0, 2)).toEqual([
      'clockSynchronised',
      'snapshotTaken',
    ])
  expect(market.loops.map(({ name, isCalling }) => [name, isCalling])).toEqual([
    ['tickers', true],
    ['tickers COIN-FUTURES', true],
    ['time', false],
    ['calls', true],
  ])
})
