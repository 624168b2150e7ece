import { decimal, decimalOfInteger, type Decimal } from '../../lib/decimal.ts'
import { createGrid, type Grid } from '../../lib/grid.ts'
import type { PairTaken } from './pairs-taken.ts'
import type { FollowedMarket, ServicePorts } from './service-ports.ts'
import type { Quote } from '../market/market.ts'
import type { BookOrder } from '../matching/book-order.ts'
import {
  createDisplayedMarket,
  createTaken,
  firstLevel,
  levelTicksAt,
  showQuote,
  type DisplayedMarket,
} from '../matching/displayed-market.ts'
import { createBookSide, type OrderBook } from '../matching/order-book.ts'
import { roundDown } from '../wallet/rounding.ts'

export interface CoinPair {
  readonly symbol: string
  readonly baseCoin: string
  readonly quoteCoin: string
  /** One unit of the last decimal is the tick, or the lot. */
  readonly priceDecimals: number
  readonly sizeDecimals: number
}

/**
 * Shows the quotes of the futures contract of the same name on the pair's grids. What orders took
 * belongs to the pair (pairs-taken.ts).
 */
export class PairMarket<
  Order extends BookOrder,
  Rules extends CoinPair = CoinPair,
> implements OrderBook<Order> {
  readonly rules: Rules
  readonly market: DisplayedMarket
  readonly buys = createBookSide<Order>(true)
  readonly sells = createBookSide<Order>(false)
  readonly waiting = new Set<Order>()
  readonly #ports: ServicePorts
  readonly #taken: PairTaken
  readonly #source: FollowedMarket | undefined
  readonly #scales: PairScales
  readonly #tick: Decimal
  readonly #lot: Decimal
  #isBehind = true

  constructor(ports: ServicePorts, rules: Rules) {
    const tick = createGrid(unitText(rules.priceDecimals))
    const lot = createGrid(unitText(rules.sizeDecimals))
    this.rules = rules
    this.#ports = ports
    this.#taken = ports.taken.of(rules)
    this.market = createDisplayedMarket(this.#taken.taken)
    this.#source = ports.market(rules.symbol)
    this.#tick = decimal(tick.step)
    this.#lot = decimal(lot.step)
    this.#scales = {
      price: scaleTo(tick, this.#source?.tickSize ?? tick.step),
      size: scaleTo(lot, this.#source?.lotSize ?? lot.step),
    }
    this.refresh()
  }

  get hasOrders(): boolean {
    return this.buys.orders.length > 0 || this.sells.orders.length > 0 || this.waiting.size > 0
  }

  follow(hear: (at: number) => void): void {
    const { shown } = this.#source ?? {}
    this.#source?.follow(() => {
      this.#isBehind = true
      hear(shown?.at ?? 0)
    })
  }

  refresh(): void {
    const { shown } = this.#source ?? {}
    if (!this.#isBehind || shown === undefined || shown.at === 0) return
    this.show(toPairQuote(shown, this.#scales), shown.at)
    this.#isBehind = false
  }

  show(quote: Quote, at: number): void {
    showQuote(this.market, quote, at, this.#ports.matching)
  }

  clear(): void {
    Object.assign(this.market.taken, createTaken())
    this.put()
    Object.assign(this.market, createDisplayedMarket(this.market.taken))
    this.#isBehind = true
    this.refresh()
  }

  put(): void {
    this.#ports.taken.put(this.#taken)
  }

  price(ticks: number): Decimal {
    return decimalOfInteger(ticks).times(this.#tick)
  }

  ticks(price: Decimal): number {
    return Number(price.div(this.#tick).toString())
  }

  size(lots: number): Decimal {
    return decimalOfInteger(lots).times(this.#lot)
  }

  lots(size: Decimal): number {
    return Number(roundDown(size.div(this.#lot), 0).toString())
  }

  shownPrices(): { readonly bid: Decimal; readonly ask: Decimal } | undefined {
    const { at, bidTicks, askTicks } = this.market
    return at === 0 ? undefined : { bid: this.price(bidTicks), ask: this.price(askTicks) }
  }

  lastPrice(): Decimal {
    return this.price(this.market.lastTicks)
  }

  nextAsk(): number {
    return levelTicksAt(this.market, 'buy', firstLevel(this.market, 'buy'))
  }
}

/** The pair's steps in one of the contract's: `times / by`, both whole. */
interface StepRatio {
  readonly times: number
  readonly by: number
}

interface PairScales {
  readonly price: StepRatio
  readonly size: StepRatio
}

function scaleTo(grid: Grid, step: string): StepRatio {
  const source = createGrid(step)
  return { times: source.units * grid.scale, by: source.scale * grid.units }
}

/** Rounds the bid down and the ask up, so that no order trades at a better price than displayed. */
function toPairQuote(quote: DisplayedMarket, { price, size }: PairScales): Quote {
  const priceOf = (ticks: number): number => (ticks * price.times) / price.by
  const sizeOf = (lots: number): number => (lots * size.times) / size.by
  const bidTicks = Math.max(1, Math.floor(priceOf(quote.bidTicks)))
  const lastTicks = Math.max(1, Math.round(priceOf(quote.lastTicks)))
  return {
    bidTicks,
    askTicks: Math.max(bidTicks + 1, Math.ceil(priceOf(quote.askTicks))),
    bidLots: Math.max(1, Math.floor(sizeOf(quote.bidLots))),
    askLots: Math.max(1, Math.floor(sizeOf(quote.askLots))),
    lastTicks,
    lowTicks: Math.min(lastTicks, Math.ceil(priceOf(quote.lowTicks))),
    highTicks: Math.max(lastTicks, Math.floor(priceOf(quote.highTicks))),
    tradedLots: Math.floor(sizeOf(quote.tradedLots)),
    levelTicks: Math.max(1, Math.round(priceOf(quote.levelTicks))),
    candle: quote.candle,
    candleLots: sizeOf(quote.candleLots),
  }
}

function unitText(decimals: number): string {
  return decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`
}
