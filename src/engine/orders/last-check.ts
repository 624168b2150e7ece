import { heldBackBy } from '../../domain/trading-mode.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { reducesRisk } from '../../risk/checks.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { type Book, holdingOf, openOrdersOf } from '../book/book.ts'
import type { OutgoingBatch } from '../effect.ts'
import type { Core } from '../state/core.ts'
import { tradingStateOf } from '../state/trading-mode.ts'

/**
 * Whether a batch must not leave after all, because trading has been restricted since it was planned (RSK2). Asked right
 * before its first byte.
 */
export function isHeldBack(core: Core, { clientOids }: Pick<OutgoingBatch, 'clientOids'>): boolean {
  return clientOids.some((clientOid) => {
    const terms = core.book.orders.get(clientOid)?.terms
    if (terms === undefined) return false
    const isFlatten = terms.purpose === 'flatten'
    const reduces = (): boolean => reducesRisk(terms, besideOthers(core.book, terms))
    return (
      heldBackBy(tradingStateOf(core, terms.symbol, terms.strategyId), { isFlatten, reduces }) !== undefined
    )
  })
}

/** What the strategy holds beside the order, with all its other open orders, since those may be filled first. */
function besideOthers(book: Book, { strategyId, symbol, clientOid }: OrderTerms) {
  const others = [...openOrdersOf(book, symbol)].filter(
    ({ terms }) => terms.strategyId === strategyId && terms.clientOid !== clientOid,
  )
  const holding = holdingOf(book, strategyId, symbol)
  return { holding, ownExposure: buildExposure(book.positionMode, holding, others) }
}
