import { NOBODY } from '../../../src/simulator/shared/handlers.ts'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/lib/random.ts'
import {
  createExchangeCore,
  type ExchangeCore,
} from '../../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  nextQuarterlyDelivery,
} from '../../../src/simulator/futures/instruments/instruments.ts'
import { type Reply } from '../../../src/simulator/shared/reply.ts'
import { RecordedMarket } from '../../../src/simulator/market/recorded/recorded-market.ts'
import { parseRecording } from '../../../src/prices/parse-recording.ts'
import { openAccount } from './bench.ts'

const START_AT = Date.UTC(2025, 5, 1)
const HOUR_MS = 3_600_000
const ETH = { symbol: 'ETHUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const
const INSTRUMENTS = buildInstruments(nextQuarterlyDelivery(START_AT)).filter(
  ({ symbol }) => symbol === ETH.symbol,
)

/** Hourly candles of a price that wanders around 2600, with further columns where they are given. */
function hours(
  count: number,
  extra?: { readonly names: string; readonly row: (hour: number) => string },
) {
  const random = createRandom('hours')
  const lines = [`ts_ms,open,high,low,close,volume${extra ? `,${extra.names}` : ''}`]
  let open = 260_000
  for (let hour = 0; hour < count; hour++) {
    const close = Math.max(200_000, Math.min(320_000, open + Math.round(1200 * random.normal())))
    const high = Math.max(open, close) + random.integer(500)
    const low = Math.min(open, close) - random.integer(500)
    const prices = [open, high, low, close].map((ticks) => ticks / 100)
    lines.push(
      [START_AT + hour * HOUR_MS, ...prices, 9000, ...(extra ? [extra.row(hour)] : [])].join(','),
    )
    open = close
  }
  return lines.join('\n')
}

function openCore(text: string, speed = 1): ExchangeCore {
  const recordings = [
    parseRecording({ bytes: Buffer.from(text), source: 'hours.csv', symbol: ETH.symbol }),
  ]
  return createExchangeCore({
    instruments: INSTRUMENTS,
    accounts: [openAccount('1', 'one_way_mode', { balances: { USDT: '100000' }, leverage: 2 })],
    market: () =>
      new RecordedMarket({
        recordings,
        speed,
        startAt: START_AT,
        instruments: [instrumentRow()],
        fallback: { seed: 1 },
      }),
    seed: 1,
  })
}

function instrumentRow() {
  return {
    symbol: ETH.symbol,
    tickSize: '0.01',
    lotSize: '0.01',
    startPrice: '1',
    dailyTurnover: 2e9,
  }
}

function advance(core: ExchangeCore, now: number): void {
  while (!core.advance(now));
}

function order(core: ExchangeCore, side: 'buy' | 'sell', now: number): void {
  const item = { side, size: '3', orderType: 'market' as const }
  dataOf(
    core.answer(
      'batchPlaceOrder',
      { uid: '1' },
      { ...ETH, marginMode: 'crossed' as const, orderList: [item] },
      now,
    ),
  )
}

function dataOf<Data>(reply: Reply<Data>): Data {
  if (!reply.ok) throw new Error(reply.message)
  return reply.data
}

function funding(core: ExchangeCore): number {
  return Number(core.ledger('1').coins.find(({ marginCoin }) => marginCoin === 'USDT')?.funding)
}

/** Of the fills of the last moments: quote coin. */
function tradedValue(core: ExchangeCore, now: number): number {
  const request = { productType: ETH.productType, startTime: String(now - HOUR_MS) }
  const { fillList } = dataOf(core.answer('orderFills', { uid: '1' }, request, now))
  return fillList.reduce(
    (sum, { price, baseVolume }) => sum + Number(price) * Number(baseVolume),
    0,
  )
}

describe('a position held for a year of recorded prices', () => {
  test('is worth what arithmetic says: its prices, its fees, and the interest as funding', () => {
    const core = openCore(hours(365 * 24))
    advance(core, START_AT)
    order(core, 'buy', START_AT)
    const bought = tradedValue(core, START_AT)
    let interest = 0
    for (let at = START_AT + 8 * HOUR_MS; at < START_AT + 364 * 24 * HOUR_MS; at += 8 * HOUR_MS) {
      advance(core, at - 1)
      const before = funding(core)
      advance(core, at)
      const { markPrice } = dataOf(core.answer('singlePosition', { uid: '1' }, ETH, at))?.[0] ?? {}
      interest += 3 * Number(markPrice) * 0.0001
      // The mark that was paid at is that of the moment before the quote of that instant.
      expect(before - funding(core)).toBeGreaterThan(0.0001 * 3 * 0.98 * Number(markPrice))
      expect(before - funding(core)).toBeLessThan(0.0001 * 3 * 1.02 * Number(markPrice))
    }
    const end = START_AT + 364 * 24 * HOUR_MS
    order(core, 'sell', end)

    const sold = tradedValue(core, end)
    const { balance } = core.ledger('1').coins.find(({ marginCoin }) => marginCoin === 'USDT') ?? {}
    const profit = sold - bought - 0.0006 * (sold + bought)
    expect(Number(balance)).toBeCloseTo(100_000 + profit + funding(core), 6)
    expect(-funding(core) / interest).toBeCloseTo(1, 2)
  })
})

describe('what a recording says beside prices', () => {
  test('is the mark price and the funding rate, from the end of its candle on', () => {
    const text = hours(40, {
      names: 'mark,fundingRate',
      row: (hour) => `${3000 + hour},${hour < 9 ? '0.0003' : '-0.0002'}`,
    })
    const core = openCore(text)
    advance(core, START_AT)
    order(core, 'buy', START_AT)

    const tickers = (now: number) =>
      dataOf(core.answer('tickers', NOBODY, { productType: 'USDT-FUTURES' }, now))[0]
    expect(tickers(START_AT + 2.5 * HOUR_MS)).toMatchObject({
      markPrice: '3001',
      fundingRate: '0.0003',
    })
    advance(core, START_AT + 8 * HOUR_MS)
    expect(funding(core)).toBeCloseTo(-3 * 3007 * 0.0003, 8)
    advance(core, START_AT + 16 * HOUR_MS)
    expect(funding(core)).toBeCloseTo(-3 * 3007 * 0.0003 + 3 * 3015 * 0.0002, 8)
  })

  test('is made up where it says nothing: no premium, and the interest', () => {
    const core = openCore(hours(40))

    const ticker = dataOf(
      core.answer('tickers', NOBODY, { productType: 'USDT-FUTURES' }, START_AT + 30 * HOUR_MS),
    )[0]

    expect(Number(ticker?.fundingRate)).toBeCloseTo(0.0001, 5)
    expect(Math.abs(Number(ticker?.indexPrice) / Number(ticker?.lastPr) - 1)).toBeLessThan(0.02)
  })
})

describe('a volume beyond counting', () => {
  test('is cut, and a day of it is still shown as a number', () => {
    const core = openCore(hours(30).replaceAll(',9000', ',1000000000000'))

    const ticker = dataOf(
      core.answer(
        'tickers',
        { uid: '1' },
        { productType: 'USDT-FUTURES' },
        START_AT + 29 * HOUR_MS,
      ),
    )[0]

    expect(Number(ticker?.baseVolume) / (24 * 1e8)).toBeCloseTo(1, 0)
  })
})

describe('a demonstration', () => {
  test('at another speed than the clock’s pays no funding', () => {
    const core = openCore(hours(100), 3)
    advance(core, START_AT)
    order(core, 'buy', START_AT)

    advance(core, START_AT + 25 * HOUR_MS)

    expect(funding(core)).toBe(0)
  })
})
