import type { BookOrder } from './book-order.ts'
import { cancelOrder, fillOrder, isOpen } from './order-lifecycle.ts'
import type { Venue } from './venue.ts'

/**
 * Applies when an incoming order would trade with a resting one of its own account; the incoming
 * order's mode decides.
 * - cancel_maker: the resting orders that it would meet are cancelled
 * - cancel_taker: it takes what the market has at better prices, and its rest is cancelled
 * - cancel_both: both
 *
 * @returns the price, in ticks, from which on the order must not trade nor rest
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
  if (market.at === 0 || (isBuy ? nearest <= best : nearest >= best))
    cancelOrder(venue, order, 'self_trade')
  return nearest
}

/**
 * Without self-trade prevention, an order first trades with its account's resting orders at least
 * as good as the market's best price, at their price.
 */
export function meetOwnOrders<Order extends BookOrder>(venue: Venue<Order>, order: Order): void {
  for (const own of ownOrdersMet(venue, order)) {
    const { priceTicks: ticks } = own
    const lots = Math.min(venue.wantedLots(own, ticks), venue.wantedLots(order, ticks))
    const traded = fillOrder(venue, own, { lots, ticks, scope: 'maker' })
    if (traded > 0 && isOpen(order))
      fillOrder(venue, order, { lots: traded, ticks, scope: 'taker', isTwin: true })
    if (!isOpen(order)) return
  }
}

export function ownOrdersMet<Order extends BookOrder>(
  venue: Venue<Order>,
  order: Order,
): readonly Order[] {
  const { market, buys, sells } = venue.book
  if (venue.meetsOwn !== true || order.stpMode !== 'none' || venue.isForced(order)) return []
  const isBuy = order.direction === 'buy'
  const best = market.at === 0 ? undefined : isBuy ? market.askTicks : market.bidTicks
  return (isBuy ? sells : buys).orders.filter(({ uid, priceTicks }) => {
    const isDeeper = best !== undefined && (isBuy ? priceTicks > best : priceTicks < best)
    return uid === order.uid && !isDeeper && wouldMeet(order, priceTicks)
  })
}

function wouldMeet(order: BookOrder, priceTicks: number): boolean {
  if (order.orderType === 'market') return true
  return order.direction === 'buy' ? order.priceTicks >= priceTicks : order.priceTicks <= priceTicks
}
