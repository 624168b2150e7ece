import { enterMarket, matchResting } from '../matching/match-orders.ts'
import { type Venue } from '../matching/venue.ts'
import { createPairVenue } from '../services/pair-venue.ts'
import { chargeFee } from './spot-fees.ts'
import { type SpotOrder } from './spot-order.ts'
import { spotMarketOf, type SpotMarket, type SpotState } from './spot-state.ts'

/** The orders of one pair, for the matching engine. @param clock The exchange's; another for a past. */
export function createVenue(
  state: SpotState,
  { book }: SpotMarket,
  clock: { readonly now: number } = state.ports.clock,
): Venue<SpotOrder> {
  return createPairVenue<SpotOrder>({
    ...{ ports: state.ports, clock, book, orders: state.orders },
    balanceOf: () => 'spot',
    isForced: () => false,
    receive: (order, receipt) => chargeFee(state, order, receipt, clock.now),
    close: () => undefined,
  })
}

/** Lets an order into the market: at once, or when its trigger was reached. */
export function enterSpotMarket(state: SpotState, order: SpotOrder): void {
  enterMarket(createVenue(state, spotMarketOf(state, order.symbol)), order)
}

export function isTriggered({ trigger, triggerTicks }: SpotOrder, { book }: SpotMarket): boolean {
  if (trigger === undefined) return true
  const { lastTicks } = book.market
  return trigger.isAbove ? triggerTicks <= lastTicks : triggerTicks >= lastTicks
}

/** Matches the pair's orders at every quote to come, then those whose trigger it reaches. */
export function followPair(state: SpotState, market: SpotMarket): void {
  const { book } = market
  const venue = createVenue(state, market)
  book.follow(() => {
    if (!book.hasOrders) return
    book.refresh()
    matchResting(venue)
    for (const order of book.waiting) if (isTriggered(order, market)) enterMarket(venue, order)
  })
}
