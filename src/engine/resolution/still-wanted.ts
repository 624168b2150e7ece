import { isClosing, tradesAs } from '../../domain/order-action.ts'
import { type Order, type OrderTerms } from '../../domain/order.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { haltOf, pairKey } from '../book/book.ts'
import { type Core } from '../state/core.ts'

/** Whether an order that may not be at the exchange would be sent today exactly as it was. */
export function isStillWanted(core: Core, { terms }: Order): boolean {
  if (core.mode === 'stopping' || core.mode === 'stopped') return false
  if (core.book.withdrawn.has(terms.clientOid)) return false
  if (haltOf(core.book, terms.symbol) !== undefined && !isClosing(terms.action)) return false
  switch (terms.purpose) {
    case 'place':
      return core.now <= terms.deadlineAt
    case 'quote':
      return standsInLadder(core, terms)
    case 'target':
      return core.book.targets.has(pairKey(terms.strategyId, terms.symbol))
    case 'flatten':
      return false
    default:
      return unreachable(terms.purpose)
  }
}

function standsInLadder({ book }: Core, terms: OrderTerms): boolean {
  const levels = book.quotes.get(pairKey(terms.strategyId, terms.symbol)) ?? []
  const side = tradesAs(terms.action)
  return levels.some(
    (level) => level.side === side && level.ticks === terms.ticks && level.lots === terms.lots,
  )
}
