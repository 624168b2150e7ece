import {
  type FillsPageQuery,
  type PlacedBatch,
  type SimulatedExchange,
} from '../../src/backtest/direct-exchange.ts'
import { type Instrument } from '../../src/domain/instrument.ts'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { formatOnGrid, nearestStep } from '../../src/lib/grid.ts'
import { type ResponseOf } from '../../src/protocol/endpoints.ts'
import {
  type BatchPlaceItem,
  type BatchPlaceRequest,
} from '../../src/protocol/futures/batch-place-order.ts'
import { type CancelAllRequest } from '../../src/protocol/futures/cancel-all-orders.ts'
import { type WirePosition } from '../../src/protocol/futures/single-position.ts'
import { type BatchResult } from '../../src/protocol/values.ts'
import { accept, type Reply } from '../../src/simulator/shared/reply.ts'
import { SoakFills } from './soak-fills.ts'
import { SoakLedger } from './soak-ledger.ts'
import { type SoakMarket } from './soak-market.ts'

export interface SoakExchangeOptions {
  readonly instruments: ReadonlyMap<string, Instrument>
  /** The best bid of each instrument in ticks at an instant (Unix ms); the best ask is one tick above. */
  readonly market: Pick<SoakMarket, 'bidTicksAt'>
  /** Unix ms, exchange clock. */
  readonly now: () => number
}

/** An order that rests. Prices in ticks, sizes in lots. */
interface RestingOrder {
  readonly number: number
  readonly clientOid: string
  readonly side: 'buy' | 'sell'
  readonly ticks: number
  readonly lots: number
  openLots: number
}

/** What rests of one instrument. */
interface Resting {
  readonly symbol: string
  readonly orders: Map<string, RestingOrder>
  /** The highest buy and the lowest sell, in ticks; without one -Infinity and Infinity. */
  nearest: { readonly buy: number; readonly sell: number }
}

/** What is asked for, with the numbers on the grid; a market order has no ticks. */
interface AskedOrder extends Omit<RestingOrder, 'ticks' | 'openLots'> {
  readonly symbol: string
  readonly ticks: number | undefined
  readonly force: BatchPlaceItem['force']
  readonly reduceOnly: boolean
}

/** Of these orders, by number, one is filled in two parts: every third. */
const IN_PARTS = 3
/** And of those that take, one is filled by half and then over: every seventh. */
const BY_HALF = 7
/** The document gives no code; this one is a definite refusal for the price. */
const WOULD_TAKE = { errorCode: '40815', errorMsg: 'post only, and it would take' }

/**
 * An exchange that costs little and remembers little, so that what grows in a soak is ours: prices that follow
 * waves, orders that are filled at once, later, in parts, by half or never, and fills for as long as they can be
 * asked for. One-way mode, one account.
 */
export class SoakExchange implements SimulatedExchange {
  readonly #instruments: ReadonlyMap<string, Instrument>
  readonly #market: SoakExchangeOptions['market']
  readonly #now: () => number
  readonly #resting: ReadonlyMap<string, Resting>
  readonly #fills = new SoakFills()
  readonly ledger = new SoakLedger()
  readonly counts = { orders: 0, rejected: 0, cancelled: 0, cancelAlls: 0, fills: 0 }
  #orders = 0
  /** Unix ms, exchange clock. */
  #matchedAt = 0

  constructor({ instruments, market, now }: SoakExchangeOptions) {
    this.#instruments = instruments
    this.#market = market
    this.#now = now
    this.#resting = new Map(
      [...instruments.keys()].map((symbol) => [
        symbol,
        { symbol, orders: new Map(), nearest: NOTHING_NEAR },
      ]),
    )
  }

  /** The names of what rests. */
  get restingOids(): readonly string[] {
    return [...this.#resting.values()].flatMap(({ orders }) => [...orders.keys()])
  }

  placeBatch({ body }: PlacedBatch): Reply<BatchResult> {
    this.#matchResting()
    const { symbol, orderList } = JSON.parse(body) as BatchPlaceRequest
    const result: BatchResult = { successList: [], failureList: [] }
    for (const item of orderList) this.#place(symbol, item, result)
    return accept(result)
  }

  cancelAll(body: string): Reply<BatchResult> {
    this.#matchResting()
    const { symbol } = JSON.parse(body) as CancelAllRequest
    const successList = [...this.#resting.values()]
      .filter((resting) => symbol === undefined || resting.symbol === symbol)
      .flatMap((resting) => {
        const cancelled = [...resting.orders.values()].map(({ number, clientOid }) => ({
          orderId: orderIdOf(number),
          clientOid,
        }))
        resting.orders.clear()
        resting.nearest = NOTHING_NEAR
        return cancelled
      })
    this.counts.cancelAlls += 1
    this.counts.cancelled += successList.length
    return accept({ successList, failureList: [] })
  }

  fillsPage(query: FillsPageQuery): Reply<ResponseOf<'orderFills'>> {
    this.#matchResting()
    return accept(this.#fills.page(query))
  }

  position(symbol: string): Reply<WirePosition[] | null> {
    this.#matchResting()
    const instrument = this.#instrument(symbol)
    const { lots } = this.ledger.holdingOf(symbol)
    if (lots === 0) return accept([])
    const position: Partial<WirePosition> = {
      symbol,
      marginCoin: instrument.marginCoin,
      holdSide: lots > 0 ? 'long' : 'short',
      total: formatOnGrid(instrument.lot, Math.abs(lots)),
      posMode: 'one_way_mode',
    }
    return accept([position as WirePosition])
  }

  readTickers(table: TickerTable): void {
    this.#matchResting()
    table.clear()
    for (const symbol of this.#instruments.keys()) {
      const row = table.claimRow(symbol)
      const bid = this.#market.bidTicksAt(symbol, this.#now())
      const { columns } = table
      columns.bidPr[row] = bid / 10
      columns.askPr[row] = (bid + 1) / 10
      columns.lastPr[row] = bid / 10
      columns.ts[row] = this.#now()
    }
  }

  #place(symbol: string, item: BatchPlaceItem, result: BatchResult): void {
    const { clientOid = '' } = item
    const resting = this.#resting.get(symbol)
    if (resting === undefined) throw new Error(`${symbol} is not listed`)
    if (resting.orders.has(clientOid)) throw new Error(`${clientOid} is doubled`)
    const order = this.#toOrder(symbol, item)
    const touch = this.#touchOf(symbol, order.side)
    const takes = order.ticks === undefined || isReached(order.side, order.ticks, touch)
    this.counts.orders += 1
    if (takes && order.force === 'post_only') {
      this.counts.rejected += 1
      result.failureList.push({ orderId: '', clientOid, ...WOULD_TAKE })
      return
    }
    result.successList.push({ orderId: orderIdOf(order.number), clientOid })
    const openLots = order.lots - (takes ? this.#take(order, touch) : 0)
    const { number, side, ticks, lots, force } = order
    if (ticks === undefined || openLots === 0 || (force !== 'gtc' && force !== 'post_only')) return
    resting.orders.set(clientOid, { number, clientOid, side, ticks, lots, openLots })
    resting.nearest = nearestOf(resting.orders.values())
  }

  #toOrder(
    symbol: string,
    { size, price, side, force, clientOid = '', reduceOnly }: BatchPlaceItem,
  ): AskedOrder {
    const { lot, tick } = this.#instrument(symbol)
    return {
      number: ++this.#orders,
      symbol,
      clientOid,
      side,
      force,
      ticks: price === undefined ? undefined : nearestStep(tick, Number(price)),
      lots: nearestStep(lot, Number(size)),
      reduceOnly: reduceOnly === 'YES',
    }
  }

  /** Returns how many lots were filled: all, half, or what the position allows. */
  #take(order: AskedOrder, ticks: number): number {
    const { number, symbol, side, lots, force, reduceOnly } = order
    const held = this.ledger.holdingOf(symbol).lots
    const free = reduceOnly ? Math.max(0, side === 'sell' ? held : -held) : lots
    const isByHalf = number % BY_HALF === 0 && (force === 'gtc' || force === 'ioc')
    const taken = Math.min(free, isByHalf ? Math.ceil(lots / 2) : lots)
    const first = number % IN_PARTS === 0 ? Math.floor(taken / 2) : 0
    for (const part of [first, taken - first]) {
      if (part > 0) this.#fill({ number, symbol, side, ticks, lots: part, isMaker: false })
    }
    return taken
  }

  /** What the market has reached is filled: some in two parts, the second when the exchange is asked later. */
  #matchResting(): void {
    const now = this.#now()
    if (now === this.#matchedAt) return
    this.#matchedAt = now
    for (const resting of this.#resting.values()) {
      const { symbol, orders, nearest } = resting
      const touches = { buy: this.#touchOf(symbol, 'buy'), sell: this.#touchOf(symbol, 'sell') }
      if (nearest.buy < touches.buy && nearest.sell > touches.sell) continue
      for (const order of orders.values()) {
        if (isReached(order.side, order.ticks, touches[order.side]))
          this.#fillResting(resting, order)
      }
      resting.nearest = nearestOf(orders.values())
    }
  }

  #fillResting({ symbol, orders }: Resting, order: RestingOrder): void {
    const { number, side, ticks, openLots, clientOid } = order
    const isWhole = openLots === order.lots
    const lots = isWhole && number % IN_PARTS === 0 ? Math.ceil(openLots / 2) : openLots
    this.#fill({ number, symbol, side, ticks, lots, isMaker: true })
    order.openLots -= lots
    if (order.openLots === 0) orders.delete(clientOid)
  }

  #fill(fill: Omit<Parameters<SoakLedger['book']>[0], 'at'>): void {
    this.counts.fills += 1
    const booked = this.ledger.book(fill)
    this.#fills.add(this.#instrument(fill.symbol), {
      ...fill,
      ...booked,
      orderId: orderIdOf(fill.number),
      at: this.#now(),
    })
  }

  /** What an order of this side would trade at, in ticks. */
  #touchOf(symbol: string, side: 'buy' | 'sell'): number {
    return this.#market.bidTicksAt(symbol, this.#now()) + (side === 'buy' ? 1 : 0)
  }

  #instrument(symbol: string): Instrument {
    const instrument = this.#instruments.get(symbol)
    if (!instrument) throw new Error(`${symbol} is not listed`)
    return instrument
  }
}

const NOTHING_NEAR: Resting['nearest'] = { buy: -Infinity, sell: Infinity }

function nearestOf(orders: Iterable<RestingOrder>): Resting['nearest'] {
  let { buy, sell } = NOTHING_NEAR
  for (const { side, ticks } of orders) {
    if (side === 'buy') buy = Math.max(buy, ticks)
    else sell = Math.min(sell, ticks)
  }
  return { buy, sell }
}

function isReached(side: 'buy' | 'sell', ticks: number, touch: number): boolean {
  return side === 'buy' ? ticks >= touch : ticks <= touch
}

function orderIdOf(number: number): string {
  return String(1_000_000_000_000_000 + number)
}
