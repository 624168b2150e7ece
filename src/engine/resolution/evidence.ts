import { couldBe, fitsClass } from '../../execution/attribution.ts'
import { type OrderId } from '../../domain/ids.ts'
import { type Order } from '../../domain/order.ts'
import { type SettledOrder } from '../../domain/record.ts'
import { openOrdersOf } from '../book/book.ts'
import { type Core } from '../state/core.ts'

/**
 * What fills prove about orders that the exchange never named: the orderIds among the orphans of the symbol
 * are matched with the orders that could have made them, older orders and orderIds first. Orders that share
 * an attribution key are alike or stand in different batches, so totals are exact either way.
 */
function matchOrphans(core: Core, symbol: string): ReadonlyMap<Order, OrderId> {
  const matches = new Map<Order, OrderId>()
  const orders = namelessOrders(core, symbol)
  const orderIds = [...core.book.orphans.keys()].sort(byNumber)
  for (const orderId of orderIds) {
    const fills = core.book.orphans.get(orderId) ?? []
    if (fills[0]?.symbol !== symbol) continue
    const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
    const owner = orders.find(
      (order) =>
        !matches.has(order) &&
        order.terms.lots >= lots &&
        fills.every((fill) => couldBe(core.settings.positionMode, order, fill)),
    )
    if (owner) matches.set(owner, orderId)
  }
  return matches
}

/** The orders that may be at the exchange and whose orderId no answer has named. */
export function namelessOrders(core: Core, symbol: string): readonly Order[] {
  return [...openOrdersOf(core.book, symbol)].filter(
    (order) => order.orderId === undefined && order.attempts > 0,
  )
}

/** Exchange ids are decimal numbers of many digits: shorter is smaller. */
function byNumber(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : Number(left > right))
}

/**
 * Fills that contradict these orders: they look like fills of one of them, but there are more orderIds than orders,
 * or more lots than the order has. By order, the orderIds that are too many.
 */
function findContradictions(
  core: Core,
  {
    symbol,
    orders,
    matches,
  }: { symbol: string; orders: readonly Order[]; matches: ReadonlyMap<Order, OrderId> },
): ReadonlyMap<Order, readonly OrderId[]> {
  const matched = new Set(matches.values())
  const surplus = [...core.book.orphans].filter(
    ([orderId, [first]]) => first?.symbol === symbol && !matched.has(orderId),
  )
  const contradicted = new Map<Order, readonly OrderId[]>()
  for (const order of orders) {
    if (order.state !== 'unknown') continue
    const odd = surplus.filter(([, fills]) =>
      fills.every((fill) => fitsClass(core.settings.positionMode, order, fill)),
    )
    if (odd.length > 0)
      contradicted.set(
        order,
        odd.map(([orderId]) => orderId),
      )
  }
  return contradicted
}

/**
 * What became of the orders, once all fills up to their end are known: done, absent, or quarantined if the evidence
 * contradicts itself.
 */
export function settleByEvidence(
  core: Core,
  symbol: string,
  orders: readonly Order[],
  why: string,
): readonly SettledOrder[] {
  const matches = matchOrphans(core, symbol)
  const contradictions = findContradictions(core, { symbol, orders, matches })
  return orders.map((order): SettledOrder => {
    const { clientOid } = order.terms
    const orderId = matches.get(order)
    const odd = contradictions.get(order)
    if (odd)
      return { clientOid, state: 'quarantined', reason: `fills of ${odd.join(', ')} are too many for it` }
    if (order.state === 'quarantined') {
      return { clientOid, state: 'released', reason: why, ...(orderId === undefined ? {} : { orderId }) }
    }
    if (orderId !== undefined)
      return { clientOid, state: 'done', orderId, reason: `${why}, found by its fills` }
    if (order.state === 'unknown' && order.filledLots === 0 && order.orderId === undefined) {
      return { clientOid, state: 'absent', reason: `${why}, no trace of it` }
    }
    return { clientOid, state: 'done', reason: why }
  })
}
