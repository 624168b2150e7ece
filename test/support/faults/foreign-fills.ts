import { sequenceOfId, tradeIdText } from '../../../src/simulator/futures/orders/order.ts'
import { isByApi, isForeign, type TrueFill } from '../virtual/exchange-truth.ts'
import { type World } from '../world/world.ts'

/** Fills of others that every read shows, oldest first. */
export function foreignFills(
  { exchange: { truth, unseen } }: World,
  symbol: string,
): readonly TrueFill[] {
  return truth.fillsInOrder.filter((fill) => {
    const order = truth.orders.get(String(fill.orderSequence))
    const isSeen = !unseen.has(tradeIdText(fill.sequence))
    return fill.symbol === symbol && order !== undefined && isForeign(order) && isSeen
  })
}

export function unseenFills({ exchange: { truth, unseen } }: World): readonly TrueFill[] {
  if (unseen.size === 0) return []
  return truth.fillsInOrder.filter(({ sequence }) => unseen.has(tradeIdText(sequence)))
}

export function isOfApi({ exchange: { truth } }: World, orderId: string): boolean {
  const order = truth.orders.get(String(sequenceOfId(orderId)))
  return order !== undefined && isByApi(order)
}

export function hasUnseen(world: World, symbol: string): boolean {
  return unseenFills(world).some((fill) => fill.symbol === symbol)
}

/**
 * A close without a fill is adopted later than it happened; meanwhile others may have opened, and a
 * net position may have turned. Then the owner of the rest is unknown.
 */
export function isAllocationKnown(world: World, symbol: string): boolean {
  // Fills are applied in order of their dates, and when they are readable.
  if (world.exchange.brokenFills.isOutOfOrder(symbol) && foreignFills(world, symbol).length > 0)
    return false
  if (!hasUnseen(world, symbol)) return true
  return world.plan.positionMode === 'hedge_mode' && foreignFills(world, symbol).length === 0
}
