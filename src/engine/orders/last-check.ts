import { heldBackBy } from '../../domain/trading-mode.ts'
import type { OrderTerms } from '../../domain/order.ts'
import { checkExplained, type OpeningContext, reducesRisk } from '../../risk/checks.ts'
import { buildExposure } from '../../risk/exposure.ts'
import { backedHolding } from '../book/allocation.ts'
import { type Book, holdingOf, openOrdersOf } from '../book/book.ts'
import type { OutgoingBatch } from '../effect.ts'
import { unownedOf } from '../resolution/unowned-fills.ts'
import { type Core, instrumentOf } from '../state/core.ts'
import { accountAgeMs } from '../state/readings.ts'
import { totalsOf } from '../state/totals.ts'
import { tradingStateOf } from '../state/trading-mode.ts'

/**
 * Why a batch must not leave after all: trading has been restricted since it was planned (RSK2), what is known of the
 * account has become too old for an order that adds risk (MKT3), or fills came that nothing explains (RSK4). Asked right
 * before its first byte.
 * @param now Unix ms, our clock: the last step may be a while ago.
 */
export function objectToBatch(
  core: Core,
  { symbol, clientOids }: Pick<OutgoingBatch, 'symbol' | 'clientOids'>,
  now: number,
): string | undefined {
  const isBlind = accountAgeMs(core, symbol, now) > core.settings.limits.accountAgeMaxMs
  for (const clientOid of clientOids) {
    const terms = core.book.orders.get(clientOid)?.terms
    if (terms === undefined) continue
    const isFlatten = terms.purpose === 'flatten'
    const trading = tradingStateOf(core, terms.symbol, terms.strategyId)
    const reduces = (): boolean => reducesRisk(terms, besideOthers(core.book, terms))
    if (heldBackBy(trading, { isFlatten, reduces }) !== undefined)
      return 'trading was restricted meanwhile'
    if (isBlind && !reduces())
      return 'fills or the position have not been read for too long meanwhile'
    if (checkExplained(terms, openingContextOf(core, terms, trading)) !== undefined) {
      return 'fills came meanwhile that nothing explains'
    }
  }
  return undefined
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
