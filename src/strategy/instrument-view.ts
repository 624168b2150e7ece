import { type DecisionNotes, type StrategyWait, WAIT_LENGTH_MAX } from '../domain/strategy-wait.ts'
import { isPlotName, PLOT_NAMES_MAX, type PlotPoint } from '../domain/plot.ts'
import { candleKey, type CandleSeries, openOf, parseInterval } from '../domain/candles.ts'
import { type Instrument, isCountable, isInverse } from '../domain/instrument.ts'
import type {
  CancelAllIntent,
  CancelMarginIntent,
  CopySettingsIntent,
  ModifyTriggerIntent,
  PlaceIntent,
  QuoteIntent,
  QuoteLevel,
  TargetIntent,
} from '../domain/intent.ts'
import { FLAT, netLots } from '../domain/position.ts'
import type { OwnFill, PositionMark } from '../domain/own-trades.ts'
import type { AccountMoment, InstrumentMoment, MomentExit, Snapshot } from '../domain/snapshot.ts'
import {
  DELIVERY_STATES,
  type DeliveryState,
  type TickerColumn,
  TickerTable,
} from '../domain/ticker-table.ts'
import { fundingInstantAfter } from '../domain/unseen-funding.ts'
import { floatOnGrid, nearestStep, parseOnGrid, stepAbove, stepBelow } from '../lib/grid.ts'
import { CandleView } from './views/candle-view.ts'
import { indicatorValue } from './indicators/indicator-values.ts'
import type { IndicatorValues, NoIndicators } from './indicators/specs.ts'
import type { InstrumentRules } from './instrument-rules.ts'
import { NO_NEEDS, type ResolvedNeeds } from './needs.ts'
import { buildLiquidation, type LiquidationView } from './views/liquidation-view.ts'
import { type OpenOrder, toOpenOrder } from './views/open-order.ts'
import { refuseUnknownMembers, refuseUnknownNames } from './views/unknown-names.ts'
import { strategyFailure } from './strategy-failure.ts'

const DAY_MS = 86_400_000

/** See {@link InstrumentView.lotsForRisk}. */
export interface RiskedSize {
  /** A share of the strategy's capital: 0.01 is 1 %. */
  readonly share: number
  /** Quote coin, above zero. */
  readonly distance?: number
}

/** Price in quote coin; paid fee and profit in the margin coin. */
export interface OwnFillView extends Omit<OwnFill, 'fee' | 'profit'> {
  readonly price: number
  readonly fee: number
  readonly profit: number
}

/**
 * A view is reused for each snapshot, so it is valid only inside `decide`. Market data are floats,
 * NaN if missing; prices and sizes of orders are whole ticks and lots.
 */
export class InstrumentView<Indicators = NoIndicators> implements InstrumentRules {
  readonly symbol: string
  readonly tickSize: string
  readonly lotSize: string
  readonly lotsMin: number
  readonly #instrument: Instrument
  readonly #plots: PlotSheet | undefined
  #tickers = NO_TICKERS
  #row = -1
  #moment: Omit<InstrumentMoment, 'instrument'> = NOTHING_YET
  #exchangeTime = 0
  #orders: readonly OpenOrder[] | undefined
  #size: string | undefined
  #lots = 0

  /** Keyed by declared name; undefined until there are enough closed candles. */
  readonly indicators: IndicatorValues<Indicators>
  readonly #candles: ReadonlyMap<number, CandleView>
  #series: ReadonlyMap<string, CandleSeries> = NO_SERIES
  #account: AccountMoment | undefined

  constructor(
    instrument: Instrument,
    { candles, indicators }: ResolvedNeeds = NO_NEEDS,
    plots?: PlotSheet,
  ) {
    this.#instrument = instrument
    this.#plots = plots
    this.symbol = instrument.symbol
    this.tickSize = instrument.tick.step
    this.lotSize = instrument.lot.step
    this.lotsMin = instrument.lotsMin
    this.#candles = new Map([...candles.keys()].map((intervalMs) => [intervalMs, new CandleView()]))
    this.indicators = this.#createIndicators(indicators)
  }

  pointAt(snapshot: Snapshot, moment: InstrumentMoment | undefined): void {
    this.#tickers = snapshot.tickers
    this.#row = moment === undefined ? -1 : snapshot.tickers.rowOf(this.symbol)
    if (moment === undefined || moment !== this.#moment) this.#orders = undefined
    this.#moment = moment ?? NOTHING_YET
    this.#exchangeTime = snapshot.exchangeTime
    this.#series = snapshot.candles
    this.#account = snapshot.account
    for (const [intervalMs, view] of this.#candles)
      view.pointAt(snapshot.candles.get(candleKey(this.symbol, intervalMs)))
  }

  /** Quote coin, with sizes in base coin. */
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
  /** Seldom on the grid of ticks. */
  get mid(): number {
    return (this.bid + this.ask) / 2
  }
  get last(): number {
    return this.#read('lastPr')
  }
  get bidTicks(): number {
    return nearestStep(this.#instrument.tick, this.bid)
  }
  get askTicks(): number {
    return nearestStep(this.#instrument.tick, this.ask)
  }
  /** True if both sides have prices that ticks can count, and do not cross. */
  get hasPrices(): boolean {
    return this.bid > 0 && this.ask >= this.bid && isCountable(this.#instrument, this.ask)
  }
  get index(): number {
    return this.#read('indexPrice')
  }
  /** For one funding period: 0.0001 is one basis point. */
  get fundingRate(): number {
    return this.#read('fundingRate')
  }
  /** In base coin. */
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
  /** Ratio: 0.01 is one per cent. */
  get change24h(): number {
    return this.#read('change24h')
  }
  /** In base and in quote coin. */
  get baseVolume24h(): number {
    return this.#read('baseVolume')
  }
  get quoteVolume24h(): number {
    return this.#read('quoteVolume')
  }
  /** Quote coin; NaN without trades. */
  get vwap24h(): number {
    return this.quoteVolume24h / this.baseVolume24h
  }
  /** Undefined for a contract without delivery. */
  get deliveryState(): DeliveryState | undefined {
    return DELIVERY_STATES[this.#read('deliveryStatus')]
  }
  /**
   * Take-profits and stop-losses that the exchange keeps for the position, with the ids that
   * `modifyTrigger` takes; empty where they are not listed (`exchange.beyondDocumentPrivate`).
   */
  get exchangeExits(): readonly MomentExit[] {
    const { exchangeExits = [] } = this.#moment
    return Object.freeze(exchangeExits.map((exit) => Object.freeze({ ...exit })))
  }
  /** True if the instrument leaves the strategy's universe: its position may only be reduced. */
  get isLeaving(): boolean {
    return this.#moment.isLeaving === true
  }
  /** Unix ms, exchange clock. */
  get tickerAt(): number {
    return this.#read('ts')
  }
  get ageMs(): number {
    return this.#exchangeTime - this.tickerAt
  }

  /** Lots that the strategy's own orders built up; net is long minus short. */
  get netLots(): number {
    return netLots(this.#moment.holding)
  }
  get longLots(): number {
    return this.#moment.holding.longLots
  }
  get shortLots(): number {
    return this.#moment.holding.shortLots
  }
  /**
   * Average price of the strategy's own fills, in quote coin; in hedge mode that of the larger
   * side. NaN without a holding, or if its own fills do not explain it.
   */
  get entryPrice(): number {
    const { holding, trades } = this.#moment
    const side = holding.longLots >= holding.shortLots ? 'long' : 'short'
    const lots = holding[`${side}Lots`]
    if (lots === 0 || trades === undefined || trades.entry[`${side}Lots`] < lots) return Number.NaN
    return trades.entry[`${side}Ticks`] * this.price(1)
  }
  /** Result of closing the net holding at the mark price, in quote coin, before fees. */
  get unrealisedProfit(): number {
    const { netLots: lots } = this
    return lots === 0
      ? 0
      : (this.markPrice - this.entryPrice) * Math.sign(lots) * this.size(Math.abs(lots))
  }
  /**
   * Profit that the strategy's fills realised here since the journal began (margin coin, before
   * fees); `realisedToday` is that of this UTC day.
   */
  get realisedProfit(): number {
    return Number(this.#moment.money?.profit.toString() ?? 0)
  }
  get realisedToday(): number {
    return this.#isToday ? Number(this.#moment.trades?.dayProfit) : 0
  }
  /** Negative if received. */
  get fees(): number {
    return Number(this.#moment.money?.fees.toString() ?? 0)
  }
  get feesToday(): number {
    return this.#isToday ? Number(this.#moment.trades?.dayFees) : 0
  }
  /** Copies of the strategy's last fills here, at most 50, newest last. */
  get fills(): readonly OwnFillView[] {
    return (this.#moment.trades?.fills ?? []).map(({ fee, profit, ...fill }) => ({
      ...fill,
      price: this.price(fill.ticks),
      fee: Number(fee),
      profit: Number(profit),
    }))
  }
  /**
   * The exchange's mark price while the account holds a position, else the index price, because
   * tickers have no mark price.
   */
  get markPrice(): number {
    return this.markSource === 'position' ? (this.#mark?.markPrice ?? Number.NaN) : this.index
  }
  get markSource(): 'position' | 'index' {
    return (this.#mark?.markPrice ?? 0) > 0 ? 'position' : 'index'
  }
  /** Where the account's position is liquidated; undefined without one, or if unknown. */
  get liquidation(): LiquidationView | undefined {
    return buildLiquidation(this.#account?.distances.get(this.symbol))
  }
  /** Unix ms, exchange clock: by the instrument's fundingHours, else by the configured calendar. */
  get nextFundingAt(): number | undefined {
    const minutes = this.#instrument.fundingMinutes ?? this.#account?.fundingMinutes ?? []
    return minutes.length === 0 ? undefined : fundingInstantAfter(minutes, this.#exchangeTime)
  }
  /** Lots of the whole account; net is long minus short. */
  get accountNetLots(): number {
    return netLots(this.#moment.accountHolding)
  }
  get accountLongLots(): number {
    return this.#moment.accountHolding.longLots
  }
  get accountShortLots(): number {
    return this.#moment.accountHolding.shortLots
  }
  /**
   * When the exchange last confirmed the position; Unix ms, our clock; 0 if not yet in this run.
   */
  get positionReadAt(): number {
    return this.#moment.positionReadAt
  }
  /** The strategy's own orders that may still be filled; frozen copies, made on first use. */
  get orders(): readonly OpenOrder[] {
    return (this.#orders ??= Object.freeze(this.#moment.orders.map(toOpenOrder)))
  }

  /** Closed candles of a declared interval. @throws Failure for another */
  candles(interval: string): CandleView {
    const view = this.#candles.get(parseInterval(interval) ?? 0)
    if (view) return view
    throw strategyFailure('STRATEGY_NEEDS', {
      facts: { found: `candles of ${interval} of ${this.symbol}, which are not declared` },
      hint: `needs: { candles: { '${interval}': 200 } }`,
    })
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
  /**
   * The lots that lose `share` of the strategy's capital (without `capital:`, of the equity) when
   * the price moves by `distance`, in quote coin: to a stop, or an ATR. Without a distance, lots
   * that are worth that share. Rounded down; 0 below the minimum, and while the capital or the
   * price is not known.
   */
  lotsForRisk({ share, distance = this.mid }: RiskedSize): number {
    const { ownCapital, equity = Number.NaN } = this.#account ?? {}
    const capital = (ownCapital ?? equity) * (isInverse(this.#instrument) ? this.mid : 1)
    const size = (capital * share) / distance
    if (!(size > 0) || !Number.isFinite(size) || !(distance > 0)) return 0
    const lots = this.lotsBelow(size)
    return lots >= this.lotsMin && Number.isSafeInteger(lots) ? lots : 0
  }

  /**
   * Shows a value beside the price, in the dashboard and in the report of a backtest: at most eight
   * names of 24 characters.
   */
  plot(name: string, value: number): void {
    this.#plots?.add(this.symbol, name, value)
  }

  /**
   * Says in `status` why nothing is wanted yet, until the next decision: `market.waitsFor('4 min of
   * prices')`. At most 120 characters. It changes no decision.
   */
  waitsFor(what: string): void {
    this.#plots?.wait(this.symbol, what)
  }

  /** The complete list of orders that should rest here; it replaces earlier ones. */
  quote(levels: readonly QuoteLevel[]): QuoteIntent {
    return { kind: 'quote', symbol: this.symbol, levels }
  }
  /** In lots: positive long, negative short. The tag is shown with its orders, fills and trade. */
  target(lots: number, { tag }: Pick<TargetIntent, 'tag'> = {}): TargetIntent {
    return { kind: 'target', symbol: this.symbol, lots, ...(tag !== undefined && { tag }) }
  }
  /** A `key` is used once for ever: emitted again, it is dropped. */
  place(order: Omit<PlaceIntent, 'kind' | 'symbol'>): PlaceIntent {
    return { kind: 'place', symbol: this.symbol, ...order }
  }
  cancelAll(): CancelAllIntent {
    return { kind: 'cancelAll', symbol: this.symbol }
  }
  modifyTrigger(change: Omit<ModifyTriggerIntent, 'kind' | 'symbol'>): ModifyTriggerIntent {
    return { kind: 'modifyTrigger', symbol: this.symbol, ...change }
  }

  /** Cancels named or all orders of isolated margin here. A `key` is used once for ever. */
  cancelMargin(call: Omit<CancelMarginIntent, 'kind' | 'symbol'>): CancelMarginIntent {
    return { kind: 'cancelMargin', symbol: this.symbol, ...call }
  }
  copySettings(change: Omit<CopySettingsIntent, 'kind' | 'symbol'>): CopySettingsIntent {
    return { kind: 'copySettings', symbol: this.symbol, ...change }
  }

  #createIndicators(specs: ResolvedNeeds['indicators']): IndicatorValues<Indicators> {
    const values = Object.create(undeclaredIndicators(this.symbol, Object.keys(specs))) as object
    for (const [name, spec] of Object.entries(specs)) {
      const key = candleKey(this.symbol, parseInterval(spec.interval) ?? 0)
      const get = (): unknown => {
        const series = this.#series.get(key)
        return series && indicatorValue(spec, series)
      }
      Object.defineProperty(values, name, { get, enumerable: true })
    }
    return Object.freeze(values) as IndicatorValues<Indicators>
  }

  get #mark(): PositionMark | undefined {
    return this.#account?.marks.get(this.symbol)
  }

  get #isToday(): boolean {
    return this.#moment.trades?.dayAt === openOf(this.#exchangeTime, DAY_MS)
  }

  #read(column: TickerColumn): number {
    return this.#tickers.columns[column][this.#row] ?? Number.NaN
  }
}

Object.setPrototypeOf(InstrumentView.prototype, refuseUnknownMembers('an instrument'))

function undeclaredIndicators(symbol: string, declared: readonly string[]): object {
  const list = declared.length === 0 ? 'none is declared' : `declared: ${declared.join(', ')}`
  return refuseUnknownNames({
    code: 'STRATEGY_NEEDS',
    describe: (name) => `the indicator ${name} of ${symbol}, which is not declared`,
    known: () => declared,
    hint: `${list}; see needs.indicators in docs/strategies.md`,
  })
}

const NO_TICKERS = new TickerTable(1)
const NO_SERIES: ReadonlyMap<string, CandleSeries> = new Map()
const NOTHING_YET = { holding: FLAT, accountHolding: FLAT, positionReadAt: 0, orders: [] }

const NO_WAITS: readonly StrategyWait[] = []
const NO_NOTES: DecisionNotes = {}

/** Keeps the plotted values that have changed, and what a decision waits for if that has. */
export class PlotSheet {
  readonly #values = new Map<string, Map<string, number>>()
  #changed: PlotPoint[] = []
  #waits: readonly StrategyWait[] = NO_WAITS
  #waitsBefore: readonly StrategyWait[] = NO_WAITS

  begin(): void {
    this.#waits = NO_WAITS
  }

  /** The last call for an instrument counts. */
  wait(symbol: string, what: unknown): void {
    if (typeof what !== 'string' || what === '') return
    const others = this.#waits.filter((one) => one.symbol !== symbol)
    this.#waits = [...others, { symbol, what: what.slice(0, WAIT_LENGTH_MAX) }]
  }

  /** A value that is no number draws nothing. */
  add(symbol: string, name: unknown, value: unknown): void {
    if (!isPlotName(name) || typeof value !== 'number' || !Number.isFinite(value)) return
    const values = this.#values.get(symbol) ?? new Map<string, number>()
    this.#values.set(symbol, values)
    if (values.get(name) === value || (values.size >= PLOT_NAMES_MAX && !values.has(name))) return
    values.set(name, value)
    this.#changed = this.#changed.filter((one) => one.symbol !== symbol || one.name !== name)
    this.#changed.push({ symbol, name, value })
  }

  take(): DecisionNotes {
    const [plots, waits, before] = [this.#changed, this.#waits, this.#waitsBefore]
    const isSame =
      waits.length === before.length &&
      waits.every(({ symbol, what }, index) => {
        const other = before[index]
        return other?.symbol === symbol && other.what === what
      })
    if (plots.length === 0 && isSame) return NO_NOTES
    this.#changed = []
    this.#waitsBefore = waits
    return { ...(plots.length > 0 && { plots }), ...(!isSame && { waits }) }
  }
}
