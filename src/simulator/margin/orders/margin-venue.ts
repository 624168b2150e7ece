import { ZERO } from '../../../lib/decimal.ts'
import { enterMarket } from '../../matching/match-orders.ts'
import { type Venue } from '../../matching/venue.ts'
import { smaller } from '../../wallet/rounding.ts'
import { balanceRefOf, isForced, isOpen, type MarginOrder } from './margin-order.ts'
import { MARGIN_ORDERS } from '../margin-rows.ts'
import { marketOf, moneyOf, type MarginState, type SymbolMarket } from '../margin-state.ts'
import { endOrder, spentCoin } from './order-lifecycle.ts'
import { settleFill } from './settle-fill.ts'

/** The orders of one symbol, isolated and crossed, for the matching engine. */
export function createVenue(state: MarginState, { book }: SymbolMarket): Venue<MarginOrder> {
  /** A market buy wants what its quote size buys; a forced order has nothing set aside, and stops where money ends. */
  const wantedLots = (order: MarginOrder, ticks: number): number => {
    const price = book.price(ticks)
    const wanted =
      order.base === undefined
        ? (order.quote ?? ZERO).minus(order.filledQuote).div(price)
        : order.base.minus(order.filledBase)
    if (!isForced(order)) return book.lots(wanted)
    const { available } = moneyOf(state, balanceRefOf(order), spentCoin(state, order))
    return book.lots(smaller(wanted, order.direction === 'buy' ? available.div(price) : available))
  }
  /** Done is a market buy whose rest buys no lot, and a forced order that has spent what there was. */
  const isDone = (order: MarginOrder): boolean => {
    if (isForced(order)) return order.filledBase.gt(ZERO)
    return order.base === undefined && wantedLots(order, book.nextAsk()) === 0
  }
  return {
    ...state.ports.matching,
    isOpen,
    wantedLots,
    isForced,
    fill: (order, { lots, ticks }) => {
      settleFill(state, order, { base: book.size(lots), price: book.price(ticks) })
      return lots
    },
    end: (order, reason) => {
      if (reason === 'post_only') endOrder(state, order, 'reject')
      else endOrder(state, order, isDone(order) ? 'filled' : 'cancelled')
    },
    putOrder: (order) => state.ports.rows.put(MARGIN_ORDERS, order),
    putMarket: () => book.put(),
  }
}

/** Lets an order in. */
export function enterMarginMarket(state: MarginState, order: MarginOrder): void {
  const market = marketOf(state, order.symbol)
  enterMarket(createVenue(state, market), market.book, order)
}
