import { enterMarket } from '../../matching/match-orders.ts'
import type { Venue } from '../../matching/venue.ts'
import { accountOf, symbolOf, venueOf, type CoreState, type SymbolState } from '../core-state.ts'
import { closableLots, fillableLots, settleTrade } from '../positions/settle-trade.ts'
import { ACCOUNTS, ORDERS, SYMBOLS } from '../stored-entities.ts'
import { mayOpen, type FuturesOrder } from './order.ts'

export function createFuturesVenue(state: CoreState, symbol: SymbolState): Venue<FuturesOrder> {
  const { clock, rows, matching, arrivals, settings } = state
  return {
    ...matching,
    book: symbol,
    meetsOwn: settings.selfTrades === 'meet',
    get now() {
      return clock.now
    },
    wantedLots: (order) => fillableLots(state, symbol, order),
    isForced: ({ source, orderType }) => source === 'SYS' && orderType === 'market',
    settle: (order, trade) => settleTrade(state, symbol, order, trade),
    isFilled: (order) => order.filledLots >= order.lots,
    isSpent: () => false,
    isPointless: (order) =>
      !mayOpen(order) && closableLots(accountOf(state, order.uid), order) === 0,
    stopWaiting(order) {
      const index = arrivals.indexOf(order)
      if (index >= 0) arrivals.splice(index, 1)
    },
    close(order) {
      const account = accountOf(state, order.uid)
      account.openOrders.delete(order.sequence)
      account.closedOrders.set(order.sequence, order)
      if (order.status === 'filled') account.counts.ordersFilled++
      else account.counts.ordersCancelled++
      rows.put(ACCOUNTS, account)
    },
    putOrder: (order) => rows.put(ORDERS, order),
    putMarket: () => rows.put(SYMBOLS, symbol),
  }
}

export function enterMatching(state: CoreState, order: FuturesOrder): void {
  enterMarket(venueOf(symbolOf(state, order.symbol)), order)
}
