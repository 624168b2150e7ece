import type { BookOrder } from './book-order.ts'
import { cancelOrder } from './order-lifecycle.ts'
import type { Venue } from './venue.ts'

/**
 * Self-trade prevention: what happens when an incoming order would meet a resting order of its own account.
 * The incoming order's mode decides. Since orders trade with the market only, `none` has no effect at all.
 *
 *   cancel_maker  the resting orders that it would meet are cancelled
 *   cancel_taker  it takes what the market has at better prices than its own resting order; the rest is cancelled
 *   cancel_both   the resting orders are cancelled, and it ends as with cancel_taker
 *
 * @returns the price, in ticks, from which on the order must not trade nor rest; undefined without one
 */
export function preventSelfTrade<Order extends BookOrder>(
  venue: Venue<Order>,
  order: Order,
): number | undefined {
  if (order.stpMode === 'none') return undefined
  const { market, buys, sells } = venue.book
  const isBuy = order.direction === 'buy'
  const meets = (isBuy ? sells : buys).orders.filter(
    (other) => other.uid === order.uid && wouldMeet(order, other.priceTicks),
  )
  const nearest = meets[0]?.priceTicks
  if (nearest === undefined) return undefined
  if (order.stpMode !== 'cancel_taker') {
    for (const other of meets) cancelOrder(venue, other, 'self_trade')
  }
  if (order.stpMode === 'cancel_maker') return undefined
  const best = isBuy ? market.askTicks : market.bidTicks
  if (market.at === 0 || (isBuy ? nearest <= best : nearest >= best)) cancelOrder(venue, order, 'self_trade')
  return nearest
}

function wouldMeet(order: BookOrder, priceTicks: number): boolean {
  if (order.orderType === 'market') return true
  return order.direction === 'buy' ? order.priceTicks >= priceTicks : order.priceTicks <= priceTicks
}
