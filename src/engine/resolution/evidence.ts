import { couldBe, fitsClass } from '../../execution/batch.ts'
import type { OrderId } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { AssignedRecord, SettledOrder } from '../../domain/record.ts'
import { type Book, openOrdersOf } from '../book/book.ts'
import { announce, type Core, record } from '../state/core.ts'
import { FLAT } from '../../domain/position.ts'
import { formatOnGrid } from '../../lib/grid.ts'

/**
 * Nameless orders that could have made the symbol's orphans, older ones first. Two orders that a
 * fill fits alike have the same terms, or come from different batches, so totals are exact in any
 * case.
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

/** They may be at the exchange. */
export function namelessOrders(core: Core, symbol: string): readonly Order[] {
  return [...openOrdersOf(core.book, symbol)].filter(
    (order) => order.orderId === undefined && order.attempts > 0,
  )
}

/** Decimal numbers of many digits: shorter is smaller. */
function byNumber(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : Number(left > right))
}

/**
 * Keyed by unknown order, orderIds that look like its own but cannot be: more of them than orders,
 * or more lots than it has.
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
 * With all fills to their end known: done, absent, or quarantined where fills contradict each
 * other.
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
      return {
        clientOid,
        state: 'quarantined',
        reason: `fills of ${odd.join(', ')} are too many for it`,
      }
    if (order.state === 'quarantined') {
      return {
        clientOid,
        state: 'released',
        reason: why,
        ...(orderId === undefined ? {} : { orderId }),
      }
    }
    if (orderId !== undefined)
      return { clientOid, state: 'done', orderId, reason: `${why}, found by its fills` }
    if (order.state === 'unknown' && order.filledLots === 0 && order.orderId === undefined) {
      return { clientOid, state: 'absent', reason: `${why}, no trace of it` }
    }
    return { clientOid, state: 'done', reason: why }
  })
}

/** At the price that the account has paid. */
export function assign(
  core: Core,
  assigned: Omit<AssignedRecord, 'kind' | 'at' | 'longTicks' | 'shortTicks'>,
  beyondLimit?: string,
): void {
  const { symbol, strategyId, holding, reason, by } = assigned
  const prices = pricesOf(core.book, symbol)
  record(
    core,
    { kind: 'assigned', at: core.now, symbol, strategyId, holding, ...prices, reason, by },
    true,
  )
  const lot = core.settings.instruments.get(symbol)?.lot
  const sizeOf = (lots: number): string => (lot ? formatOnGrid(lot, lots) : `${lots} lots`)
  announce(core, 'warn', 'position.assigned', {
    symbol,
    strategyId,
    ...(holding.longLots > 0 && { long: sizeOf(holding.longLots) }),
    ...(holding.shortLots > 0 && { short: sizeOf(holding.shortLots) }),
    ...(beyondLimit !== undefined && { beyondLimit }),
    reason,
    by,
  })
}

/** Undefined where neither fills nor exchange say it. */
export function pricesOf(
  book: Book,
  symbol: string,
): Pick<AssignedRecord, 'longTicks' | 'shortTicks'> {
  const entry = book.entries.get(symbol)
  const { longLots, shortLots } = book.account.get(symbol) ?? FLAT
  if (entry === undefined) return {}
  return {
    ...(longLots > 0 && entry.longLots >= longLots && { longTicks: entry.longTicks }),
    ...(shortLots > 0 && entry.shortLots >= shortLots && { shortTicks: entry.shortTicks }),
  }
}
