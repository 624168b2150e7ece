import { type EndReason, type Trade } from '../matching/book-order.ts'
import { type FillModel } from '../matching/fill-model.ts'
import { enterMarket, matchResting } from '../matching/match-orders.ts'
import { type Venue } from '../matching/venue.ts'
import { cancelOrder, endMarketBuy, fillOrder } from './spot-fill.ts'
import { isMarketBuy, isOpen, remainingOf, type SpotOrder } from './spot-order.ts'
import { putOrder, spotMarketOf, type SpotMarket, type SpotState } from './spot-state.ts'

/** The orders of one pair, for the matching engine. */
class SpotVenue implements Venue<SpotOrder> {
  readonly model: FillModel
  readonly levelsMax: number
  readonly #state: SpotState
  readonly #market: SpotMarket

  constructor(state: SpotState, market: SpotMarket) {
    this.model = state.ports.matching.model
    this.levelsMax = state.ports.matching.levelsMax
    this.#state = state
    this.#market = market
  }

  isOpen(order: SpotOrder): boolean {
    return isOpen(order)
  }

  wantedLots(order: SpotOrder, ticks: number): number {
    const { book } = this.#market
    const remaining = remainingOf(order)
    return book.lots(isMarketBuy(order) ? remaining.div(book.price(ticks)) : remaining)
  }

  isForced(): boolean {
    return false
  }

  fill(order: SpotOrder, { lots, ticks, scope }: Trade): number {
    const { book } = this.#market
    const at = this.#state.clock.now
    fillOrder(this.#state, order, { base: book.size(lots), price: book.price(ticks), scope, at })
    return lots
  }

  /** What a price leaves of a market buy may be too little for one more lot: then it is done. */
  end(order: SpotOrder, reason: EndReason): void {
    const { now } = this.#state.clock
    const isDone = isMarketBuy(order) && this.wantedLots(order, this.#market.book.nextAsk()) === 0
    if (isDone && reason === 'no_liquidity') return endMarketBuy(this.#state, order, now)
    cancelOrder(this.#state, order, reason === 'self_trade' ? 'stp_cancel' : 'normal_cancel', now)
  }

  putOrder(order: SpotOrder): void {
    putOrder(this.#state, order)
  }

  putMarket(): void {
    this.#market.book.put()
  }
}

/** Lets an order into the market: at once, or when its trigger was reached. */
export function enterSpotMarket(state: SpotState, order: SpotOrder): void {
  const market = spotMarketOf(state, order.symbol)
  market.waiting.delete(order)
  order.status = 'new'
  putOrder(state, order)
  enterMarket(new SpotVenue(state, market), market.book, order)
}

export function isTriggered({ trigger, triggerTicks }: SpotOrder, { book }: SpotMarket): boolean {
  if (trigger === undefined) return true
  const { lastTicks } = book.market
  return trigger.isAbove ? triggerTicks <= lastTicks : triggerTicks >= lastTicks
}

/** Matches the pair's orders at every quote to come, then those whose trigger it reaches. */
export function followPair(state: SpotState, market: SpotMarket): void {
  const { book, waiting } = market
  const venue = new SpotVenue(state, market)
  book.follow((at) => {
    if (!book.hasOrders && waiting.size === 0) return
    book.refresh()
    state.clock.now = at
    matchResting(venue, book)
    for (const order of waiting) if (isTriggered(order, market)) enterSpotMarket(state, order)
  })
}
