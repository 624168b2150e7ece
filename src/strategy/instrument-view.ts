import { type Instrument } from '../domain/instrument.ts'
import {
  type CancelAllIntent,
  type CancelMarginIntent,
  type CopySettingsIntent,
  type ModifyTriggerIntent,
  type PlaceIntent,
  type QuoteIntent,
  type QuoteLevel,
  type TargetIntent,
} from '../domain/intent.ts'
import { FLAT, netLots } from '../domain/position.ts'
import { type InstrumentMoment, type Snapshot } from '../domain/snapshot.ts'
import {
  DELIVERY_STATES,
  type DeliveryState,
  type TickerColumn,
  TickerTable,
} from '../domain/ticker-table.ts'
import { deepFreeze } from '../lib/plain-data.ts'
import { floatOnGrid, nearestStep, parseOnGrid, stepAbove, stepBelow } from '../lib/grid.ts'
import { type InstrumentRules } from './instrument-rules.ts'
import { type OpenOrder, toOpenOrder } from './open-order.ts'
import { strategyFailure } from './strategy-failure.ts'

/**
 * One instrument at one moment, as a strategy sees it. Every getter reads straight from the columns of the
 * ticker table; the view is made once and pointed at each snapshot in turn, so it is valid inside `decide`
 * only. Market data are floats, and NaN where the exchange said nothing; prices and sizes of orders are
 * whole ticks and lots.
 */
export class InstrumentView implements InstrumentRules {
  readonly symbol: string
  readonly tickSize: string
  readonly lotSize: string
  readonly lotsMin: number
  readonly #instrument: Instrument
  #tickers = NO_TICKERS
  #row = -1
  #moment: Omit<InstrumentMoment, 'instrument'> = NOTHING_YET
  #exchangeTime = 0
  #orders: readonly OpenOrder[] | undefined
  /** The size that was asked for last, and its lots: as a rule the same at each decision. */
  #size: string | undefined
  #lots = 0

  constructor(instrument: Instrument) {
    this.#instrument = instrument
    this.symbol = instrument.symbol
    this.tickSize = instrument.tick.step
    this.lotSize = instrument.lot.step
    this.lotsMin = instrument.lotsMin
  }

  /** For the runner: looks at another moment from now on, or at none. */
  pointAt(snapshot: Snapshot, moment: InstrumentMoment | undefined): void {
    this.#tickers = snapshot.tickers
    this.#row = moment === undefined ? -1 : snapshot.tickers.rowOf(this.symbol)
    if (moment === undefined || moment !== this.#moment) this.#orders = undefined
    this.#moment = moment ?? NOTHING_YET
    this.#exchangeTime = snapshot.exchangeTime
  }

  /** Best bid and ask, in quote coin, and what rests there, in base coin. */
  get bid(): number {
    return this.#read('bidPr')
  }
  get ask(): number {
    return this.#read('askPr')
  }
  get bidSize(): number {
    return this.#read('bidSz')
  }
  get askSize(): number {
    return this.#read('askSz')
  }
  /** Half way between bid and ask; seldom on the grid. */
  get mid(): number {
    return (this.bid + this.ask) / 2
  }
  get last(): number {
    return this.#read('lastPr')
  }
  /** Best bid and ask, in ticks. */
  get bidTicks(): number {
    return nearestStep(this.#instrument.tick, this.bid)
  }
  get askTicks(): number {
    return nearestStep(this.#instrument.tick, this.ask)
  }
  /** Whether both sides have a price, and the bid is not above the ask. */
  get hasPrices(): boolean {
    return this.bid > 0 && this.ask >= this.bid
  }
  get index(): number {
    return this.#read('indexPrice')
  }
  /** A ratio for one funding period: 0.0001 is one basis point. */
  get fundingRate(): number {
    return this.#read('fundingRate')
  }
  /** Open interest, in base coin. */
  get openInterest(): number {
    return this.#read('holdingAmount')
  }
  get open24h(): number {
    return this.#read('open24h')
  }
  get high24h(): number {
    return this.#read('high24h')
  }
  get low24h(): number {
    return this.#read('low24h')
  }
  /** A ratio: 0.01 is one per cent. */
  get change24h(): number {
    return this.#read('change24h')
  }
  /** Volume of 24 hours, in base and in quote coin. */
  get baseVolume24h(): number {
    return this.#read('baseVolume')
  }
  get quoteVolume24h(): number {
    return this.#read('quoteVolume')
  }
  /** Undefined for a contract without delivery. */
  get deliveryState(): DeliveryState | undefined {
    return DELIVERY_STATES[this.#read('deliveryStatus')]
  }
  /** Unix ms, exchange clock, when the exchange made this ticker. */
  get tickerAt(): number {
    return this.#read('ts')
  }
  /** How old the ticker is, in ms, both ends on the exchange's clock. */
  get ageMs(): number {
    return this.#exchangeTime - this.tickerAt
  }

  /** What the strategy's own orders have built up, in lots: long less short, and each side. */
  get netLots(): number {
    return netLots(this.#moment.holding)
  }
  get longLots(): number {
    return this.#moment.holding.longLots
  }
  get shortLots(): number {
    return this.#moment.holding.shortLots
  }
  /** What the whole account holds, in lots: long less short, and each side. */
  get accountNetLots(): number {
    return netLots(this.#moment.accountHolding)
  }
  get accountLongLots(): number {
    return this.#moment.accountHolding.longLots
  }
  get accountShortLots(): number {
    return this.#moment.accountHolding.shortLots
  }
  /** Unix ms, our clock, when the exchange last confirmed what the account holds; 0 never. */
  get positionReadAt(): number {
    return this.#moment.positionReadAt
  }
  /** The strategy's own orders that may still be filled; a frozen copy, made when it is first asked for. */
  get orders(): readonly OpenOrder[] {
    return (this.#orders ??= deepFreeze(this.#moment.orders.map(toOpenOrder)))
  }

  ticksBelow(price: number): number {
    return stepBelow(this.#instrument.tick, price)
  }
  ticksAbove(price: number): number {
    return stepAbove(this.#instrument.tick, price)
  }
  price(ticks: number): number {
    return floatOnGrid(this.#instrument.tick, ticks)
  }
  lots(size: string): number {
    if (size === this.#size) return this.#lots
    const lots = parseOnGrid(this.#instrument.lot, size)
    if (lots !== undefined) {
      this.#size = size
      this.#lots = lots
      return lots
    }
    throw strategyFailure('SIZE_OFF_GRID', {
      facts: { instrument: this.symbol, size, lot: this.lotSize },
      hint: `write a multiple of ${this.lotSize} as a string`,
    })
  }
  lotsBelow(size: number): number {
    return stepBelow(this.#instrument.lot, size)
  }
  size(lots: number): number {
    return floatOnGrid(this.#instrument.lot, lots)
  }

  /** "These, and only these, are the orders that I want resting here." */
  quote(levels: readonly QuoteLevel[]): QuoteIntent {
    return { kind: 'quote', symbol: this.symbol, levels }
  }
  /** "This is the position that I want", in lots: positive long, negative short. */
  target(lots: number): TargetIntent {
    return { kind: 'target', symbol: this.symbol, lots }
  }
  /** One order. The same `key` is the same order for ever: emitted again, it is dropped. */
  place(order: Omit<PlaceIntent, 'kind' | 'symbol'>): PlaceIntent {
    return { kind: 'place', symbol: this.symbol, ...order }
  }
  /** "Nothing of mine rests here." */
  cancelAll(): CancelAllIntent {
    return { kind: 'cancelAll', symbol: this.symbol }
  }
  /** Changes a pending trigger order: `null` removes, absent keeps. */
  modifyTrigger(change: Omit<ModifyTriggerIntent, 'kind' | 'symbol'>): ModifyTriggerIntent {
    return { kind: 'modifyTrigger', symbol: this.symbol, ...change }
  }

  /** Cancels orders of isolated margin here: those named, or all. The same `key` is the same call for ever. */
  cancelMargin(call: Omit<CancelMarginIntent, 'kind' | 'symbol'>): CancelMarginIntent {
    return { kind: 'cancelMargin', symbol: this.symbol, ...call }
  }
  /** Changes how copy traders may follow here; `null` cancels a ratio, absent keeps it. */
  copySettings(change: Omit<CopySettingsIntent, 'kind' | 'symbol'>): CopySettingsIntent {
    return { kind: 'copySettings', symbol: this.symbol, ...change }
  }

  #read(column: TickerColumn): number {
    return this.#tickers.columns[column][this.#row] ?? Number.NaN
  }
}

/** What a view shows before it was pointed at anything: no prices, nothing held. */
const NO_TICKERS = new TickerTable(1)
const NOTHING_YET = { holding: FLAT, accountHolding: FLAT, positionReadAt: 0, orders: [] }
