import { isClosing, tradesAs } from '../domain/order-action.ts'
import { type OrderTerms } from '../domain/order.ts'
import { type Book, haltOf, holdingOf } from './book.ts'
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

function reduces(book: Book, { action, strategyId, symbol, lots }: OrderTerms): boolean {
  if (isClosing(action)) return true
  const { longLots, shortLots } = holdingOf(book, strategyId, symbol)
  return (tradesAs(action) === 'buy' ? shortLots : longLots) >= lots
}
