import { feeOf, profitOf } from '../../domain/fill-money.ts'
import { type Fill, type FillKind, isLiquidation, isOfOthers } from '../../domain/fill.ts'
import type { OrderId } from '../../domain/ids.ts'
import { openLots, type Order } from '../../domain/order.ts'
import { sideClosedBy } from '../../domain/position.ts'
import type { SettledOrder } from '../../domain/record.ts'
import { couldHaveMadeFill, matchesTerms, matchesTermsAndTime } from '../../execution/batch.ts'
import { type Decimal, decimalOfInteger, quotient, sumDecimals, ZERO } from '../../lib/decimal.ts'
import { showOnGrid } from '../../lib/grid.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { findFilledExit } from '../book/apply-fill.ts'
import {
  hasUnownedFills,
  isHaltedItself,
  namelessOrders,
  restrictionOf,
  splitPair,
} from '../book/book.ts'
import { announce, type Core, record, specOf } from '../state/core.ts'
import { latestExchangeTime } from '../state/market-state.ts'
import { noteOrphan, noteOrphanLogged, noteAdopted } from '../state/readings.ts'
import { halt, RELEASE_HINT } from '../state/trading-mode.ts'

/**
 * Older orders come first. Two orders that a fill fits alike have the same terms, or come from
 * different batches, so totals are exact in any case.
 */
function matchOrphans(core: Core, symbol: string): ReadonlyMap<Order, OrderId> {
  const matches = new Map<Order, OrderId>()
  const orders = namelessOrders(core.book, symbol)
  const orderIds = [...core.book.orphans.keys()].sort(byNumber)
  for (const orderId of orderIds) {
    const fills = core.book.orphans.get(orderId) ?? []
    if (fills[0]?.symbol !== symbol) continue
    const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
    const owner = orders.find(
      (order) =>
        !matches.has(order) &&
        order.terms.lots >= lots &&
        fills.every((fill) => couldHaveMadeFill(core.settings.positionMode, order, fill)),
    )
    if (owner) matches.set(owner, orderId)
  }
  return matches
}

/** OrderIds are decimal numbers of many digits: the shorter one is smaller. */
function byNumber(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : Number(left > right))
}

/** More orderIds match than there are orders, or their lots exceed the order's. */
function findContradictions(
  core: Core,
  {
    symbol,
    orders,
    matches,
  }: { symbol: string; orders: readonly Order[]; matches: ReadonlyMap<Order, OrderId> },
): ReadonlyMap<Order, readonly OrderId[]> {
  const matched = new Set(matches.values())
  const surplus = [...core.book.orphans].filter(
    ([orderId, [first]]) => first?.symbol === symbol && !matched.has(orderId),
  )
  const contradicted = new Map<Order, readonly OrderId[]>()
  for (const order of orders) {
    if (order.state !== 'unknown') continue
    const odd = surplus.filter(([, fills]) =>
      fills.every((fill) => matchesTermsAndTime(core.settings.positionMode, order, fill)),
    )
    if (odd.length > 0)
      contradicted.set(
        order,
        odd.map(([orderId]) => orderId),
      )
  }
  return contradicted
}

/** Called once all fills up to the end of these orders are known. */
export function settleByEvidence(
  core: Core,
  symbol: string,
  orders: readonly Order[],
  why: string,
): readonly SettledOrder[] {
  const matches = matchOrphans(core, symbol)
  const contradictions = findContradictions(core, { symbol, orders, matches })
  return orders.map((order): SettledOrder => {
    const { clientOid } = order.terms
    const orderId = matches.get(order)
    const odd = contradictions.get(order)
    if (odd)
      return {
        clientOid,
        state: 'quarantined',
        reason: describeContradiction(core, order, { odd, orderId }),
      }
    if (order.state === 'quarantined') {
      return {
        clientOid,
        state: 'released',
        reason: why,
        ...(orderId === undefined ? {} : { orderId }),
      }
    }
    if (orderId !== undefined)
      return { clientOid, state: 'done', orderId, reason: `${why}, found by its fills` }
    if (order.state === 'unknown' && order.filledLots === 0 && order.orderId === undefined) {
      return { clientOid, state: 'absent', reason: `${why}, no trace of it` }
    }
    return { clientOid, state: 'done', reason: why }
  })
}

/** An order has one orderId, and fills of no more than its size. */
function describeContradiction(
  { book }: Core,
  { terms }: Order,
  { odd, orderId }: { readonly odd: readonly OrderId[]; readonly orderId: OrderId | undefined },
): string {
  const lotsOf = (id: OrderId): number =>
    (book.orphans.get(id) ?? []).reduce((sum, { lots }) => sum + lots, 0)
  const [named, have] = [odd.join(', '), odd.length === 1 ? 'has' : 'have']
  if (odd.every((id) => lotsOf(id) > terms.lots))
    return `orderId ${named} ${have} its terms, and fills of more than its size`
  const other = orderId === undefined ? '' : ` beside ${orderId}`
  return `orderId ${named}${other} ${have} fills that it could have made, and an order has one orderId: another program may have ordered the same`
}

// An answer is often later than the first fill, so a fill waits while an order of ours may own it
// (RSK4).

/** A halted instrument places nothing anyway, so it does not wait. */
export function waitsForOwnerOfFills({ book }: Core, symbol: string): boolean {
  return hasUnownedFills(book, symbol) && !isHaltedItself(book, symbol)
}

export function isForeign(core: Core, fill: Fill): boolean {
  if (core.book.byOrderId.has(fill.orderId)) return false
  return isOfOthers(fill) || !mayBeOurs(core, [fill], core.now)
}

/**
 * The only order that could have made a fill gets it; a fill that none can have made is foreign.
 * This runs after every event, since answers and resolutions end the wait.
 */
export function judgeUnownedFills(core: Core): void {
  if (core.book.orphans.size === 0) return
  const foreign: Fill[] = []
  for (const [orderId, fills] of core.book.orphans) {
    const [first] = fills
    if (first === undefined) continue
    const note = noteOrphan(core, orderId, first.symbol)
    const owners = ownersOf(core, fills)
    const [owner] = owners
    if (owner?.state === 'live' && owners.length === 1) nameByFills(core, owner, orderId)
    else if (!mayBeOurs(core, fills, note.since)) foreign.push(first)
    // The answer to an order just sent soon says whose the fills are.
    else if (!note.isLogged && owners.every(({ state }) => state !== 'sent')) {
      noteOrphanLogged(core, orderId, note)
      logUnexplained(core, first, fills)
    }
  }
  for (const fill of foreign) haltForForeign(core, fill)
  disown(core, foreign)
}

/** Until its release a quarantined order may have been filled to any size. */
function ownersOf(core: Core, fills: readonly Fill[]): readonly Order[] {
  const { positionMode } = core.settings
  return namelessOrders(core.book, fills[0]?.symbol ?? '').filter((order) => {
    const fits = order.state === 'quarantined' ? matchesTermsAndTime : couldHaveMadeFill
    return fills.every((fill) => fits(positionMode, order, fill))
  })
}

/**
 * For a while dates decide nothing, since the clocks may have been set.
 * @param since Unix ms, our clock, when the fills were first seen
 */
function mayBeOurs(core: Core, fills: readonly Fill[], since: number): boolean {
  if (ownersOf(core, fills).length > 0) return true
  const { positionMode, execution } = core.settings
  const isEarly = core.now - since < execution.acceptanceWindowMs + execution.fillVisibilityMs
  const nameless = isEarly ? namelessOrders(core.book, fills[0]?.symbol ?? '') : []
  return nameless.some((order) =>
    fills.every((fill) => fill.lots <= openLots(order) && matchesTerms(positionMode, order, fill)),
  )
}

function nameByFills(core: Core, { terms }: Order, orderId: OrderId): void {
  const { clientOid } = terms
  const items = [
    { clientOid, outcome: 'accepted', orderId, code: 'FOUND', message: 'by its fills' },
  ] as const
  record(core, { kind: 'outcome', at: core.now, batchId: core.book.batchId, items })
  announce(core, 'info', 'order.found', { clientOid, symbol: terms.symbol, orderId })
}

function logUnexplained(
  core: Core,
  { symbol, side, orderId, source }: Fill,
  fills: readonly Fill[],
): void {
  announce(core, 'warn', 'fill.unexplained', {
    symbol,
    side,
    lots: fills.reduce((sum, { lots }) => sum + lots, 0),
    orderId,
    source,
    isConfirmed: false,
  })
}

/**
 * Halts before the fill is recorded: after a crash in between, the next run would know the fill and
 * trade on.
 */
export function haltForForeign(core: Core, fill: Fill): void {
  const { symbol, orderId, fillKind } = fill
  const isEarlier = isFromBefore(core, fill)
  // A delivered contract is over as agreed.
  if (fillKind === 'delivery') return
  if (core.settings.foreignFills !== 'halt' && !isEarlier) return noteAdopted(core, fill)
  if (isOwnExitByHand(core, fill)) return
  const what = describeForeign(core, fill)
  if (isOfOthers(fill)) {
    // A close by the exchange itself leaves nothing to adopt.
    const after = isAnnounced(fill)
      ? 'what it closed is not held any more'
      : 'the position was adopted'
    const reason = `a fill that is not ours: ${what}; ${after}; ${RELEASE_HINT}`
    return halt(core, symbol, 'foreignFills', reason)
  }
  if (restrictionOf(core.book, symbol, 'foreignFills') !== undefined) return
  const other = 'another program trades this account through the API'
  const older = `, or this state is an older copy and the fills are its own: then run \`intentd repair --from-exchange\``
  const cause = isEarlier ? `from before this start: ${other}${older}` : other
  const reason = `fills of order ${orderId}, which is not ours (${what}): ${cause}; the position was adopted; ${RELEASE_HINT}`
  halt(core, symbol, 'foreignFills', reason)
}

/**
 * A person set the exit with an order by hand, and knows that it closes. A strategy whose position
 * goes with it does not know that, so it is halted.
 */
function isOwnExitByHand(core: Core, fill: Fill): boolean {
  const exit = findFilledExit(core.book, fill)
  return exit?.strategyId === MANUAL && othersClosedBy(core, fill).length === 0
}

function othersClosedBy({ book }: Core, fill: Fill): readonly string[] {
  const side = sideClosedBy(book.positionMode, fill)
  if (side === undefined) return []
  return [...book.holdings]
    .filter(([, holding]) => holding[`${side}Lots`] > 0)
    .map(([key]) => splitPair(key))
    .filter(([owner, symbol]) => symbol === fill.symbol && owner !== MANUAL)
    .map(([owner]) => owner)
}

/**
 * The fill was made before this run, by another program or by a run that this older copy does not
 * know. Nothing is traded on it before an operator has looked.
 */
function isFromBefore(core: Core, fill: Fill): boolean {
  return !isOfOthers(fill) && fill.filledAt < latestExchangeTime(core, core.run.startedAt)
}

/** A fill whose source says that it is foreign needs no record. */
export function disown(core: Core, fills: Iterable<Fill>): void {
  for (const [symbol, ofSymbol] of Map.groupBy(fills, (fill) => fill.symbol)) {
    const orderIds = [...new Set(ofSymbol.map(({ orderId }) => orderId))].filter((orderId) =>
      core.book.orphans.has(orderId),
    )
    if (orderIds.length > 0) record(core, { kind: 'foreign', at: core.now, symbol, orderIds }, true)
  }
}

const DEEDS: Readonly<Record<Exclude<FillKind, 'trade' | 'system'>, string>> = {
  liquidation: 'a liquidation',
  partialLiquidation: 'a partial liquidation, to bring the margin back',
  netting: 'a partial liquidation, by netting both sides',
  delivery: 'the delivery of the contract',
  autoDeleveraging: 'an auto-deleveraging, against the liquidation of somebody else',
  takeProfit: 'the take-profit',
  stopLoss: 'the stop-loss',
}

/** An average price has hundredths of a tick. */
const TICK_DECIMALS = 2

/** {@link announceSystemFills} logs these, so they are not logged as foreign fills too. */
export function isAnnounced({ fillKind = 'trade' }: Fill): boolean {
  return fillKind !== 'trade' && fillKind !== 'system'
}

/** One line stands for all fills of one deed. */
export function announceSystemFills(core: Core, fills: readonly Fill[]): void {
  const deeds = fills.filter(isAnnounced)
  if (deeds.length === 0) return
  const groups = Map.groupBy(deeds, ({ symbol, side, fillKind }) => `${symbol} ${side} ${fillKind}`)
  for (const [first, ...others] of groups.values())
    if (first) announceDeed(core, [first, ...others])
}

function announceDeed(core: Core, fills: readonly [Fill, ...Fill[]]): void {
  const [fill] = fills
  const { symbol, side, fillKind: kind } = fill
  const deed = { symbol, side, kind, ...sumUp(core, fills) }
  if (isLiquidation(fill)) return announce(core, 'error', 'fill.liquidated', deed)
  if (kind === 'autoDeleveraging') return announce(core, 'error', 'fill.deleveraged', deed)
  if (kind === 'delivery') return announce(core, 'info', 'fill.delivered', deed)
  const { clientOid, strategyId: strategy, price: set } = fill.exit ?? {}
  announce(core, 'info', 'fill.exit', { ...deed, set, clientOid, strategy })
}

function sumUp(core: Core, fills: readonly Fill[]) {
  const spec = specOf(core, fills[0]?.symbol ?? '')
  const lots = fills.reduce((sum, fill) => sum + fill.lots, 0)
  const worth = sumDecimals(
    fills.map((fill) => decimalOfInteger(fill.ticks).times(decimalOfInteger(fill.lots))),
  )
  const ticks = quotient(worth, decimalOfInteger(lots), { decimals: TICK_DECIMALS })
  const [profit, fee] = [sumOf(fills, profitOf), sumOf(fills, feeOf)]
  const [isProfitKnown, isFeeKnown] = [
    fills.every((fill) => fill.profit !== undefined),
    fills.every((fill) => fill.fee !== undefined),
  ]
  return {
    size: showOnGrid(spec.lot, lots),
    price: ticks.times(spec.tick.step).toString(),
    net: isProfitKnown && isFeeKnown ? profit.minus(fee).toString() : undefined,
    profit: isProfitKnown ? profit.toString() : 'unknown',
    fee: isFeeKnown ? fee.toString() : 'unknown',
    fills: fills.length,
    tradeIds: fills.map(({ tradeId }) => tradeId),
    orderIds: [...new Set(fills.map(({ orderId }) => orderId))],
  }
}

function sumOf(fills: readonly Fill[], of: (fill: Fill) => Decimal): Decimal {
  return fills.reduce((sum, fill) => sum.plus(of(fill)), ZERO)
}

function describeForeign(core: Core, fill: Fill): string {
  const { fillKind = 'trade', source, systemWord, symbol } = fill
  if (fillKind !== 'trade' && fillKind !== 'system') return DEEDS[fillKind]
  const exit = findFilledExit(core.book, fill)
  if (exit) {
    const price = showOnGrid(specOf(core, symbol).tick, exit.ticks)
    const others = exit.strategyId === MANUAL ? othersClosedBy(core, fill) : []
    const closed = others.length === 0 ? '' : `, which also closed what ${others.join(', ')} held`
    return `${DEEDS[exit.kind]} at ${price}, set by order ${exit.clientOid} (${exit.strategyId}) and kept by the exchange${closed} (to trade on after such fills, set risk.foreignFills: adopt)`
  }
  if (systemWord !== undefined)
    return `the exchange closed something as "${systemWord}", a word that is not known here`
  const what = describeTrade(core, fill)
  return source === 'SYS' ? `${what}, by the exchange, which does not say why` : what
}

/** `open long, source API` in hedge mode; fills in one-way mode do not say whether they opened. */
function describeTrade({ settings }: Core, { side, tradeSide, source }: Fill): string {
  if (settings.positionMode === 'one_way_mode') return `${side}, source ${source}`
  return `${tradeSide} ${side === 'buy' ? 'long' : 'short'}, source ${source}`
}
