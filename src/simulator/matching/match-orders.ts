import { type BookOrder, QUEUE_UNKNOWN } from './book-order.ts'
import {
  allowedLots,
  countTaken,
  depthUpTo,
  firstLevel,
  levelTicksAt,
  reachesMarket,
  takeDepth,
} from './displayed-market.ts'
import { insertOrder, type OrderBook, sideOf } from './order-book.ts'
import { cancelOrder, endMarketOrder, fillOrder, isOpen } from './order-lifecycle.ts'
import { meetOwnOrders, ownOrdersMet, preventSelfTrade } from './self-trade.ts'
import type { Venue } from './venue.ts'

/*
 * How orders meet the market: of futures, spot and margin, and nowhere else. Accounts never meet each other, and the
 * orders of one account only where the venue has it so (self-trade.ts).
 *
 * An order that reaches the other side walks its levels: each is as deep as the displayed one and `levelTicks`
 * worse, so the price grows with the size. A limit order stops at its price, a market order at the last level;
 * what is left of a gtc goes on taking at each following quote while it still reaches it, and from the first that
 * it does not reach it rests as a maker.
 *
 * A resting order is filled at its own price: when the market goes through it, on the way from quote to quote too, and
 * when it only touches it by what the fill model says (fill-model.ts). All orders together never have more of a candle than the model's share, so
 * that nobody buys what nobody has sold. The system's own orders have no such limit and walk on; what they take counts,
 * so that others get less of that candle, or nothing.
 *
 * An order that a last price lets in gets no better price than that, as a resting one gets its own: a path moves in
 * jumps, and who is let in at the end of one would earn what lies between.
 */

/** The system's order finds so many levels; what is then left is filled at the last one. */
const FORCED_LEVELS_MAX = 10_000

/** Lets an accepted order into the market. */
export function enterMarket<Order extends BookOrder>(venue: Venue<Order>, order: Order): void {
  const { book } = venue
  const { market } = book
  venue.stopWaiting(order)
  order.status = 'live'
  venue.putOrder(order)
  const cutTicks = preventSelfTrade(venue, order)
  if (!isOpen(order)) return
  if (order.force === 'post_only' && ownOrdersMet(venue, order).length > 0)
    return cancelOrder(venue, order, 'post_only')
  // What must be filled whole is filled by the market, which says beforehand how much it has.
  if (order.force !== 'fok') meetOwnOrders(venue, order)
  if (!isOpen(order)) return
  if (order.orderType === 'market') {
    takeLevels(venue, order, cutTicks)
    if (isOpen(order)) endMarketOrder(venue, order)
    return
  }
  const reaches = reachesMarket(market, order)
  if (reaches && order.force === 'post_only') return cancelOrder(venue, order, 'post_only')
  if (reaches && (order.force !== 'fok' || canFillWhole(venue, order))) {
    takeLevels(venue, order, cutTicks)
  }
  if (!isOpen(order)) return
  if (order.force === 'ioc' || order.force === 'fok') return cancelOrder(venue, order, 'force')
  if (cutTicks !== undefined) return cancelOrder(venue, order, 'self_trade')
  order.takingAt = reaches ? market.at : 0
  order.queueLots = reaches ? 0 : queueBefore(venue.book, order)
  insertOrder(sideOf(book, order), order)
  venue.putOrder(order)
}

/** Whether a new quote may concern resting orders. This comparison of the best prices is all that most quotes cost. */
function reachesBook({ market, buys, sells }: OrderBook<BookOrder>): boolean {
  const { bidTicks, askTicks, lowTicks, highTicks } = market
  if (buys.bestTicks >= Math.min(bidTicks, lowTicks)) return true
  return sells.bestTicks > 0 && sells.bestTicks <= Math.max(askTicks, highTicks)
}

/** Matches the resting orders against a new quote. */
export function matchResting<Order extends BookOrder>(venue: Venue<Order>): void {
  if (!reachesBook(venue.book)) return
  const { market, buys, sells } = venue.book
  const hasTraded = market.tradedLots > 0
  const lowest = hasTraded ? Math.min(market.lowTicks, market.askTicks) : market.askTicks
  const highest = hasTraded ? Math.max(market.highTicks, market.bidTicks) : market.bidTicks
  // Where there are queues, an order looks at the one before it when its price becomes the best one.
  const hasQueues = venue.model.touch === 'queue'
  const buysFrom = hasQueues ? Math.min(lowest, market.bidTicks) : lowest
  const sellsFrom = hasQueues ? Math.max(highest, market.askTicks) : highest
  for (const order of reached(buys.orders, buysFrom)) meetQuote(venue, order)
  for (const order of reached(sells.orders, sellsFrom)) meetQuote(venue, order)
}

/** The orders at this price and better ones: a copy, since orders leave the book when they are filled. */
function reached<Order extends BookOrder>(
  orders: readonly Order[],
  ticks: number,
): readonly Order[] {
  const end = orders.findIndex(({ priceTicks, direction }) =>
    direction === 'buy' ? priceTicks < ticks : priceTicks > ticks,
  )
  return orders.slice(0, end < 0 ? orders.length : end)
}

/** Takes from the other side, level by level. @param cutTicks No level at or beyond this price; see self-trade.ts. */
function takeLevels<Order extends BookOrder>(
  venue: Venue<Order>,
  order: Order,
  cutTicks?: number,
): void {
  const { market } = venue.book
  const { direction } = order
  if (market.at === 0 || (direction === 'buy' ? market.askLots : market.bidLots) <= 0) return
  const isForced = venue.isForced(order)
  const levels = isForced ? firstLevel(market, direction) + FORCED_LEVELS_MAX : venue.levelsMax
  for (let level = firstLevel(market, direction); level < levels && isOpen(order); level++) {
    const ticks = levelTicksAt(market, direction, level)
    if (isBeyond(order, ticks, cutTicks)) return
    const allowed = isForced ? Number.POSITIVE_INFINITY : allowedLots(market, venue.model)
    const price = noBetter(order, ticks)
    const wanted = Math.min(venue.wantedLots(order, price), allowed)
    if (wanted <= 0) return
    const isLast = isForced && (level === levels - 1 || ticks === 1)
    const lots = isLast ? wanted : Math.min(wanted, depthUpTo(market, direction, level))
    if (lots <= 0) continue
    const traded = fillOrder(venue, order, { lots, ticks: price, scope: 'taker' })
    takeDepth(market, direction, traded)
    countTaken(market, traded)
    venue.putMarket()
  }
}

function isBeyond(
  { direction, orderType, priceTicks }: BookOrder,
  ticks: number,
  cutTicks?: number,
): boolean {
  const isBuy = direction === 'buy'
  if (cutTicks !== undefined && (isBuy ? ticks >= cutTicks : ticks <= cutTicks)) return true
  return orderType === 'limit' && (isBuy ? ticks > priceTicks : ticks < priceTicks)
}

/** Than the price that let it in, or its own where that is better still. */
function noBetter({ direction, priceTicks, triggerTicks }: BookOrder, ticks: number): number {
  if (triggerTicks === 0) return ticks
  if (direction === 'sell') return Math.min(ticks, Math.max(triggerTicks, priceTicks))
  return Math.max(ticks, priceTicks === 0 ? triggerTicks : Math.min(triggerTicks, priceTicks))
}

function canFillWhole<Order extends BookOrder>(venue: Venue<Order>, order: Order): boolean {
  const { market } = venue.book
  const { direction, priceTicks } = order
  const within = Math.abs(priceTicks - levelTicksAt(market, direction, 0)) / market.levelTicks
  const last = Math.min(venue.levelsMax - 1, Math.floor(within))
  const there = Math.min(depthUpTo(market, direction, last), allowedLots(market, venue.model))
  return there >= venue.wantedLots(order, priceTicks)
}

function meetQuote<Order extends BookOrder>(venue: Venue<Order>, order: Order): void {
  if (!isOpen(order)) return
  const { market } = venue.book
  if (
    reachesMarket(market, order) &&
    order.takingAt !== 0 &&
    order.takingAt === market.previousAt
  ) {
    order.takingAt = market.at
    venue.putOrder(order)
    return takeLevels(venue, order)
  }
  const met = lotsMet(venue, order)
  if (met.lots <= 0) return
  const traded = fillOrder(venue, order, {
    lots: Math.min(met.lots, venue.wantedLots(order, order.priceTicks)),
    ticks: order.priceTicks,
    scope: 'maker',
  })
  if (met.by === 'quote') takeDepth(market, order.direction, traded)
  if (met.by === 'trade') market.taken.tradedLots += traded
  countTaken(market, traded)
  venue.putMarket()
}

interface Met {
  /** What of the market it was: went through it, or touched it with what is displayed, or with a trade. */
  readonly by: 'through' | 'quote' | 'trade'
  readonly lots: number
}

/** How much a resting order gets of a quote, at its own price. */
function lotsMet<Order extends BookOrder>(venue: Venue<Order>, order: Order): Met {
  const { market } = venue.book
  const { model } = venue
  const { direction, priceTicks } = order
  const isBuy = direction === 'buy'
  const hasTraded = market.tradedLots > 0
  const allowed = allowedLots(market, model)
  const isCrossed = isBuy ? market.askTicks < priceTicks : market.bidTicks > priceTicks
  const isTradedThrough =
    hasTraded && (isBuy ? market.lowTicks < priceTicks : market.highTicks > priceTicks)
  if (isCrossed || isTradedThrough) return { by: 'through', lots: allowed }
  if (model.touch === 'never') return { by: 'trade', lots: 0 }
  // Somebody offers at its price: whoever stood before it there has been taken.
  if (reachesMarket(market, order)) {
    return { by: 'quote', lots: Math.min(allowed, depthUpTo(market, direction, 0)) }
  }
  return { by: 'trade', lots: Math.min(allowed, lotsTradedAt(venue, order)) }
}

/** What it gets of trades at its price, once the queue before it has traded. */
function lotsTradedAt<Order extends BookOrder>(venue: Venue<Order>, order: Order): number {
  const { market } = venue.book
  const { touch, touchShare } = venue.model
  const left = market.lastTicks === order.priceTicks ? market.tradedLots : 0
  if (touch === 'front') return left - market.taken.tradedLots
  if (order.queueLots === QUEUE_UNKNOWN) {
    order.queueLots = queueBefore(venue.book, order)
    venue.putOrder(order)
  }
  if (left <= 0) return 0
  const before = Math.max(0, order.queueLots)
  if (before > 0) {
    order.queueLots = Math.max(0, before - left)
    venue.putOrder(order)
  }
  return Math.floor((left - before) * touchShare) - market.taken.tradedLots
}

/** What is displayed at its price before it comes there: nothing where its price is better than the best one. */
function queueBefore<Order extends BookOrder>(
  { market }: OrderBook<Order>,
  order: BookOrder,
): number {
  if (market.at === 0) return QUEUE_UNKNOWN
  const isBuy = order.direction === 'buy'
  const best = isBuy ? market.bidTicks : market.askTicks
  if (order.priceTicks === best) return isBuy ? market.bidLots : market.askLots
  return (isBuy ? order.priceTicks > best : order.priceTicks < best) ? 0 : QUEUE_UNKNOWN
}
