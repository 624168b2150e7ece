import { heldBackBy } from '../../domain/trading-mode.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { type OrderTerms } from '../../domain/order.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { type Book, holdingOf, openOrdersOf } from '../book/book.ts'
import { type OutgoingBatch } from '../effect.ts'
import { type Core } from '../state/core.ts'
import { tradingStateOf } from '../state/trading-mode.ts'

/**
 * Whether a batch may not leave after all, because trading has been restricted since it was formed (RSK2). Looked at
 * right before its first byte.
 */
export function isHeldBack(core: Core, { clientOids }: Pick<OutgoingBatch, 'clientOids'>): boolean {
  return clientOids.some((clientOid) => {
    const terms = core.book.orders.get(clientOid)?.terms
    if (terms === undefined) return false
    const isFlatten = terms.purpose === 'flatten'
    const reduces = (): boolean => reducesRisk(core.book, terms)
    return (
      heldBackBy(tradingStateOf(core, terms.symbol, terms.strategyId), { isFlatten, reduces }) !== undefined
    )
  })
}

/** As in the risk checks: counted with all other open orders of the strategy on that side, which may fill first. */
function reducesRisk(book: Book, { action, strategyId, symbol }: OrderTerms): boolean {
  if (isClosing(action)) return true
  const own = [...openOrdersOf(book, symbol)].filter(({ terms }) => terms.strategyId === strategyId)
  const holding = holdingOf(book, strategyId, symbol)
  const { buyingLots, sellingLots } = buildExposure(book.positionMode, holding, own)
  return tradesAs(action) === 'buy' ? holding.shortLots >= buyingLots : holding.longLots >= sellingLots
}
