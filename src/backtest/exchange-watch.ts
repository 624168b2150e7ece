import { ZERO, type Decimal } from '../lib/decimal.ts'
import type { AccountFigures, RestingPrices, RunFill, RunFunding } from '../report/run-facts.ts'
import {
  accountOf,
  type ExchangeAccount,
  type CoreState,
  type SymbolState,
} from '../simulator/futures/core-state.ts'
import type { ExchangeCore } from '../simulator/futures/exchange-core.ts'
import type { FuturesFill } from '../simulator/futures/positions/fill.ts'
import { orderIdText, tradeIdText, type FuturesOrder } from '../simulator/futures/orders/order.ts'
import { maintenanceTier, type Position } from '../simulator/futures/positions/position.ts'
import { UID } from './direct-exchange.ts'

interface Touch {
  bidTicks: number
  askTicks: number
}

export interface WatchListener {
  /** Called before `onFigures` of the same moment. */
  onPrice(at: number, symbol: string, last: number): void
  onFill(fill: RunFill): void
  onFunding(payment: RunFunding): void
  /** Called after each quote. @param at Unix ms */
  onFigures(at: number, figures: Readonly<AccountFigures>): void
}

/**
 * Reports fills, funding and worth after the matching of each quote: each exactly once, and none
 * before it happened. No trade depends on it.
 */
export class ExchangeWatch {
  readonly #state: CoreState
  readonly #account: ExchangeAccount
  readonly #listener: WatchListener
  readonly #coin: string
  readonly #figures: AccountFigures = {
    balance: 0,
    unrealised: 0,
    equity: 0,
    gross: 0,
    net: 0,
    marginUse: 0,
  }
  /**
   * Holds what was displayed before the last quote, because an order between two quotes met the
   * display of the first.
   */
  readonly #touches = new Map<string, Touch>()
  readonly #positions = new Map<Position, Decimal>()
  /** Since the last valuation, because a liquidation cannot be seen afterwards. */
  #isLiquidated = false
  #fillsSeen = 0
  #fundingSeen: Decimal = ZERO

  constructor(core: ExchangeCore, coin: string, listener: WatchListener) {
    this.#listener = listener
    this.#coin = coin
    this.#state = core.carryOut(core.now, (state) => state)
    this.#account = accountOf(this.#state, UID)
    for (const symbol of this.#state.symbols.values()) this.#follow(symbol)
  }

  /** Called whenever the market was played, because an order may be filled between two quotes. */
  look(): void {
    if (this.#state.clock.tradeSequence > this.#fillsSeen) this.#takeFills()
    const { funding = ZERO } = this.#account.coins.get(this.#coin) ?? {}
    if (funding !== this.#fundingSeen) this.#takeFunding(funding)
  }

  figures(): Readonly<AccountFigures> {
    this.#value()
    return this.#figures
  }

  /** Quote coin. */
  marks(): ReadonlyMap<string, number> {
    const symbols = [...this.#state.symbols.values()].filter(({ markTicks }) => markTicks > 0)
    return new Map(
      symbols.map(({ instrument, markTicks }) => [
        instrument.symbol,
        markTicks * instrument.tickFloat,
      ]),
    )
  }

  resting(symbol: string): RestingPrices {
    const instrument = this.#state.symbols.get(symbol)?.instrument
    let [buy, sell] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const order of this.#account.openOrders.values()) {
      if (order.symbol !== symbol || order.priceTicks === 0) continue
      if (order.direction === 'buy') buy = Math.max(buy, order.priceTicks)
      else sell = Math.min(sell, order.priceTicks)
    }
    const price = (ticks: number): number =>
      Number.isFinite(ticks) ? ticks * (instrument?.tickFloat ?? 1) : Number.NaN
    return { buy: price(buy), sell: price(sell) }
  }

  #follow(symbol: SymbolState): void {
    const touch: Touch = { bidTicks: 0, askTicks: 0 }
    this.#touches.set(symbol.instrument.symbol, touch)
    symbol.followers.push(() => this.#onQuote(symbol, touch))
  }

  #onQuote({ instrument, market }: SymbolState, touch: Touch): void {
    const { now } = this.#state.clock
    this.#listener.onPrice(now, instrument.symbol, market.lastTicks * instrument.tickFloat)
    this.look()
    touch.bidTicks = market.bidTicks
    touch.askTicks = market.askTicks
    this.#value()
    this.#listener.onFigures(now, this.#figures)
  }

  #takeFills(): void {
    const { fills } = this.#account
    let first = fills.length
    while (first > 0 && (fills[first - 1] as FuturesFill).sequence > this.#fillsSeen) first--
    this.#fillsSeen = this.#state.clock.tradeSequence
    for (const fill of fills.slice(first).map((one) => this.#toRunFill(one))) {
      if (fill.isLiquidation) this.#isLiquidated = true
      this.#payEnded(fill.symbol)
      this.#listener.onFill(fill)
    }
    for (const position of this.#account.positions.values()) {
      if (!this.#positions.has(position)) this.#positions.set(position, ZERO)
    }
    for (const position of this.#positions.keys()) if (position.lots === 0) this.#forget(position)
  }

  #toRunFill(fill: FuturesFill): RunFill {
    const order = this.#orderOf(fill)
    const market = this.#state.symbols.get(fill.symbol)?.market
    const shown = { bidTicks: market?.bidTicks ?? 0, askTicks: market?.askTicks ?? 0 }
    // A resting order is filled by the present quote; an order that takes met the one before.
    const before = fill.tradeScope === 'taker' && fill.source === 'API' && this.#isBeforeQuote(fill)
    const known = before ? this.#touches.get(fill.symbol) : undefined
    // Nothing was displayed before the first quote.
    const touch = known !== undefined && known.bidTicks > 0 ? known : shown
    const { symbol, priceTicks: ticks, lots, direction, fee, profit, at } = fill
    return {
      symbol,
      ticks,
      lots,
      direction,
      fee,
      profit,
      at,
      ...touch,
      tradeId: tradeIdText(fill.sequence),
      orderId: orderIdText(fill.orderSequence),
      clientOid: fill.source === 'API' ? (order?.clientOid ?? '') : '',
      slot: order?.slot ?? 'net',
      scope: fill.tradeScope,
      isSystem: fill.source === 'SYS',
      isLiquidation: LIQUIDATION.test(fill.tradeSide),
    }
  }

  /** Orders that are due at the instant of a quote arrive before it. */
  #isBeforeQuote({ symbol, at }: FuturesFill): boolean {
    return at <= (this.#state.symbols.get(symbol)?.market.at ?? 0)
  }

  #orderOf({ orderSequence }: FuturesFill): FuturesOrder | undefined {
    return (
      this.#account.openOrders.get(orderSequence) ?? this.#account.closedOrders.get(orderSequence)
    )
  }

  #takeFunding(funding: Decimal): void {
    this.#fundingSeen = funding
    for (const position of Array.from(this.#positions.keys())) this.#payFunding(position)
  }

  #payFunding(position: Position): void {
    const known = this.#positions.get(position) ?? ZERO
    const { symbol, slot, funding = ZERO } = position
    if (funding === known) return
    this.#positions.set(position, funding)
    this.#listener.onFunding({ symbol, slot, amount: funding.minus(known), at: position.updatedAt })
  }

  /** Strategies that held the position at the time of funding share it. */
  #payEnded(symbol: string): void {
    for (const position of this.#positions.keys())
      if (position.lots === 0 && position.symbol === symbol) this.#payFunding(position)
  }

  #forget(position: Position): void {
    this.#payFunding(position)
    this.#positions.delete(position)
  }

  #value(): void {
    const figures = this.#figures
    const balance = this.#account.coins.get(this.#coin)?.balanceFloat ?? 0
    figures.balance = balance
    figures.unrealised = 0
    figures.gross = 0
    figures.net = 0
    figures.marginUse = this.#isLiquidated ? 1 : 0
    this.#isLiquidated = false
    let [maintenance, setAside] = [0, 0]
    for (const position of this.#account.positions.values()) {
      const symbol = this.#state.symbols.get(position.symbol)
      if (symbol === undefined) continue
      const { value, gain, need } = this.#worthOf(position, symbol)
      figures.unrealised += gain
      figures.gross += value
      figures.net += position.holdSide === 'long' ? value : -value
      if (position.marginMode === 'crossed') maintenance += need
      else {
        setAside += position.marginFloat + gain
        figures.marginUse = Math.max(figures.marginUse, shareOf(need, position.marginFloat + gain))
      }
    }
    figures.equity = balance + figures.unrealised
    if (maintenance > 0)
      figures.marginUse = Math.max(
        figures.marginUse,
        shareOf(maintenance, figures.equity - setAside),
      )
  }

  /** In the margin coin. */
  #worthOf(position: Position, { instrument, markTicks }: SymbolState) {
    const mark = markTicks * instrument.tickFloat
    const quoteValue = mark * position.lots * instrument.lotFloat
    const quoteGain =
      position.holdSide === 'long'
        ? quoteValue - position.costFloat
        : position.costFloat - quoteValue
    const perQuote = instrument.isInverse ? 1 / mark : 1
    const value = quoteValue * perQuote
    const rate = maintenanceTier(instrument, quoteValue).rateFloat + this.#state.rates.takerFloat
    return { value, gain: quoteGain * perQuote, need: value * rate }
  }
}

const LIQUIDATION = /^(?:offset|reduce|burst)_close_/

function shareOf(need: number, behind: number): number {
  return behind > 0 ? Math.min(1, need / behind) : 1
}
