import { type Fill, type FillsReading, isOfOthers } from '../../domain/fill.ts'
import { feeOf, profitOf, toFeesText } from '../../domain/fill-money.ts'
import type { StrategyId } from '../../domain/ids.ts'
import { canRest, type Order } from '../../domain/order.ts'
import type { FillsRecord } from '../../domain/record.ts'
import { countUnsettled, UNSETTLED_MOVES_MAX } from '../book/allocation.ts'
import { accountHoldingOf, holdingOf, knowsFill, openOrdersOf } from '../book/book.ts'
import { exchangeNow } from '../state/clock-state.ts'
import { announce, type Core, record } from '../state/core.ts'
import { recordFills } from './complete-fills.ts'
import { settleByEvidence } from './evidence.ts'
import { announceEnd, distrustResting, noteFillsForResolution } from './resolution.ts'
import { halt, isFlattening, RELEASE_HINT } from '../state/trading-mode.ts'
import { holdQuote } from '../state/decision-state.ts'
import { askForPositionSoon, noteFillsRead, takeSettledOrphans } from '../state/readings.ts'
import { totalsOf } from '../state/totals.ts'
import { showFills } from '../strategies/take-snapshot.ts'
import { announceSystemFills, isAnnounced } from './system-fills.ts'
import { comparePosition, noteRecentFills } from './reconcile.ts'
import { disown, haltForForeign, isForeign, judgeUnownedFills } from './unowned-fills.ts'
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
  judgeUnownedFills(core)
  for (const instrument of core.instruments.values()) {
    if (hasUnreadableRows(core, instrument.symbol)) continue
    noteFillsForResolution(core, instrument, reading.requestedAt)
    comparePosition(core, instrument)
  }
  showFills(core, owners)
}

const NOBODY: ReadonlySet<StrategyId> = new Set()

/** Returns whose fills they are. */
function takeNewFills(
  core: Core,
  reading: FillsReading,
  fills: readonly Fill[],
): ReadonlySet<StrategyId> {
  haltOnUnsettled(core, fills)
  // Either clock may be behind. A fill dated later than both has a wrong date.
  const heardAt = Math.max(reading.exchangeTime, exchangeNow(core))
  // So that a wrong date, or a row that must be read again, does not make later reads begin too late.
  const throughAt = isReadingAgain(core) ? reading.sinceAt : heardAt
  const bound = fills.some(({ filledAt }) => filledAt > throughAt) ? { throughAt } : {}
  if (fills.some(({ source }) => source === 'SYS')) distrustResting(core)
  const foreign = new Set(fills.filter((fill) => isForeign(core, fill)))
  for (const fill of foreign) haltForForeign(core, fill)
  const recorded = recordFills(core, fills, { ...bound, ...waitingAmong(core, fills, foreign) })
  disown(core, foreign)
  announceSystemFills(core, recorded)
  const strangers = new Set([...foreign].map(({ orderId }) => orderId))
  const owners = new Set<StrategyId>()
  for (const fill of recorded) {
    const isOfStranger = strangers.has(fill.orderId)
    const owner = logFill(core, fill, isOfStranger)
    if (owner !== undefined) owners.add(owner)
    // After a foreign fill, every strategy on the instrument may hold less than before.
    else if (isOfStranger) for (const id of tradersOf(core, fill.symbol)) owners.add(id)
  }
  noteRecentFills(core, fills, heardAt)
  for (const symbol of new Set(fills.map((fill) => fill.symbol))) {
    if (isProofAwaited(core, symbol)) askForPositionSoon(core, symbol)
  }
  return owners
}

/**
 * Whether something waits until the position was read after the last fill: the end of a flatten, or an exit of a strategy
 * that another one holds against (RSK4).
 */
function isProofAwaited(core: Core, symbol: string): boolean {
  const account = accountHoldingOf(core.book, symbol)
  return tradersOf(core, symbol).some((id) => {
    const { longLots, shortLots } = holdingOf(core.book, id, symbol)
    const isOpposed = longLots > account.longLots || shortLots > account.shortLots
    return isOpposed || isFlattening(core, symbol, id)
  })
}

/** Fills whose source proves nothing, and that an order of ours may have made. */
function waitingAmong(
  { book }: Core,
  fills: readonly Fill[],
  foreign: ReadonlySet<Fill>,
): Pick<FillsRecord, 'waiting'> {
  const waiting = fills.filter(
    (fill) =>
      fill.source !== 'API' &&
      !isOfOthers(fill) &&
      !foreign.has(fill) &&
      !book.byOrderId.has(fill.orderId),
  )
  return waiting.length > 0 ? { waiting: [...new Set(waiting.map(({ orderId }) => orderId))] } : {}
}

function tradersOf({ settings }: Core, symbol: string): StrategyId[] {
  return [...settings.strategies.values()]
    .filter((one) => one.symbols.includes(symbol))
    .map(({ id }) => id)
}

/** Logs a fill, and returns whose it is. */
function logFill(core: Core, fill: Fill, foreign: boolean): StrategyId | undefined {
  const clientOid = core.book.byOrderId.get(fill.orderId)
  const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
  if (order?.terms.purpose === 'quote') {
    holdQuote(core, order.terms.strategyId, fill.symbol)
  }
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
 * Fills that waited for their order have an owner now, or belong to no strategy: whoever is concerned is asked to decide,
 * as after any fill. Runs after every event.
 */
export function settleWaitingFills(core: Core): void {
  judgeUnownedFills(core)
  if (core.readings.orphans.size === 0) return
  const owners = new Set<StrategyId>()
  for (const [orderId, { symbol }] of takeSettledOrphans(core)) {
    const clientOid = core.book.byOrderId.get(orderId)
    const order = clientOid === undefined ? undefined : core.book.orders.get(clientOid)
    if (!order) {
      for (const id of tradersOf(core, symbol)) owners.add(id)
      continue
    }
    const { strategyId, purpose } = order.terms
    if (purpose === 'quote') holdQuote(core, strategyId, symbol)
    owners.add(strategyId)
    announce(core, 'info', 'order.fillAttributed', {
      clientOid,
      symbol,
      orderId,
      filled: order.filledLots,
    })
  }
  showFills(core, owners)
}
