import { type Order } from '../../domain/order.ts'
import { type RepairedRecord } from '../../domain/record.ts'
import { markLost } from '../../execution/order-machine.ts'
import { type Book, pairKey, storeOrder } from './book.ts'

/**
 * Ordinals name orders for ever (ORD2), and those that were lost are skipped: far more than any journal has
 * used, and a thousand repairs fit below the largest exact integer.
 */
const ORDINALS_SKIPPED = 1_000_000_000

/**
 * Nothing is certain any more but what stands in the records before: every order that had not ended is
 * unknown, orders that nobody remembers may rest on every instrument and may still arrive, and no name that
 * a ladder or a target could have used is used again. Nothing that adds risk leaves until a person has looked.
 */
export function applyRepaired(book: Book, record: RepairedRecord): void {
  const { at, reason, strategies, symbols } = record
  book.recordsLostAt = at
  book.halts.set('*', reason)
  for (const order of openOrders(book)) storeOrder(book, markLost(order, reason, at))
  for (const symbol of symbols) book.cancels.set(symbol, at)
  const wishes = strategies.flatMap((id) => symbols.map((symbol) => pairKey(id, symbol)))
  for (const wish of new Set([...book.ordinals.keys(), ...wishes])) {
    book.ordinals.set(wish, (book.ordinals.get(wish) ?? 0) + ORDINALS_SKIPPED)
  }
}

function openOrders(book: Book): readonly Order[] {
  return [...book.open.values()].flatMap((orders) => [...orders.values()])
}
