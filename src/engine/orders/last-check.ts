import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { type Book, haltOf, holdingOf, openOrdersOf } from '../book/book.ts'
import { type OutgoingBatch } from '../effect.ts'

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

/** As in the risk checks: together with all else of its strategy that is open on that side, which may be filled first. */
function reduces(book: Book, { action, strategyId, symbol }: OrderTerms): boolean {
  if (isClosing(action)) return true
  const own = [...openOrdersOf(book, symbol)].filter(({ terms }) => terms.strategyId === strategyId)
  const holding = holdingOf(book, strategyId, symbol)
  const { buyingLots, sellingLots } = buildExposure(book.positionMode, holding, own)
  return tradesAs(action) === 'buy' ? holding.shortLots >= buyingLots : holding.longLots >= sellingLots
}
