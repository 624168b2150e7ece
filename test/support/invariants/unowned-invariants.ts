import { toOrderId } from '../../../src/domain/ids.ts'
import { isClosing, type OrderTerms, tradesAs } from '../../../src/domain/order.ts'
import { ACCOUNT, strategyScope } from '../../../src/domain/trading-mode.ts'
import { orderIdText } from '../../../src/simulator/futures/orders/order.ts'
import { foreignFills, isAllocationKnown, isOfApi } from '../faults/foreign-fills.ts'
import { fillKeyOf, isOpenThere } from '../virtual/exchange-truth.ts'
import { isKnownFill, type World, type WorldWatcher, violate } from '../world/world.ts'

/**
 * Nothing that opens leaves on unexplained positions, by the exchange's fills. While a read fill of
 * others is not attributed, no opening order is written. Once all fills of an instrument are read,
 * a reducing order opens in the account only as far as other strategies hold it. Unshown fills
 * cannot be known. Nothing held by the account is called closed.
 */
export function watchUnowned(world: World): WorldWatcher {
  return {
    onWrite(batch) {
      const { book } = world.process.engine ?? {}
      for (const clientOid of batch.clientOids) {
        const terms = book?.orders.get(clientOid)?.terms
        // A copy of an existing order adds nothing.
        if (!terms || isClosing(terms.action) || world.exchange.truth.hasOrder(clientOid)) continue
        judgeWaiting(world, terms)
        judgeExit(world, terms)
      }
    },
    afterStep(_, effects) {
      judgeWait(world)
      for (const effect of effects) {
        if (effect.kind !== 'announce' || effect.event !== 'flatten.done') continue
        const scope = String(effect.fields['scope'])
        judgeDone(world, scope)
        judgeOpen(world, scope)
      }
    },
  }
}

/** A fill of others waits only while an order of ours lacks its orderId. */
function judgeWait(world: World): void {
  const { book } = world.process.engine ?? {}
  if (!book || book.orphans.size === 0) return
  for (const [orderId, [first]] of book.orphans) {
    if (!first || !isOfApi(world, orderId)) continue
    const orders = [...(book.open.get(first.symbol)?.values() ?? [])]
    if (orders.some(({ orderId: known, attempts }) => known === undefined && attempts > 0)) continue
    violate(
      world,
      'RSK4',
      `fills of order ${orderId} of others wait, and no order of ours can own them`,
    )
  }
}

function judgeWaiting(world: World, { symbol, clientOid, purpose, action }: OrderTerms): void {
  const { book } = world.process.engine ?? {}
  const waiting = foreignFills(world, symbol).find(({ orderSequence }) =>
    book?.orphans.has(toOrderId(orderIdText(orderSequence))),
  )
  if (waiting)
    violate(
      world,
      'RSK4',
      `${clientOid} ${purpose} ${action} leaves while order ${orderIdText(waiting.orderSequence)} of others is unowned`,
    )
}

function judgeExit(
  world: World,
  { symbol, clientOid, strategyId, purpose, action, lots }: OrderTerms,
): void {
  const { plan, allocation, exchange } = world
  const mustReduce = purpose === 'target' || purpose === 'flatten'
  if (plan.positionMode === 'hedge_mode' || !mustReduce || !isAllRead(world, symbol)) return
  const way = tradesAs(action) === 'sell' ? 1 : -1
  const net = (lotsOf: { readonly longLots: number; readonly shortLots: number }): number =>
    way * (lotsOf.longLots - lotsOf.shortLots)
  const inAccount = net({
    longLots: exchange.truth.lotsOf(symbol, 'long'),
    shortLots: exchange.truth.lotsOf(symbol, 'short'),
  })
  const reduced = Math.min(lots, Math.max(0, way * allocation.netOf(symbol, strategyId)))
  const opens = reduced - Math.max(0, inAccount)
  const ofOthers = inAccount - net(allocation.ownOf(symbol))
  if (reduced === 0 || opens <= 0 || ofOthers >= 0) return
  const backed = Math.max(0, way * allocation.netOf(symbol, strategyId)) + ofOthers
  if (reduced > backed)
    violate(
      world,
      'RSK4',
      `${clientOid} ${purpose} ${action} ${lots}: the account holds ${way * inAccount}, ${-way * ofOthers} of it against ${strategyId}, which no strategy holds`,
    )
}

/** The daemon knows every fill. */
function isAllRead(world: World, symbol: string): boolean {
  if (!isAllocationKnown(world, symbol)) return false
  return world.exchange.truth.fillsInOrder.every(
    (fill) => fill.symbol !== symbol || isKnownFill(world, fillKeyOf(fill)),
  )
}

function judgeDone(world: World, scope: string): void {
  const { plan, exchange } = world
  for (const symbol of scope === ACCOUNT
    ? plan.symbols
    : plan.symbols.filter((one) => one === scope)) {
    const held = exchange.truth.lotsOf(symbol, 'long') + exchange.truth.lotsOf(symbol, 'short')
    if (held > 0 && isAllRead(world, symbol))
      violate(world, 'RSK4', `${symbol} is called closed, and the account holds ${held} lots`)
  }
}

/** Nothing is called closed while an order of the scope rests at the exchange, or is not known to be gone. */
function judgeOpen(world: World, scope: string): void {
  const { plan, process, exchange } = world
  for (const order of process.engine?.book.orders.values() ?? []) {
    const { symbol, strategyId, clientOid } = order.terms
    const isPart = [ACCOUNT, symbol, strategyScope(strategyId)].includes(scope)
    if (!isPart || !plan.symbols.includes(symbol) || order.state === 'quarantined') continue
    const there = exchange.truth.orderOf(clientOid)
    if (order.endedAt === 0 || (there && isOpenThere(there)))
      violate(
        world,
        'RSK4',
        `${scope} is called closed, and ${clientOid} is ${order.state}, at the exchange ${there?.status ?? 'unknown'}`,
      )
  }
}
