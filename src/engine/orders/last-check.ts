import { heldBackBy } from '../../domain/trading-mode.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { checkExplained, type OpeningContext, reducesRisk } from '../../risk/checks.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { backedHolding } from '../book/allocation.ts'
import { type Book, holdingOf, openOrdersOf } from '../book/book.ts'
import type { OutgoingBatch } from '../effect.ts'
import { unownedOf } from '../resolution/unowned-fills.ts'
import { type Core, instrumentOf } from '../state/core.ts'
import { totalsOf } from '../state/totals.ts'
import { tradingStateOf } from '../state/trading-mode.ts'

/**
 * Whether a batch must not leave after all, because trading has been restricted since it was planned (RSK2), or fills came
 * that nothing explains (RSK4). Asked right before its first byte.
 */
export function isHeldBack(core: Core, { clientOids }: Pick<OutgoingBatch, 'clientOids'>): boolean {
  return clientOids.some((clientOid) => {
    const terms = core.book.orders.get(clientOid)?.terms
    if (terms === undefined) return false
    const isFlatten = terms.purpose === 'flatten'
    const trading = tradingStateOf(core, terms.symbol, terms.strategyId)
    const reduces = (): boolean => reducesRisk(terms, besideOthers(core.book, terms))
    if (heldBackBy(trading, { isFlatten, reduces }) !== undefined) return true
    return checkExplained(terms, openingContextOf(core, terms, trading)) !== undefined
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

function openingContextOf(
  core: Core,
  { strategyId, symbol }: OrderTerms,
  trading: OpeningContext['trading'],
): OpeningContext {
  return {
    trading,
    held: holdingOf(core.book, strategyId, symbol),
    holding: backedHolding(core.book, strategyId, symbol),
    accountExposure: totalsOf(core, symbol).exposure,
    unowned: unownedOf(core.book, symbol),
    isConfirmed: instrumentOf(core, symbol).position.isConfirmed,
  }
}
