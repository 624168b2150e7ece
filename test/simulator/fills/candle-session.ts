import { type Random } from '../../../src/lib/random.ts'
import {
  createExchangeCore,
  type ExchangeCore,
} from '../../../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  nextQuarterlyDelivery,
} from '../../../src/simulator/futures/instruments/instruments.ts'
import { type FillModelName } from '../../../src/simulator/matching/fill-model.ts'
import { type CandlePathKind } from '../../../src/simulator/market/recorded/candle-path.ts'
import { RecordedMarket } from '../../../src/simulator/market/recorded/recorded-market.ts'
import { parseRecording } from '../../../src/prices/parse-recording.ts'
import { dataOf, openAccount } from '../futures/bench.ts'

export const START_AT = Date.UTC(2025, 5, 1)
export const MINUTE_MS = 60_000
const ETH = { symbol: 'ETHUSDT', productType: 'USDT-FUTURES', marginCoin: 'USDT' } as const

/** Prices in ticks of 0.01, the volume in lots of 0.01. */
export interface Candle {
  readonly at: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly lots: number
}

/** An order that lives from the open of one candle to the end of another. */
export interface TestOrder {
  readonly from: number
  readonly to: number
  readonly side: 'buy' | 'sell'
  readonly lots: number
  /** None: a market order. */
  readonly ticks: number | undefined
}

export interface TestFill {
  /** Of the order. */
  readonly index: number
  readonly at: number
  readonly ticks: number
  readonly lots: number
  readonly scope: string
  readonly fee: string
}

/** A price that wanders and jumps; some candles a tick wide, some without a trade, some after a gap. */
export function drawCandles(random: Random, count: number): Candle[] {
  let at = START_AT
  let open = 260_000
  return Array.from({ length: count }, () => {
    const kind = random.next()
    const reach = kind < 0.1 ? 0 : kind < 0.3 ? 1 : 80
    const close = open + Math.round(reach * random.normal())
    const high = Math.max(open, close) + (reach > 0 ? random.integer(reach) : 0)
    const low = Math.min(open, close) - (reach > 0 ? random.integer(reach) : 0)
    const candle = {
      at,
      open,
      high,
      low,
      close,
      lots: random.next() < 0.1 ? 0 : random.integer(4000),
    }
    const jump = random.next() < 0.1 ? Math.round(100 * random.normal()) : 0
    open = Math.max(200_000, Math.min(320_000, close + jump))
    at += random.next() < 0.05 ? 37 * MINUTE_MS : MINUTE_MS
    return candle
  })
}

/** One after the other; every other limit order stands exactly at an extreme of its time. */
export function drawOrders(random: Random, candles: readonly Candle[]): TestOrder[] {
  const orders: TestOrder[] = []
  let from = 1
  while (from + 4 < candles.length) {
    const to = from + random.integer(4)
    const side = random.next() < 0.5 ? 'buy' : 'sell'
    const lived = candles.slice(from, to + 1)
    const extreme =
      side === 'buy'
        ? Math.min(...lived.map(({ low }) => low))
        : Math.max(...lived.map(({ high }) => high))
    const near = (lived[0] as Candle).open + Math.round(80 * random.normal())
    const limit = random.next() < 0.5 ? extreme : near
    const ticks = random.next() < 0.2 ? undefined : limit
    orders.push({ from, to, side, lots: 1 + random.integer(random.next() < 0.5 ? 5 : 120), ticks })
    from = to + 1
  }
  return orders
}

export interface Session {
  readonly candles: readonly Candle[]
  readonly orders: readonly TestOrder[]
  readonly fillModel: FillModelName
  readonly candlePath: CandlePathKind
  /** Further instants at which the exchange is asked to play on. */
  readonly cuts?: Random
}

/** Plays the candles through the exchange with the orders. @returns its fills, the oldest first, and its books. */
export function playSession({ candles, orders, fillModel, candlePath, cuts }: Session) {
  const core = openCandles(candleText(candles), { fillModel, candlePath })
  const fills: TestFill[] = []
  for (const [index, { from, to, side, lots, ticks }] of orders.entries()) {
    const [first, last] = [candles[from] as Candle, candles[to] as Candle]
    const price =
      ticks === undefined ? {} : { price: (ticks / 100).toFixed(2), force: 'gtc' as const }
    const orderType = ticks === undefined ? ('market' as const) : ('limit' as const)
    const item = { side, orderType, size: (lots / 100).toFixed(2), ...price }
    const request = { ...ETH, marginMode: 'crossed' as const, orderList: [item] }
    playTo(core, first.at, cuts)
    const { successList } = dataOf(core.answer('batchPlaceOrder', { uid: '1' }, request, first.at))
    if (successList.length !== 1) throw new Error('an order was refused')
    const end = last.at + MINUTE_MS - 1
    playTo(core, end, cuts)
    core.answer('cancelAllOrders', { uid: '1' }, ETH, end)
    fills.push(
      ...fillsOf(core, end, successList[0]?.orderId ?? '').map((fill) => ({ index, ...fill })),
    )
  }
  return { fills, ledger: core.ledger('1') }
}

export function openCandles(
  text: string,
  options: { readonly fillModel?: FillModelName; readonly candlePath?: CandlePathKind } = {},
): ExchangeCore {
  const { fillModel = 'default', candlePath = 'random' } = options
  const instruments = buildInstruments(nextQuarterlyDelivery(START_AT)).filter(
    ({ symbol }) => symbol === ETH.symbol,
  )
  const instrument = {
    symbol: ETH.symbol,
    tickSize: '0.01',
    lotSize: '0.01',
    startPrice: '1',
    dailyTurnover: 2e9,
  }
  const recordings = [
    parseRecording({ bytes: Buffer.from(text), source: 'candles.csv', symbol: ETH.symbol }),
  ]
  return createExchangeCore({
    instruments,
    accounts: [openAccount('1', 'one_way_mode', { balances: { USDT: '100000000' } })],
    settings: { fillModel },
    market: () =>
      new RecordedMarket({
        recordings,
        speed: 1,
        startAt: START_AT,
        instruments: [instrument],
        fallback: { seed: 1 },
        candlePath,
      }),
    seed: 1,
  })
}

function candleText(candles: readonly Candle[]): string {
  const rows = candles.map(({ at, open, high, low, close, lots }) =>
    [at, ...[open, high, low, close, lots].map((value) => value / 100)].join(','),
  )
  return ['ts_ms,open,high,low,close,volume', ...rows].join('\n')
}

function playTo(core: ExchangeCore, until: number, cuts: Random | undefined): void {
  for (let cut = 0; cuts !== undefined && cut < 3; cut++) {
    const from = Math.max(START_AT, core.now)
    core.advance(from + cuts.integer(Math.max(1, until - from)))
  }
  while (!core.advance(until));
}

/** Of one order, the oldest first: at most a page. */
function fillsOf(core: ExchangeCore, now: number, orderId: string): Omit<TestFill, 'index'>[] {
  const request = { productType: ETH.productType, symbol: ETH.symbol, orderId, limit: '100' }
  const { fillList } = dataOf(core.answer('orderFills', { uid: '1' }, request, now))
  return fillList.toReversed().map(({ cTime, price, baseVolume, tradeScope, feeDetail }) => ({
    at: Number(cTime),
    ticks: Math.round(Number(price) * 100),
    lots: Math.round(Number(baseVolume) * 100),
    scope: tradeScope ?? '',
    fee: feeDetail?.[0]?.totalFee ?? '',
  }))
}
