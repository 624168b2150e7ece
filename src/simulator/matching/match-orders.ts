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
import type { OrderMatching } from './order-matching.ts'

/**
 * Matches orders with the displayed market (docs/simulator.md, "Fills" and "Trigger orders").
 * Orders of one account trade with each other only if `meetsOwn` allows it ({@link
 * preventSelfTrade}). The rest of a gtc order takes at each following quote that it reaches; from
 * the first that it does not reach, it rests as a maker. The system's orders have no limit of
 * volume, but count for others.
 */

const FORCED_LEVELS_MAX = 10_000

export function enterMarket<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): void {
  const { book } = matching
  const { market } = book
  matching.stopWaiting(order)
  order.status = 'live'
  matching.putOrder(order)
  const cutTicks = preventSelfTrade(matching, order)
  if (!isOpen(order)) return
  if (order.force === 'post_only' && ownOrdersMet(matching, order).length > 0)
    return cancelOrder(matching, order, 'post_only')
  // A fok order trades only with the market, whose size is known in advance.
  if (order.force !== 'fok') meetOwnOrders(matching, order)
  if (!isOpen(order)) return
  if (order.orderType === 'market') {
    takeLevels(matching, order, cutTicks)
    if (isOpen(order)) endMarketOrder(matching, order)
    return
  }
  const reaches = reachesMarket(market, order)
  if (reaches && order.force === 'post_only') return cancelOrder(matching, order, 'post_only')
  if (reaches && (order.force !== 'fok' || canFillWhole(matching, order))) {
    takeLevels(matching, order, cutTicks)
  }
  if (!isOpen(order)) return
  if (order.force === 'ioc' || order.force === 'fok') return cancelOrder(matching, order, 'force')
  if (cutTicks !== undefined) return cancelOrder(matching, order, 'self_trade')
  order.takingAt = reaches ? market.at : 0
  order.queueLots = reaches ? 0 : queueBefore(matching.book, order)
  insertOrder(sideOf(book, order), order)
  matching.putOrder(order)
}

function reachesBook({ market, buys, sells }: OrderBook<BookOrder>): boolean {
  const { bidTicks, askTicks, lowTicks, highTicks } = market
  if (buys.bestTicks >= Math.min(bidTicks, lowTicks)) return true
  return sells.bestTicks > 0 && sells.bestTicks <= Math.max(askTicks, highTicks)
}

export function matchResting<Order extends BookOrder>(matching: OrderMatching<Order>): void {
  if (!reachesBook(matching.book)) return
  const { market, buys, sells } = matching.book
  const hasTraded = market.tradedLots > 0
  const lowest = hasTraded ? Math.min(market.lowTicks, market.askTicks) : market.askTicks
  const highest = hasTraded ? Math.max(market.highTicks, market.bidTicks) : market.bidTicks
  const hasQueues = matching.model.touch === 'queue'
  const buysFrom = hasQueues ? Math.min(lowest, market.bidTicks) : lowest
  const sellsFrom = hasQueues ? Math.max(highest, market.askTicks) : highest
  for (const order of reached(buys.orders, buysFrom)) meetQuote(matching, order)
  for (const order of reached(sells.orders, sellsFrom)) meetQuote(matching, order)
}

function reached<Order extends BookOrder>(
  orders: readonly Order[],
  ticks: number,
): readonly Order[] {
  const end = orders.findIndex(({ priceTicks, direction }) =>
    direction === 'buy' ? priceTicks < ticks : priceTicks > ticks,
  )
  return orders.slice(0, end < 0 ? orders.length : end)
}

function takeLevels<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
  cutTicks?: number,
): void {
  const { market } = matching.book
  const { direction } = order
  if (market.at === 0 || (direction === 'buy' ? market.askLots : market.bidLots) <= 0) return
  const isForced = matching.isForced(order)
  const levels = isForced ? firstLevel(market, direction) + FORCED_LEVELS_MAX : matching.levelsMax
  for (let level = firstLevel(market, direction); level < levels && isOpen(order); level++) {
    const ticks = levelTicksAt(market, direction, level)
    if (isBeyond(order, ticks, cutTicks)) return
    const allowed = isForced ? Number.POSITIVE_INFINITY : allowedLots(market, matching.model)
    const price = noBetter(order, ticks)
    const wanted = Math.min(matching.wantedLots(order, price), allowed)
    if (wanted <= 0) return
    const isLast = isForced && (level === levels - 1 || ticks === 1)
    const lots = isLast ? wanted : Math.min(wanted, depthUpTo(market, direction, level))
    if (lots <= 0) continue
    const traded = fillOrder(matching, order, { lots, ticks: price, scope: 'taker' })
    takeDepth(market, direction, traded)
    countTaken(market, traded)
    matching.putMarket()
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

function noBetter({ direction, priceTicks, triggerTicks }: BookOrder, ticks: number): number {
  if (triggerTicks === 0) return ticks
  if (direction === 'sell') return Math.min(ticks, Math.max(triggerTicks, priceTicks))
  return Math.max(ticks, priceTicks === 0 ? triggerTicks : Math.min(triggerTicks, priceTicks))
}

function canFillWhole<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): boolean {
  const { market } = matching.book
  const { direction, priceTicks } = order
  const within = Math.abs(priceTicks - levelTicksAt(market, direction, 0)) / market.levelTicks
  const last = Math.min(matching.levelsMax - 1, Math.floor(within))
  const there = Math.min(depthUpTo(market, direction, last), allowedLots(market, matching.model))
  return there >= matching.wantedLots(order, priceTicks)
}

function meetQuote<Order extends BookOrder>(matching: OrderMatching<Order>, order: Order): void {
  if (!isOpen(order)) return
  const { market } = matching.book
  if (
    reachesMarket(market, order) &&
    order.takingAt !== 0 &&
    order.takingAt === market.previousAt
  ) {
    order.takingAt = market.at
    matching.putOrder(order)
    return takeLevels(matching, order)
  }
  const met = lotsMet(matching, order)
  if (met.lots <= 0) return
  const traded = fillOrder(matching, order, {
    lots: Math.min(met.lots, matching.wantedLots(order, order.priceTicks)),
    ticks: order.priceTicks,
    scope: 'maker',
  })
  if (met.by === 'quote') takeDepth(market, order.direction, traded)
  if (met.by === 'trade') market.taken.tradedLots += traded
  countTaken(market, traded)
  matching.putMarket()
}

interface QuoteMatch {
  readonly by: 'through' | 'quote' | 'trade'
  readonly lots: number
}

function lotsMet<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): QuoteMatch {
  const { market } = matching.book
  const { model } = matching
  const { direction, priceTicks } = order
  const isBuy = direction === 'buy'
  const hasTraded = market.tradedLots > 0
  const allowed = allowedLots(market, model)
  const isCrossed = isBuy ? market.askTicks < priceTicks : market.bidTicks > priceTicks
  const isTradedThrough =
    hasTraded && (isBuy ? market.lowTicks < priceTicks : market.highTicks > priceTicks)
  if (isCrossed || isTradedThrough) return { by: 'through', lots: allowed }
  if (model.touch === 'never') return { by: 'trade', lots: 0 }
  // If the market reaches this price, all orders before it are filled.
  if (reachesMarket(market, order)) {
    return { by: 'quote', lots: Math.min(allowed, depthUpTo(market, direction, 0)) }
  }
  return { by: 'trade', lots: Math.min(allowed, lotsTradedAt(matching, order)) }
}

function lotsTradedAt<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): number {
  const { market } = matching.book
  const { touch, touchShare } = matching.model
  const left = market.lastTicks === order.priceTicks ? market.tradedLots : 0
  if (touch === 'front') return left - market.taken.tradedLots
  if (order.queueLots === QUEUE_UNKNOWN) {
    order.queueLots = queueBefore(matching.book, order)
    matching.putOrder(order)
  }
  if (left <= 0) return 0
  const before = Math.max(0, order.queueLots)
  if (before > 0) {
    order.queueLots = Math.max(0, before - left)
    matching.putOrder(order)
  }
  return Math.floor((left - before) * touchShare) - market.taken.tradedLots
}

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

/**
 * Obeys the mode of an incoming order that would trade with a resting one of its account. With
 * cancel_taker it takes better prices of the market, and its rest is cancelled.
 *
 * @returns the price in ticks from which on the order must neither trade nor rest
 */
function preventSelfTrade<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): number | undefined {
  if (order.stpMode === 'none') return undefined
  const { market, buys, sells } = matching.book
  const isBuy = order.direction === 'buy'
  const meets = (isBuy ? sells : buys).orders.filter(
    (other) => other.uid === order.uid && wouldMeet(order, other.priceTicks),
  )
  const nearest = meets[0]?.priceTicks
  if (nearest === undefined) return undefined
  if (order.stpMode !== 'cancel_taker') {
    for (const other of meets) cancelOrder(matching, other, 'self_trade')
  }
  if (order.stpMode === 'cancel_maker') return undefined
  const best = isBuy ? market.askTicks : market.bidTicks
  if (market.at === 0 || (isBuy ? nearest <= best : nearest >= best))
    cancelOrder(matching, order, 'self_trade')
  return nearest
}

/**
 * The account's own resting orders come first where they are at least as good as the market's best.
 */
function meetOwnOrders<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): void {
  for (const own of ownOrdersMet(matching, order)) {
    const { priceTicks: ticks } = own
    const lots = Math.min(matching.wantedLots(own, ticks), matching.wantedLots(order, ticks))
    const traded = fillOrder(matching, own, { lots, ticks, scope: 'maker' })
    if (traded > 0 && isOpen(order))
      fillOrder(matching, order, { lots: traded, ticks, scope: 'taker', isTwin: true })
    if (!isOpen(order)) return
  }
}

function ownOrdersMet<Order extends BookOrder>(
  matching: OrderMatching<Order>,
  order: Order,
): readonly Order[] {
  const { market, buys, sells } = matching.book
  if (matching.meetsOwn !== true || order.stpMode !== 'none' || matching.isForced(order)) return []
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
