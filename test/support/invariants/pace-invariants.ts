import { canRest, isClosing, type Order, tradesAs } from '../../../src/domain/order.ts'
import { type Book, holdingOf } from '../../../src/engine/book/book.ts'
import { type OutgoingBatch } from '../../../src/engine/effect.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

const MINUTE_MS = 60_000

/**
 * No order that adds risk leaves when its limit's number has left within a minute, including its
 * own batch; and none that would trade with one of ours if that is denied, also within a batch.
 */
export function watchOrderPace(world: World): WorldWatcher {
  const { limits, strategies } = world.settings
  const isDenied = limits.selfTrade === 'deny'
  let left: { readonly at: number; readonly strategyId: string }[] = []
  const countPace = (book: Book, { clientOids }: OutgoingBatch, now: number): void => {
    left = left.filter(({ at }) => at > now - MINUTE_MS)
    for (const order of ordersOf(book, clientOids)) {
      const { strategyId, symbol, clientOid } = order.terms
      const strategy = [...strategies.values()].find(({ id }) => id === strategyId)
      const ofStrategy = left.filter((one) => one.strategyId === strategyId).length
      const max = strategy?.limits.get(symbol)?.ordersPerMinute ?? Number.POSITIVE_INFINITY
      const isTooMany =
        ofStrategy >= max || left.length >= (limits.ordersPerMinute ?? Number.POSITIVE_INFINITY)
      if (isTooMany && addsRisk(book, order))
        violate(
          world,
          'RSK1',
          `${clientOid} left after ${ofStrategy} of its strategy and ${left.length} in all`,
        )
      left.push({ at: now, strategyId })
    }
  }
  return {
    onBirth() {
      left = []
    },
    afterStep(_, effects, now) {
      const { book } = world.process.engine ?? {}
      for (const effect of effects) {
        if (effect.kind !== 'sendBatch' || !book) continue
        countPace(book, effect.batch, now)
        if (isDenied) checkMeeting(world, book, effect.batch)
      }
    },
  }
}

function ordersOf(book: Book, names: OutgoingBatch['clientOids']): readonly Order[] {
  return names.flatMap((name) => book.orders.get(name) ?? [])
}

/** Certain only for an order that opens with or beside a holding of its strategy. */
function addsRisk(book: Book, { terms }: Order): boolean {
  const { longLots, shortLots } = holdingOf(book, terms.strategyId, terms.symbol)
  if (isClosing(terms.action) || terms.purpose === 'flatten') return false
  if (book.positionMode === 'hedge_mode') return true
  return tradesAs(terms.action) === 'buy' ? shortLots === 0 : longLots === 0
}

/** The exchange handles the orders of a batch in turn. */
function checkMeeting(world: World, book: Book, { symbol, clientOids }: OutgoingBatch): void {
  const resting = { buy: Number.NEGATIVE_INFINITY, sell: Number.POSITIVE_INFINITY }
  const note = ({ terms }: Order): void => {
    if (terms.ticks === undefined || !canRest(terms)) return
    if (tradesAs(terms.action) === 'buy') resting.buy = Math.max(resting.buy, terms.ticks)
    else resting.sell = Math.min(resting.sell, terms.ticks)
  }
  for (const order of book.open.get(symbol)?.values() ?? []) if (order.state === 'live') note(order)
  for (const order of ordersOf(book, clientOids)) {
    const { ticks, force, action, clientOid } = order.terms
    const meets =
      ticks !== undefined &&
      force !== 'post_only' &&
      (tradesAs(action) === 'buy' ? ticks >= resting.sell : ticks <= resting.buy)
    if (meets && addsRisk(book, order))
      violate(world, 'RSK1', `${clientOid} would trade with one of ours`)
    note(order)
  }
}
