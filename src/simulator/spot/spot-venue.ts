import { enterMarket, matchResting } from '../matching/match-orders.ts'
import { type Venue } from '../matching/venue.ts'
import { cancelOrder, endMarketBuy, fillOrder } from './spot-fill.ts'
import { isMarketBuy, isOpen, remainingOf, type SpotOrder } from './spot-order.ts'
import { SPOT_ORDERS, spotMarketOf, type SpotMarket, type SpotState } from './spot-state.ts'

/** The orders of one pair, for the matching engine. */
function createVenue(state: SpotState, { book }: SpotMarket): Venue<SpotOrder> {
  const wantedLots = (order: SpotOrder, ticks: number): number => {
    const remaining = remainingOf(order)
    return book.lots(isMarketBuy(order) ? remaining.div(book.price(ticks)) : remaining)
  }
  return {
    ...state.ports.matching,
    isOpen,
    wantedLots,
    isForced: () => false,
    fill: (order, { lots, ticks, scope }) => {
      const at = state.ports.clock.now
      fillOrder(state, order, { base: book.size(lots), price: book.price(ticks), scope, at })
      return lots
    },
    end: (order, reason) => {
      const { now } = state.ports.clock
      // What a price leaves of a market buy may be too little for one more lot: then it is done.
      const isDone =
        reason === 'no_liquidity' && isMarketBuy(order) && wantedLots(order, book.nextAsk()) === 0
      if (isDone) endMarketBuy(state, order, now)
      else cancelOrder(state, order, reason === 'self_trade' ? 'stp_cancel' : 'normal_cancel', now)
    },
    putOrder: (order) => state.ports.rows.put(SPOT_ORDERS, order),
    putMarket: () => book.put(),
  }
}

/** Lets an order into the market: at once, or when its trigger was reached. */
export function enterSpotMarket(state: SpotState, order: SpotOrder): void {
  const market = spotMarketOf(state, order.symbol)
  market.waiting.delete(order)
  order.status = 'new'
  state.ports.rows.put(SPOT_ORDERS, order)
  enterMarket(createVenue(state, market), market.book, order)
}

export function isTriggered({ trigger, triggerTicks }: SpotOrder, { book }: SpotMarket): boolean {
  if (trigger === undefined) return true
  const { lastTicks } = book.market
  return trigger.isAbove ? triggerTicks <= lastTicks : triggerTicks >= lastTicks
}

/** Matches the pair's orders at every quote to come, then those whose trigger it reaches. */
export function followPair(state: SpotState, market: SpotMarket): void {
  const { book, waiting } = market
  const venue = createVenue(state, market)
  book.follow(() => {
    if (!book.hasOrders && waiting.size === 0) return
    book.refresh()
    matchResting(venue, book)
    for (const order of waiting) if (isTriggered(order, market)) enterSpotMarket(state, order)
  })
}
