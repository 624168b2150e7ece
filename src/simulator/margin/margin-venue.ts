import { ZERO } from '../../lib/decimal.ts'
import { type EndReason, type Trade } from '../matching/book-order.ts'
import { type FillModel } from '../matching/fill-model.ts'
import { enterMarket } from '../matching/match-orders.ts'
import { type Venue } from '../matching/venue.ts'
import { smaller } from './amounts.ts'
import { balanceRefOf, isOpen, type MarginOrder, type MarginStatus } from './margin-order.ts'
import { putOrder } from './margin-rows.ts'
import { marketOf, moneyOf, type MarginState, type SymbolMarket } from './margin-state.ts'
import { endOrder, spentCoin } from './order-lifecycle.ts'
import { settleFill } from './settle-fill.ts'

/** The orders of one symbol, isolated and crossed, for the matching engine. */
export class MarginVenue implements Venue<MarginOrder> {
  readonly model: FillModel
  readonly levelsMax: number
  readonly #state: MarginState
  readonly #market: SymbolMarket

  constructor(state: MarginState, market: SymbolMarket) {
    this.model = state.ports.matching.model
    this.levelsMax = state.ports.matching.levelsMax
    this.#state = state
    this.#market = market
  }

  isOpen(order: MarginOrder): boolean {
    return isOpen(order)
  }

  /** A market buy wants what its quote size buys; a forced order has nothing set aside, and stops where money ends. */
  wantedLots(order: MarginOrder, ticks: number): number {
    const { book } = this.#market
    const price = book.price(ticks)
    const wanted =
      order.base === undefined
        ? (order.quote ?? ZERO).minus(order.filledQuote).div(price)
        : order.base.minus(order.filledBase)
    if (!this.isForced(order)) return book.lots(wanted)
    const { available } = moneyOf(this.#state, balanceRefOf(order), spentCoin(this.#state, order))
    return book.lots(smaller(wanted, order.direction === 'buy' ? available.div(price) : available))
  }

  isForced({ purpose }: MarginOrder): boolean {
    return purpose !== 'trade'
  }

  fill(order: MarginOrder, { lots, ticks }: Trade): number {
    const { book } = this.#market
    settleFill(this.#state, order, { base: book.size(lots), price: book.price(ticks) })
    return lots
  }

  end(order: MarginOrder, reason: EndReason): void {
    endOrder(this.#state, order, reason === 'post_only' ? 'reject' : this.#statusWithoutLiquidity(order))
  }

  putOrder(order: MarginOrder): void {
    putOrder(this.#state, order)
  }

  putMarket(): void {
    this.#market.book.put()
  }

  /** Done is a market buy whose rest buys no lot, and a forced order that has spent what there was. */
  #statusWithoutLiquidity(order: MarginOrder): Exclude<MarginStatus, 'live' | 'partial_fill'> {
    if (this.isForced(order)) return order.filledBase.gt(ZERO) ? 'filled' : 'cancelled'
    const isDone = order.base === undefined && this.wantedLots(order, this.#market.book.nextAsk()) === 0
    return isDone ? 'filled' : 'cancelled'
  }
}

/** Lets an order in. */
export function enterMarginMarket(state: MarginState, order: MarginOrder): void {
  const market = marketOf(state, order.symbol)
  enterMarket(new MarginVenue(state, market), market.book, order)
}
