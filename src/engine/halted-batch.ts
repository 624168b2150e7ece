import { isClosing, tradesAs } from '../domain/order-action.ts'
import { openLots, type OrderTerms } from '../domain/order.ts'
import { type Book, haltOf, holdingOf, openOrdersOf } from './book.ts'
import { type OutgoingBatch } from './effect.ts'

/** Whether a batch adds risk to an instrument that has been halted since it was formed (RSK2). */
export function addsWhileHalted(
  book: Book,
  { symbol, clientOids }: Pick<OutgoingBatch, 'symbol' | 'clientOids'>,
): boolean {
  if (haltOf(book, symbol) === undefined) return false
  return clientOids.some((clientOid) => {
    const terms = book.orders.get(clientOid)?.terms
    return terms !== undefined && !reduces(book, terms)
  })
}

/** Together with all else of its strategy that is open on that side: any of it may be filled first. */
function reduces(book: Book, { action, strategyId, symbol }: OrderTerms): boolean {
  if (isClosing(action)) return true
  const side = tradesAs(action)
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  let pending = 0
  for (const order of openOrdersOf(book, symbol)) {
    const { terms } = order
    if (terms.strategyId === strategyId && tradesAs(terms.action) === side) pending += openLots(order)
  }
  return (side === 'buy' ? shortLots : longLots) >= pending
}
