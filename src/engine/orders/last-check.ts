import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { type Book, holdingOf, openOrdersOf, restrictionsOn } from '../book/book.ts'
import { type OutgoingBatch } from '../effect.ts'

/**
 * Whether a batch may not leave after all, because trading has been restricted since it was formed (RSK2). Looked at
 * right before its first byte.
 */
export function isHeldBack(book: Book, { clientOids }: Pick<OutgoingBatch, 'clientOids'>): boolean {
  if (book.restrictions.size === 0) return false
  return clientOids.some((clientOid) => {
    const terms = book.orders.get(clientOid)?.terms
    return terms !== undefined && !mayLeave(book, terms)
  })
}

function mayLeave(book: Book, terms: OrderTerms): boolean {
  const [held] = restrictionsOn(book, terms.symbol, terms.strategyId)
  const mode = held?.mode ?? 'active'
  switch (mode) {
    case 'active':
      return true
    case 'reducing':
      return reduces(book, terms)
    case 'halted':
      return terms.purpose === 'flatten' && reduces(book, terms)
    case 'killed':
      return false
    default:
      return unreachable(mode)
  }
}

/** As in the risk checks: counted with all other open orders of the strategy on that side, which may fill first. */
function reduces(book: Book, { action, strategyId, symbol }: OrderTerms): boolean {
  if (isClosing(action)) return true
  const own = [...openOrdersOf(book, symbol)].filter(({ terms }) => terms.strategyId === strategyId)
  const holding = holdingOf(book, strategyId, symbol)
  const { buyingLots, sellingLots } = buildExposure(book.positionMode, holding, own)
  return tradesAs(action) === 'buy' ? holding.shortLots >= buyingLots : holding.longLots >= sellingLots
}
