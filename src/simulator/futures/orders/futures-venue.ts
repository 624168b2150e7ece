import { type EndReason, type Trade } from '../../matching/book-order.ts'
import { type FillModel } from '../../matching/fill-model.ts'
import { enterMarket, matchResting } from '../../matching/match-orders.ts'
import { type Venue } from '../../matching/venue.ts'
import { symbolOf, type CoreState, type SymbolState } from '../core-state.ts'
import { executeFill } from '../positions/execute-fill.ts'
import { cancelOrder } from './order-lifecycle.ts'
import { isOpen, remainingLots, type Order } from './order.ts'
import { ORDERS, SYMBOLS } from '../stored-entities.ts'

/** The orders of one futures instrument, for the matching engine. */
class FuturesVenue implements Venue<Order> {
  readonly model: FillModel
  readonly levelsMax: number
  readonly #state: CoreState
  readonly #symbol: SymbolState

  constructor(state: CoreState, symbol: SymbolState) {
    this.model = state.matching.model
    this.levelsMax = state.matching.levelsMax
    this.#state = state
    this.#symbol = symbol
  }

  isOpen(order: Order): boolean {
    return isOpen(order)
  }

  wantedLots(order: Order): number {
    return remainingLots(order)
  }

  isForced({ source, orderType }: Order): boolean {
    return source === 'SYS' && orderType === 'market'
  }

  fill(order: Order, trade: Trade): number {
    return executeFill(this.#state, this.#symbol, order, trade)
  }

  end(order: Order, reason: EndReason): void {
    cancelOrder(this.#state, order, reason)
  }

  putOrder(order: Order): void {
    this.#state.rows.put(ORDERS, order)
  }

  putMarket(): void {
    this.#state.rows.put(SYMBOLS, this.#symbol)
  }
}

function venueOf(state: CoreState, symbol: SymbolState): Venue<Order> {
  return (symbol.venue ??= new FuturesVenue(state, symbol))
}

/** Lets an accepted order into matching. */
export function enterMatching(state: CoreState, order: Order): void {
  const symbol = symbolOf(state, order.symbol)
  order.status = 'live'
  state.rows.put(ORDERS, order)
  enterMarket(venueOf(state, symbol), symbol, order)
}

/** Matches the resting orders of an instrument against a new quote. */
export function matchSymbol(state: CoreState, symbol: SymbolState): void {
  if (symbol.buys.orders.length === 0 && symbol.sells.orders.length === 0) return
  matchResting(venueOf(state, symbol), symbol)
}
