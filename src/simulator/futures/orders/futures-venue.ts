import { type Trade } from '../../matching/book-order.ts'
import { type FillModel } from '../../matching/fill-model.ts'
import { enterMarket, matchResting } from '../../matching/match-orders.ts'
import { type OrderBook } from '../../matching/order-book.ts'
import { type Venue } from '../../matching/venue.ts'
import { accountOf, symbolOf, venueOf, type CoreState, type SymbolState } from '../core-state.ts'
import { mayOpen, closableLots, settleTrade } from '../positions/settle-trade.ts'
import { remainingLots, type Order } from './order.ts'
import { ACCOUNTS, ORDERS, SYMBOLS } from '../stored-entities.ts'

/** The orders of one futures instrument, for the matching engine. */
export class FuturesVenue implements Venue<Order> {
  readonly model: FillModel
  readonly levelsMax: number
  readonly book: OrderBook<Order>
  readonly #state: CoreState
  readonly #symbol: SymbolState

  constructor(state: CoreState, symbol: SymbolState) {
    this.model = state.matching.model
    this.levelsMax = state.matching.levelsMax
    this.book = symbol
    this.#state = state
    this.#symbol = symbol
  }

  get now(): number {
    return this.#state.clock.now
  }

  wantedLots(order: Order): number {
    return remainingLots(order)
  }

  isForced({ source, orderType }: Order): boolean {
    return source === 'SYS' && orderType === 'market'
  }

  settle(order: Order, trade: Trade): number {
    return settleTrade(this.#state, this.#symbol, order, trade)
  }

  isFilled(order: Order): boolean {
    return order.filledLots >= order.lots
  }

  isSpent(): boolean {
    return false
  }

  isPointless(order: Order): boolean {
    return !mayOpen(order) && closableLots(accountOf(this.#state, order.uid), order) === 0
  }

  stopWaiting(order: Order): void {
    const { arrivals } = this.#state
    const index = arrivals.indexOf(order)
    if (index >= 0) arrivals.splice(index, 1)
  }

  close(order: Order): void {
    const account = accountOf(this.#state, order.uid)
    account.openOrders.delete(order.sequence)
    account.closedOrders.set(order.sequence, order)
    if (order.status === 'filled') account.counts.ordersFilled++
    else account.counts.ordersCancelled++
    this.#state.rows.put(ACCOUNTS, account)
  }

  putOrder(order: Order): void {
    this.#state.rows.put(ORDERS, order)
  }

  putMarket(): void {
    this.#state.rows.put(SYMBOLS, this.#symbol)
  }
}

/** Lets an accepted order into matching. */
export function enterMatching(state: CoreState, order: Order): void {
  enterMarket(venueOf(symbolOf(state, order.symbol)), order)
}

/** Matches the resting orders of an instrument against a new quote. */
export function matchSymbol(symbol: SymbolState): void {
  if (symbol.buys.orders.length === 0 && symbol.sells.orders.length === 0) return
  matchResting(venueOf(symbol))
}
