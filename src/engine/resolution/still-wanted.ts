import { isClosing } from '../../domain/order-action.ts'
import { type Order } from '../../domain/order.ts'
import { haltOf } from '../book/book.ts'
import { type Core } from '../state/core.ts'

/** Whether an order by name that is not at the exchange would be sent today exactly as it was. */
export function isStillWanted(core: Core, { terms }: Order): boolean {
  if (core.mode === 'stopping' || core.mode === 'stopped') return false
  if (core.book.withdrawn.has(terms.clientOid)) return false
  if (haltOf(core.book, terms.symbol) !== undefined && !isClosing(terms.action)) return false
  return core.now <= terms.deadlineAt
}
