import { type Fill, type FillsReading } from '../domain/fill.ts'
import { type StrategyId } from '../domain/ids.ts'
import { canRest, type Order } from '../domain/order.ts'
import { openOrdersOf, pairKey } from './book.ts'
import { announce, type Core, exchangeNow, laneOf, record } from './core.ts'
import { settleByEvidence } from './evidence.ts'
import { noteFillsForFence } from './fence.ts'
import { halt } from './on-answer.ts'
import { showFills } from './on-snapshot.ts'
import { comparePosition } from './reconcile.ts'

/** Fills came in: new ones enter the book once each, and whatever they prove is settled. */
export function takeFills(core: Core, reading: FillsReading): void {
  const fills = reading.fills.filter(
    (fill) => !core.book.trades.has(fill.tradeId) && core.lanes.has(fill.symbol),
  )
  if (fills.length > 0) record(core, { kind: 'fills', at: core.now, fills })
  const owners = new Set<StrategyId>()
  for (const fill of fills) {
    const owner = tellFill(core, fill)
    if (owner !== undefined) owners.add(owner)
  }
  const readableAt = reading.requestedAt - core.settings.execution.fillVisibilityMs
  core.fillsReadAt = Math.max(core.fillsReadAt, readableAt)
  settleTakers(core, readableAt)
  noteOrphans(core)
  for (const lane of core.lanes.values()) {
    noteFillsForFence(core, lane, reading.requestedAt)
    comparePosition(core, lane)
  }
  showFills(core, owners)
}

/** Says what was filled, and returns whose it was. */
function tellFill(core: Core, fill: Fill): StrategyId | undefined {
  const clientOid = core.book.byOrderId.get(fill.orderId)
  const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
  if (order?.terms.purpose === 'quote') {
    core.quoteHolds.set(pairKey(order.terms.strategyId, fill.symbol), core.snapshots + 1)
  }
  const foreign = order === undefined && fill.source !== 'API'
  announce(core, foreign ? 'error' : 'info', foreign ? 'fill.foreign' : 'order.fill', {
    clientOid,
    strategy: order?.terms.strategyId,
    symbol: fill.symbol,
    side: fill.side,
    ticks: fill.ticks,
    lots: fill.lots,
    scope: fill.scope,
    fee: fill.fee,
    profit: fill.profit,
    tradeId: fill.tradeId,
    orderId: fill.orderId,
    state: order?.state,
  })
  if (order?.state === 'quarantined') halt(core, fill.symbol, `${clientOid ?? ''} was filled beyond its size`)
  if (foreign)
    halt(core, fill.symbol, `a fill that is not ours: ${fill.source} ${fill.tradeSide} ${fill.side}`)
  return order?.terms.strategyId
}

/** An order that cannot rest is over once the fills are known up to the end of its matching (A2, A4). */
function settleTakers(core: Core, readableAt: number): void {
  for (const symbol of core.lanes.keys()) {
    const over: Order[] = []
    for (const order of openOrdersOf(core.book, symbol)) {
      const endedAt = order.acceptedAt + core.settings.execution.matchingLagMs
      if (order.state === 'live' && !canRest(order.terms) && readableAt > endedAt) over.push(order)
    }
    if (over.length === 0) continue
    const orders = settleByEvidence(core, symbol, over, 'matched or dead')
    record(core, { kind: 'settle', at: core.now, symbol, orders })
    for (const { clientOid, reason } of orders) {
      const order = core.book.orders.get(clientOid)
      announce(core, 'info', 'order.ended', {
        clientOid,
        symbol,
        state: order?.state,
        filled: order?.filledLots,
        reason,
      })
    }
  }
}

/** Fills of orders that nothing names: after the longest time that an answer can be out they are foreign. */
function noteOrphans(core: Core): void {
  const { acceptHorizonMs, fillVisibilityMs } = core.settings.execution
  for (const orderId of core.orphansSince.keys()) {
    if (![...core.book.orphans.keys()].some((known) => known === orderId)) core.orphansSince.delete(orderId)
  }
  for (const [orderId, fills] of core.book.orphans) {
    const symbol = fills[0]?.symbol ?? ''
    const since = core.orphansSince.get(orderId) ?? exchangeNow(core)
    core.orphansSince.set(orderId, since)
    const busy = [...openOrdersOf(core.book, symbol)].some((order) => order.orderId === undefined)
    if (busy || exchangeNow(core) - since < acceptHorizonMs + fillVisibilityMs) continue
    record(core, { kind: 'foreign', at: core.now, symbol, orderIds: [orderId] }, true)
    halt(core, symbol, `fills of an order that is not ours: ${orderId}`)
    laneOf(core, symbol).mismatch = undefined
  }
}
