import { couldBe, fitsClass } from '../../execution/attribution.ts'
import type { Fill, FillsReading } from '../../domain/fill.ts'
import { feeOf, profitOf, toFeesText } from '../../domain/fill-money.ts'
import type { OrderId, StrategyId } from '../../domain/ids.ts'
import { canRest, type Order } from '../../domain/order.ts'
import { countUnsettled, UNSETTLED_MOVES_MAX } from '../book/allocation.ts'
import { knowsFill, openOrdersOf } from '../book/book.ts'
import { exchangeNow } from '../state/clock-state.ts'
import { announce, type Core, record } from '../state/core.ts'
import { recordFills } from './complete-fills.ts'
import { namelessOrders, settleByEvidence } from './evidence.ts'
import { announceEnd, distrustResting, noteFillsForResolution } from './resolution.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'
import { holdQuote } from '../state/decision-state.ts'
import { noteFillsRead, noteOrphan, takeAttributedOrphans } from '../state/readings.ts'
import { totalsOf } from '../state/totals.ts'
import { showFills } from '../strategies/take-snapshot.ts'
import { announceSystemFills, describeForeign, isAnnounced } from './system-fills.ts'
import { comparePosition, noteRecentFills } from './reconcile.ts'
import { hasUnreadableRows, isReadingAgain, takeUnreadableFills } from './unreadable.ts'

/** Handles a reading of fills: each new fill enters the book once, and orders that are proved to be over are settled. */
export function takeFills(core: Core, reading: FillsReading): void {
  takeUnreadableFills(core, reading)
  const fills = reading.fills.filter(
    // An older one may be a trade that the book has forgotten since this read began.
    (fill) =>
      fill.filledAt >= core.book.tradesSinceAt &&
      !knowsFill(core.book, fill) &&
      core.instruments.has(fill.symbol),
  )
  const owners = fills.length === 0 ? NOBODY : takeNewFills(core, reading, fills)
  const readableAt = noteFillsRead(core, reading, isReadingAgain(core))
  settleTakers(core, readableAt)
  noteOrphans(core)
  for (const instrument of core.instruments.values()) {
    if (hasUnreadableRows(core, instrument.symbol)) continue
    noteFillsForResolution(core, instrument, reading.requestedAt)
    comparePosition(core, instrument)
  }
  showFills(core, owners)
}

const NOBODY: ReadonlySet<StrategyId> = new Set()

/** Returns whose fills they are. */
function takeNewFills(core: Core, reading: FillsReading, fills: readonly Fill[]): ReadonlySet<StrategyId> {
  haltOnUnsettled(core, fills)
  // Either clock may be behind. A fill dated later than both has a wrong date.
  const heardAt = Math.max(reading.exchangeTime, exchangeNow(core))
  // So that a wrong date, or a row that must be read again, does not make later reads begin too late.
  const throughAt = isReadingAgain(core) ? reading.sinceAt : heardAt
  const bound = fills.some(({ filledAt }) => filledAt > throughAt) ? { throughAt } : {}
  if (fills.some(({ source }) => source === 'SYS')) distrustResting(core)
  for (const fill of fills) haltOnForeign(core, fill)
  const recorded = recordFills(core, fills, bound)
  const owners = new Set<StrategyId>()
  announceSystemFills(core, recorded)
  for (const fill of recorded) {
    const owner = logFill(core, fill)
    if (owner !== undefined) owners.add(owner)
    // After a foreign fill, every strategy on the instrument may hold less than before.
    else if (fill.source !== 'API') for (const id of tradersOf(core, fill.symbol)) owners.add(id)
  }
  noteRecentFills(core, fills, heardAt)
  return owners
}

function tradersOf({ settings }: Core, symbol: string): StrategyId[] {
  return [...settings.strategies.values()].filter((one) => one.symbols.includes(symbol)).map(({ id }) => id)
}

/** Logs a fill, and returns whose it is. */
function logFill(core: Core, fill: Fill): StrategyId | undefined {
  const clientOid = core.book.byOrderId.get(fill.orderId)
  const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
  if (order?.terms.purpose === 'quote') {
    holdQuote(core, order.terms.strategyId, fill.symbol)
  }
  const foreign = order === undefined && fill.source !== 'API'
  if (order === undefined && !foreign && !mayBeOurs(core, fill)) logUnexplained(core, fill)
  if (foreign && isAnnounced(fill)) return undefined
  const { profit, fee } = fill
  const isKnown = profit !== undefined && fee !== undefined
  announce(core, foreign ? 'error' : 'info', foreign ? 'fill.foreign' : 'order.fill', {
    clientOid,
    strategy: order?.terms.strategyId,
    symbol: fill.symbol,
    side: fill.side,
    ticks: fill.ticks,
    lots: fill.lots,
    scope: fill.scope,
    net: isKnown ? profitOf(fill).minus(feeOf(fill)).toString() : undefined,
    profit: profit ?? 'unknown',
    fee: fee ?? 'unknown',
    otherFees: fill.otherFees && toFeesText(fill.otherFees),
    source: foreign ? fill.source : undefined,
    word: fill.systemWord,
    tradeId: fill.tradeId,
    orderId: fill.orderId,
    state: order?.state,
  })
  if (order?.state === 'quarantined') {
    halt(
      core,
      fill.symbol,
      'contradiction',
      `${order.terms.clientOid} was filled beyond its size: ${RELEASE_HINT}`,
    )
  }
  return order?.terms.strategyId
}

function mayBeOurs(core: Core, fill: Fill): boolean {
  return namelessOrders(core, fill.symbol).some((order) => mayOwn(core, order, [fill]))
}

/** Logged at once. It is certain only when no answer of ours can name the order any more: {@link noteOrphans}. */
function logUnexplained(core: Core, { symbol, side, ticks, lots, tradeId, orderId }: Fill): void {
  announce(core, 'warn', 'fill.unexplained', {
    symbol,
    side,
    ticks,
    lots,
    tradeId,
    orderId,
    isConfirmed: false,
  })
}

/** The halt is recorded before the fill: after a crash in between, the next run would know the fill and trade on. */
function haltOnForeign(core: Core, fill: Fill): void {
  const { symbol, orderId, source, fillKind } = fill
  // A contract that is delivered is over as agreed.
  if (fillKind === 'delivery') return
  if (source === 'API' || core.book.byOrderId.has(orderId) || core.settings.foreignFills !== 'halt') return
  halt(
    core,
    symbol,
    'foreignFills',
    `a fill that is not ours: ${describeForeign(core, fill)}; the position was adopted; ${RELEASE_HINT}`,
  )
}

/** Halts where so many fills came while others wait for their order that the allocation of those is given up. */
function haltOnUnsettled(core: Core, fills: readonly Fill[]): void {
  for (const [symbol, of] of Map.groupBy(fills, (fill) => fill.symbol)) {
    const kept = countUnsettled(core.book, symbol)
    if (kept === 0 || kept + of.length <= UNSETTLED_MOVES_MAX) continue
    const what = `${kept} fills and more while one waits for its order: what waits is nobody's now`
    halt(core, symbol, 'contradiction', `${what}; ${RELEASE_HINT}`)
  }
}

/** An order that cannot rest is over once the fills are known up to the end of its matching (A2, A4). */
function settleTakers(core: Core, readableAt: number): void {
  for (const symbol of core.instruments.keys()) {
    if (!totalsOf(core, symbol).hasTaker || hasUnreadableRows(core, symbol)) continue
    const over: Order[] = []
    for (const order of openOrdersOf(core.book, symbol)) {
      const endedAt = acceptedBy(core, order) + core.settings.execution.matchingLagMs
      if (order.state === 'live' && !canRest(order.terms) && readableAt > endedAt) over.push(order)
    }
    if (over.length === 0) continue
    const orders = settleByEvidence(core, symbol, over, 'matched or dead')
    record(core, { kind: 'settle', at: core.now, symbol, isResolved: false, orders })
    for (const { clientOid, reason } of orders) announceEnd(core, clientOid, reason)
  }
}

/**
 * Unix ms, our clock: the order was accepted by then. The time that an earlier run noted may be wrong, because the clock
 * may have been set since; certain is only that it was before this run began.
 */
function acceptedBy({ run: { startedAt }, now }: Core, { acceptedAt }: Order): number {
  return acceptedAt > now ? startedAt : Math.max(acceptedAt, startedAt)
}

/**
 * Looks at fills whose orderId no answer has named. If only one order could have made them, they are its fills. If none
 * could, and no answer can come any more, they are foreign.
 */
function noteOrphans(core: Core): void {
  const { acceptanceWindowMs, fillVisibilityMs } = core.settings.execution
  for (const [orderId, fills] of core.book.orphans) {
    const symbol = fills[0]?.symbol ?? ''
    const since = noteOrphan(core, orderId)
    const owners = namelessOrders(core, symbol).filter((order) => mayOwn(core, order, fills))
    const [owner] = owners
    if (owner?.state === 'live' && owners.length === 1) nameByFills(core, owner, orderId)
    if (owners.length > 0 || core.now - since < acceptanceWindowMs + fillVisibilityMs) continue
    const other = 'somebody else trades this account through the API'
    halt(
      core,
      symbol,
      'foreignFills',
      `fills of order ${orderId}, which is not ours: ${other}; ${RELEASE_HINT}`,
    )
    record(core, { kind: 'foreign', at: core.now, symbol, orderIds: [orderId] }, true)
  }
}

/** Whether the fills may belong to the order. One in quarantine may have any size filled, until a release. */
function mayOwn({ settings }: Core, order: Order, fills: readonly Fill[]): boolean {
  const fits = order.state === 'quarantined' ? fitsClass : couldBe
  return fills.every((fill) => fits(settings.positionMode, order, fill))
}

function nameByFills(core: Core, { terms }: Order, orderId: OrderId): void {
  const { clientOid } = terms
  const items = [{ clientOid, outcome: 'accepted', orderId, code: 'FOUND', message: 'by its fills' }] as const
  record(core, { kind: 'outcome', at: core.now, batchId: core.book.batchId, items })
  announce(core, 'info', 'order.found', { clientOid, symbol: terms.symbol, orderId })
}

/**
 * Fills that waited for their order have one now: its strategy is asked to decide, as after any fill. Runs after every
 * event.
 */
export function showAttributedFills(core: Core): void {
  if (core.readings.orphansSince.size === 0) return
  const owners = new Set<StrategyId>()
  for (const orderId of takeAttributedOrphans(core)) {
    const clientOid = core.book.byOrderId.get(orderId)
    const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
    if (!order) continue
    const { strategyId, symbol, purpose } = order.terms
    if (purpose === 'quote') holdQuote(core, strategyId, symbol)
    owners.add(strategyId)
    announce(core, 'info', 'order.fillAttributed', { clientOid, symbol, orderId, filled: order.filledLots })
  }
  showFills(core, owners)
}
