import { join } from 'node:path'
import { type Instrument, isInverse, notionalOf } from '../domain/instrument.ts'
import { type Decimal, decimal, decimalOfInteger } from '../lib/decimal.ts'
import { floatOnGrid, formatOnGrid } from '../lib/grid.ts'
import { CsvFile } from './collect/trade-table.ts'
import {
  cutIntoBuckets,
  EquitySeries,
  PlotColumns,
  PriceSeries,
  type TimeBuckets,
} from './collect/equity-series.ts'
import { PositionBook, type RoundTrip } from './collect/position-book.ts'
import type { TripSums } from './metrics.ts'
import type { AccountFigures, RestingPrices, RunFill, RunFunding } from './run-facts.ts'
import { makeDirectory } from '../lib/durable-file.ts'

export interface FillOrigin {
  readonly strategyId: string
  /** Quote coin, when the order was decided. */
  readonly middle: number
}

export interface RunOrder {
  readonly clientOid: string
  readonly orderId: string
  readonly strategyId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly ticks: number | undefined
  readonly force: string
  readonly lots: number
  readonly filledLots: number
  readonly filledTickLots: number
  readonly status: string
  readonly reason: string
  readonly sentAt: number
  readonly endedAt: number
}

/** Margin coin. */
export interface PartSums {
  orders: number
  fills: number
  traded: number
  made: number
  fees: number
  funding: number
  realised: number
  denied: number
  rejected: number
}

export interface TakerSums {
  traded: number
  slippage: number
  lateness: number
}

export interface CollectorOptions {
  readonly directory: string | undefined
  /** Undefined: it follows from the length of the run. */
  readonly bucketMs?: number | undefined
  readonly coin: string
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly fromAt: number
  readonly toAt: number
  readonly opening: number
  readonly resting: (symbol: string) => RestingPrices
}

const EXCHANGE = '(exchange)'

const ORDER_COLUMNS =
  'client_order_id,venue_order_id,instrument_id,strategy_id,order_side,order_type,time_in_force,quantity,price,filled_qty,avg_px,status,reason,ts_init,ts_last'
const FILL_COLUMNS =
  'trade_id,client_order_id,venue_order_id,instrument_id,strategy_id,order_side,last_px,last_qty,liquidity_side,commission,currency,strategy_gross_pnl,account_gross_pnl,ts_event'
const POSITION_COLUMNS =
  'instrument_id,strategy_id,entry,peak_qty,avg_px_open,avg_px_close,realized_pnl,commissions,fills,ts_opened,ts_closed,duration_ms'

/**
 * Takes events in order of time. Unbounded data go to files row by row; memory holds sums, columns
 * of fixed length, a number a day, and what is open.
 */
export class RunCollector {
  readonly options: CollectorOptions
  readonly buckets: TimeBuckets
  readonly equity: EquitySeries
  readonly prices: ReadonlyMap<string, PriceSeries>
  readonly plots: PlotColumns
  readonly trips: TripSums = { trips: 0, wins: 0, gains: 0, losses: 0 }
  readonly strategies = new Map<string, PartSums>()
  readonly instruments = new Map<string, PartSums>()
  readonly orders = new Map<string, number>()
  readonly takers: TakerSums = { traded: 0, slippage: 0, lateness: 0 }
  traded = 0
  made = 0
  fills = 0
  readonly #files: Readonly<Record<'orders' | 'fills' | 'positions', CsvFile>>
  readonly #positions = new Map<
    string,
    { strategyId: string; symbol: string; slot: string; book: PositionBook }
  >()
  readonly #lastPrices = new Map<string, number>()
  #now: number

  constructor(options: CollectorOptions) {
    const { directory, fromAt, toAt, opening, instruments, resting } = options
    if (directory !== undefined) makeDirectory(directory)
    this.options = options
    this.#now = fromAt
    this.buckets = cutIntoBuckets(fromAt, toAt, options.bucketMs)
    this.plots = new PlotColumns(this.buckets)
    this.equity = new EquitySeries(this.buckets, { startAt: fromAt, endAt: toAt }, opening)
    this.prices = new Map(
      [...instruments.keys()].map((symbol) => [
        symbol,
        new PriceSeries(this.buckets, () => resting(symbol)),
      ]),
    )
    const open = (name: string, columns: string): CsvFile =>
      new CsvFile(directory && join(directory, `${name}.csv`), columns.split(','))
    this.#files = {
      orders: open('orders', ORDER_COLUMNS),
      fills: open('fills', FILL_COLUMNS),
      positions: open('positions', POSITION_COLUMNS),
    }
  }

  price(at: number, symbol: string, last: number): void {
    this.#lastPrices.set(symbol, last)
    this.prices.get(symbol)?.take(at, last)
  }

  figures(at: number, figures: Readonly<AccountFigures>): void {
    this.#now = at
    this.equity.take(at, figures)
  }

  fill(fill: RunFill, origin: FillOrigin | undefined): void {
    const instrument = this.options.instruments.get(fill.symbol)
    if (instrument === undefined) return
    const price = floatOnGrid(instrument.tick, fill.ticks)
    const value = valueOf(instrument, fill)
    this.fills += 1
    this.traded += value
    if (fill.scope === 'maker') this.made += value
    else this.#judge(fill, { instrument, price, value, middle: origin?.middle })
    this.prices
      .get(fill.symbol)
      ?.trade(fill.at, fill.direction, { price, size: floatOnGrid(instrument.lot, fill.lots) })
    for (const { strategyId, lots } of this.#ownersOf(fill, origin))
      this.#share(fill, { strategyId, lots, instrument })
    this.#count(this.instruments, fill.symbol, fill, value)
  }

  funding({ symbol, slot, amount }: RunFunding): void {
    const paid = Number(amount.toString())
    partOf(this.instruments, symbol).funding += paid
    const held = [...this.#positions.values()].filter(
      (one) => one.symbol === symbol && one.slot === slot,
    )
    const net = held.reduce((sum, { book }) => sum + book.lots, 0)
    if (net === 0) partOf(this.strategies, EXCHANGE).funding += paid
    else
      for (const { strategyId, book } of held)
        partOf(this.strategies, strategyId).funding += (paid * book.lots) / net
  }

  order(order: RunOrder): void {
    const instrument = this.options.instruments.get(order.symbol)
    if (instrument === undefined) return
    increment(this.orders, order.status)
    for (const part of [
      partOf(this.strategies, order.strategyId),
      partOf(this.instruments, order.symbol),
    ]) {
      part.orders += 1
      if (order.status === 'REJECTED') part.rejected += 1
    }
    const { tick, lot } = instrument
    this.#files.orders.add([
      order.clientOid,
      order.orderId,
      order.symbol,
      order.strategyId,
      order.side.toUpperCase(),
      order.ticks === undefined ? 'MARKET' : 'LIMIT',
      order.force.toUpperCase(),
      formatOnGrid(lot, order.lots),
      order.ticks === undefined ? '' : formatOnGrid(tick, order.ticks),
      formatOnGrid(lot, order.filledLots),
      order.filledLots === 0
        ? ''
        : shortNumber(floatOnGrid(tick, order.filledTickLots / order.filledLots)),
      order.status,
      order.reason.replaceAll(/[",\n]/g, ' '),
      toTime(order.sentAt),
      toTime(order.endedAt),
    ])
  }

  denied(strategyId: string, symbol: string, count: number): void {
    partOf(this.strategies, strategyId).denied += count
    partOf(this.instruments, symbol).denied += count
  }

  /** Margin coin. */
  unrealisedOf(matches: { readonly strategyId?: string; readonly symbol?: string }): number {
    return [...this.#positions.values()]
      .filter(
        ({ strategyId, symbol }) =>
          (matches.strategyId ?? strategyId) === strategyId &&
          (matches.symbol ?? symbol) === symbol,
      )
      .reduce(
        (sum, { book, symbol }) => sum + book.unrealised(this.#lastPrices.get(symbol) ?? 0),
        0,
      )
  }

  mark(symbol: string, price: number): void {
    this.#lastPrices.set(symbol, price)
  }

  close(): void {
    for (const { book } of this.#positions.values()) {
      const trip = book.current()
      if (trip) this.#writeTrip(trip)
    }
    for (const file of Object.values(this.#files)) file.close()
  }

  get now(): number {
    return this.#now
  }

  #ownersOf(
    fill: RunFill,
    origin: FillOrigin | undefined,
  ): readonly { strategyId: string; lots: number }[] {
    if (origin) return [{ strategyId: origin.strategyId, lots: fill.lots }]
    const closes = fill.direction === 'buy' ? -1 : 1
    let left = fill.lots
    const shares: { strategyId: string; lots: number }[] = []
    for (const { strategyId, symbol, slot, book } of this.#positions.values()) {
      const lots =
        symbol === fill.symbol && slot === fill.slot
          ? Math.min(left, Math.max(0, book.lots * closes))
          : 0
      if (lots > 0) shares.push({ strategyId, lots })
      left -= lots
    }
    return left > 0 ? [...shares, { strategyId: EXCHANGE, lots: left }] : shares
  }

  #share(
    fill: RunFill,
    share: { readonly strategyId: string; readonly lots: number; readonly instrument: Instrument },
  ): void {
    const { strategyId, lots, instrument } = share
    const part = partOfFill(fill, lots)
    this.#count(this.strategies, strategyId, part, valueOf(instrument, part))
    const key = `${strategyId}|${fill.symbol}|${fill.slot}`
    let entry = this.#positions.get(key)
    if (entry === undefined) {
      const { symbol, slot } = fill
      const book = new PositionBook({ strategyId, instrument, slot }, (trip) =>
        this.#closeTrip(trip),
      )
      entry = { strategyId, symbol, slot, book }
      this.#positions.set(key, entry)
    }
    const realised = entry.book.take(part)
    partOf(this.strategies, strategyId).realised += realised
    partOf(this.instruments, fill.symbol).realised += realised
    this.#writeFill(part, instrument, { strategyId, realised })
  }

  #count(parts: Map<string, PartSums>, name: string, { scope, fee }: RunFill, value: number): void {
    const part = partOf(parts, name)
    part.fills += 1
    part.traded += value
    part.fees += Number(fee.toString())
    if (scope === 'maker') part.made += value
  }

  #judge(
    fill: RunFill,
    {
      instrument,
      price,
      value,
      middle,
    }: { instrument: Instrument; price: number; value: number; middle: number | undefined },
  ): void {
    const [bid, ask] = [
      floatOnGrid(instrument.tick, fill.bidTicks),
      floatOnGrid(instrument.tick, fill.askTicks),
    ]
    if (!(bid > 0 && ask > 0) || fill.isSystem) return
    const sign = fill.direction === 'buy' ? 1 : -1
    const touch = fill.direction === 'buy' ? ask : bid
    this.takers.traded += value
    this.takers.slippage += ((price - touch) * sign * value) / price
    if (middle !== undefined && middle > 0)
      this.takers.lateness += (((bid + ask) / 2 - middle) * sign * value) / price
  }

  #writeFill(
    fill: RunFill,
    { tick, lot }: Instrument,
    { strategyId, realised }: { readonly strategyId: string; readonly realised: number },
  ): void {
    this.#files.fills.add([
      fill.tradeId,
      fill.clientOid,
      fill.orderId,
      fill.symbol,
      strategyId,
      fill.direction.toUpperCase(),
      formatOnGrid(tick, fill.ticks),
      formatOnGrid(lot, fill.lots),
      fill.scope.toUpperCase(),
      fill.fee.toString(),
      this.options.coin,
      shortNumber(realised),
      fill.profit.toString(),
      toTime(fill.at),
    ])
  }

  #closeTrip(trip: RoundTrip): void {
    const profit = Number(trip.profit.minus(trip.fees).toString())
    this.trips.trips += 1
    if (profit > 0) {
      this.trips.wins += 1
      this.trips.gains += profit
    } else this.trips.losses -= profit
    this.#writeTrip(trip)
  }

  #writeTrip({ instrument, strategyId, entry, closedAt, openedAt, ...trip }: RoundTrip): void {
    this.#files.positions.add([
      instrument.symbol,
      strategyId,
      entry.toUpperCase(),
      formatOnGrid(instrument.lot, trip.peakLots),
      shortNumber(trip.openPrice),
      shortNumber(trip.closePrice),
      trip.profit.minus(trip.fees).toString(),
      trip.fees.toString(),
      trip.fills,
      toTime(openedAt),
      ...(closedAt === undefined ? ['', ''] : [toTime(closedAt), closedAt - openedAt]),
    ])
  }
}

/** Margin coin. */
function valueOf(instrument: Instrument, { ticks, lots }: Pick<RunFill, 'ticks' | 'lots'>): number {
  if (isInverse(instrument)) return floatOnGrid(instrument.lot, lots)
  return Number(notionalOf(instrument, ticks, lots).toString())
}

function partOfFill(fill: RunFill, lots: number): RunFill {
  if (lots === fill.lots) return fill
  const shareOf = (amount: Decimal): Decimal =>
    amount.times(decimalOfInteger(lots)).div(decimalOfInteger(fill.lots))
  return { ...fill, lots, fee: shareOf(fill.fee), profit: shareOf(fill.profit) }
}

function partOf(parts: Map<string, PartSums>, name: string): PartSums {
  const known = parts.get(name)
  if (known) return known
  const part = {
    orders: 0,
    fills: 0,
    traded: 0,
    made: 0,
    fees: 0,
    funding: 0,
    realised: 0,
    denied: 0,
    rejected: 0,
  }
  parts.set(name, part)
  return part
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const DIGITS = 12

function shortNumber(value: number): string {
  return Number.isNaN(value) ? '' : decimal(value.toPrecision(DIGITS)).toString()
}

function toTime(at: number): string {
  return new Date(at).toISOString()
}
