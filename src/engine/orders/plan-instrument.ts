import type { Denial, DenialCode } from '../../domain/denial.ts'
import type { StrategyId } from '../../domain/ids.ts'
import type { OrderIntent } from '../../domain/intent.ts'
import { isClosing, tradesAs } from '../../domain/order-action.ts'
import type { Order } from '../../domain/order.ts'
import { type Holding, netLots } from '../../domain/position.ts'
import { isInsideWindow } from '../../execution/order-machine.ts'
import {
  type OrderCandidate,
  intentOf,
  type PlanBasis,
  planQuote,
  planTarget,
  staleTargetOrders,
  type TargetPlanInput,
} from '../../execution/order-plans.ts'
import { nearestStep, stepBelow } from '../../lib/grid.ts'
import { boundTarget, stopTicks } from '../../risk/exit-machine.ts'
import {
  accountHoldingOf,
  holdingOf,
  killOf,
  openOrdersOf,
  pairKey,
  pairOf,
  placesOf,
  hasUnownedFills,
  isShown,
  backedHolding,
} from '../book/book.ts'
import { noteDenied, noteSatisfied } from '../state/changes.ts'
import { ordersOf, totalsOf } from '../state/totals.ts'
import { type Core, specOf } from '../state/core.ts'
import { isQuoteHeld, isUndecided } from '../state/decision-state.ts'
import { exitDueOn, exitStateOf, exitRulesOf } from '../state/exits.ts'
import { clockUnsynchronised, exchangeNow, freshUntil, marketOf } from '../state/market-state.ts'
import { accountAgeMs } from '../state/readings.ts'
import { isPriceGridWrong, waitsAfterRefusal, wasPriceRefused } from '../state/refusals.ts'
import { waitsInSilence } from '../state/silence.ts'
import {
  canEnd,
  isClosedByDaemon,
  isFlattening,
  isFlatteningAll,
  isKilling,
  isRestricted,
  isTrading,
  mayBeRestricted,
  reductionOf,
  restrictedOrders,
  type StrategyReduction,
} from '../state/trading-mode.ts'

export interface InstrumentPlan {
  candidates: OrderCandidate[]
  readonly unwanted: Set<Order>
  readonly stale: Set<Order>
  /** Wishes that wait, since orders like them were refused or prices are missing. */
  waiting: number
  isRestricted: boolean
}

/** A satisfied strategy is passed over until something of the instrument changes. */
export function planInstrument(core: Core, symbol: string): InstrumentPlan {
  const plan: InstrumentPlan = {
    candidates: [],
    unwanted: new Set(),
    stale: new Set(),
    waiting: 0,
    isRestricted: false,
  }
  const { strategies } = core.settings
  const note = isTrading(core) ? core.changes.notes.get(symbol) : undefined
  const isUnchanged = note?.isChanged === false
  const satisfied = new Set(isUnchanged ? note.satisfied : [])
  for (const { id, symbols } of strategies.values()) {
    if (satisfied.has(id) || !symbols.includes(symbol)) continue
    const before = countParts(plan)
    planStrategy(core, symbol, { id, orders: ordersOf(core, id, symbol) }, plan)
    if (countParts(plan) === before) satisfied.add(id)
  }
  if (isUnchanged) noteSatisfied(core.changes, symbol, satisfied)
  // These strategies are not configured any more.
  for (const [id, orders] of totalsOf(core, symbol).orders) {
    if (!strategies.has(id)) for (const order of orders) dismiss(order, plan)
  }
  dismissLateCopies(core, symbol, plan)
  if (plan.stale.size > 0) {
    const stale = new Set([...plan.stale].map(({ terms }) => terms.clientOid))
    plan.candidates = plan.candidates.filter(({ resendOf }) => !resendOf || !stale.has(resendOf))
  }
  return plan
}

/**
 * ORD2: an order is sent again neither after the idempotency window nor while fills wait that may
 * be its own. It is dropped, and so resolved.
 */
function dismissLateCopies(core: Core, symbol: string, plan: InstrumentPlan): void {
  if (!totalsOf(core, symbol).states.has('queued')) return
  const isUnowned = hasUnownedFills(core.book, symbol)
  for (const order of openOrdersOf(core.book, symbol)) {
    if (order.state !== 'queued') continue
    const mayBeFilled = isUnowned && order.attempts > 0
    if (mayBeFilled || !isInsideWindow(order, exchangeNow(core))) plan.stale.add(order)
  }
}

function countParts({ candidates, unwanted, stale, waiting }: InstrumentPlan): number {
  return candidates.length + unwanted.size + stale.size + waiting
}

interface StrategyOrders {
  readonly id: StrategyId
  readonly orders: readonly Order[]
}

function planStrategy(
  core: Core,
  symbol: string,
  strategy: StrategyOrders,
  plan: InstrumentPlan,
): void {
  planQuotes(core, symbol, strategy, plan)
  planTargets(core, symbol, strategy, plan)
  planPlaces(core, symbol, strategy, plan)
  // A stop that leaves orders also leaves these.
  if (!isTrading(core) || !mayBeRestricted(core)) return
  for (const order of restrictedOrders(core, { strategyId: strategy.id, symbol })) {
    plan.isRestricted = true
    dismiss(order, plan)
  }
}

function planQuotes(
  core: Core,
  symbol: string,
  { id, orders }: StrategyOrders,
  plan: InstrumentPlan,
): void {
  const own = orders.filter((order) => order.terms.purpose === 'quote')
  const isWanted = isTrading(core) && !isFlattening(core, symbol, id)
  const levels = isWanted ? (core.book.quotes.get(pairOf(id, symbol)) ?? []) : []
  if (levels.length === 0) {
    for (const order of own) dismiss(order, plan)
    return
  }
  const { missing, extra } = planQuote({
    ...planBasisOf(core, symbol, id),
    levels,
    orders: own,
    holding: holdingOf(core.book, id, symbol),
    isRestricted: mayBeRestricted(core) && isRestricted(core, { strategyId: id, symbol }),
  })
  // Where the strategy must decide first, its ladder is planned again after that.
  if (missing.length > 0 && !isQuoteHeld(core, id, symbol)) addCandidates(core, missing, plan)
  for (const order of extra) dismiss(order, plan)
}

function planBasisOf(core: Core, symbol: string, id: StrategyId): PlanBasis {
  const { bid, ask } = marketOf(core, symbol)
  return {
    strategyId: id,
    instrument: specOf(core, symbol),
    positionMode: core.settings.positionMode,
    bid,
    ask,
    ordinal: core.book.ordinals.get(pairOf(id, symbol)) ?? 0,
    deadlineAt: freshUntil(core, symbol),
  }
}

function planTargets(
  core: Core,
  symbol: string,
  { id, orders }: StrategyOrders,
  plan: InstrumentPlan,
): void {
  const target = targetOf(core, id, symbol)
  const own = orders.filter(
    ({ terms }) => terms.purpose === 'target' || terms.purpose === 'flatten',
  )
  if (target === undefined) {
    for (const order of own) dismiss(order, plan)
    return
  }
  const { takerCollarRatio } = core.settings.execution
  const mustFlatten = isClosedByDaemon(core, symbol, id)
  const purpose = mustFlatten ? 'flatten' : 'target'
  const exit = mustFlatten ? undefined : exitDueOn(core, id, symbol)
  // A flatten and an exit are no wishes of the strategy, and say their own reason.
  const tag = mustFlatten || exit ? undefined : core.book.targetTags.get(pairOf(id, symbol))
  if (!mustFlatten && !exit && isShown(core.book, id, symbol) && isUndecided(core, id, symbol))
    return
  const basis = planBasisOf(core, symbol, id)
  if (!(basis.bid > 0 && basis.ask > 0)) {
    plan.waiting += 1
    return
  }
  // A quarantined order must not prevent a flatten. The strategy's holding is uncertain then, so no
  // more is closed than the account holds.
  const isInQuestion = mustFlatten && own.some(({ state }) => state === 'quarantined')
  const accountHolding = accountHoldingOf(core.book, symbol)
  const holding = heldInPart(core, symbol, id)
  const input: TargetPlanInput = {
    ...basis,
    purpose,
    ...(exit && { exit: exit.kind }),
    ...(tag !== undefined && { tag }),
    target,
    orders: isInQuestion ? own.filter(({ state }) => state !== 'quarantined') : own,
    holding: isInQuestion ? smallerOf(holding, accountHolding) : holding,
    accountHolding,
    backedHolding: backedHolding(core.book, id, symbol),
    takerCollarRatio: mustNameNoPrice(core, { strategyId: id, symbol }, target)
      ? undefined
      : takerCollarRatio,
    orderLotsMax: orderLotsMax(core, id, symbol),
  }
  addCandidates(core, planTarget(input), plan)
  for (const order of staleTargetOrders(input)) plan.stale.add(order)
}

function partOf(core: Core, symbol: string, id: StrategyId): StrategyReduction | undefined {
  if (isFlatteningAll(core, symbol, id)) return undefined
  return reductionOf(core, symbol, id) ?? exitDueOn(core, id, symbol)
}

function heldInPart(core: Core, symbol: string, id: StrategyId): Holding {
  const holding = holdingOf(core.book, id, symbol)
  const reduction = partOf(core, symbol, id)
  if (reduction === undefined) return holding
  return reduction.holdSide === 'long' ? { ...holding, shortLots: 0 } : { ...holding, longLots: 0 }
}

/** Orders like those just refused or not answered wait. */
function addCandidates(
  core: Core,
  candidates: readonly OrderCandidate[],
  plan: InstrumentPlan,
): void {
  const mayBeRefused = core.refusals.size > 0
  const isAnySilent = core.silence.calls.size > 0
  for (const candidate of candidates) {
    const { intent } = candidate
    const waits =
      (mayBeRefused && waitsAfterRefusal(core, intent)) ||
      (isAnySilent && waitsInSilence(core, intent))
    if (waits) plan.waiting += 1
    else plan.candidates.push(core.exits ? withStopAtExchange(core, candidate) : candidate)
  }
}

/**
 * In a fast market the exchange may refuse the limit price of a flatten. Where it refuses the
 * configured grid, an order that only reduces has no price to name.
 */
function mustNameNoPrice(
  core: Core,
  { strategyId, symbol }: { readonly strategyId: StrategyId; readonly symbol: string },
  target: number,
): boolean {
  if (core.refusals.size === 0) return false
  if (isFlattening(core, symbol, strategyId)) return wasPriceRefused(core, strategyId, symbol)
  const net = netLots(holdingOf(core.book, strategyId, symbol))
  const reduces = Math.abs(target) < Math.abs(net) && target * net >= 0
  return reduces && isPriceGridWrong(core, strategyId, symbol)
}

function smallerOf(one: Holding, other: Holding): Holding {
  return {
    longLots: Math.min(one.longLots, other.longLots),
    shortLots: Math.min(one.shortLots, other.shortLots),
  }
}

function orderLotsMax(core: Core, id: StrategyId, symbol: string): number {
  const bySize = core.settings.strategies.get(id)?.limits.get(symbol)?.orderSizeMax ?? 0
  const { lot } = specOf(core, symbol)
  const dearest = marketOf(core, symbol).ask * (1 + core.settings.execution.takerCollarRatio)
  return Math.min(bySize, stepBelow(lot, core.settings.limits.orderNotionalMax / dearest))
}

/**
 * The target is zero during a flatten, and what is kept during a partial close; otherwise exits
 * bound the strategy's own.
 * @returns undefined without a target, and while the account does not trade
 */
function targetOf(core: Core, id: StrategyId, symbol: string): number | undefined {
  if (killOf(core.book) === undefined && isFlattening(core, symbol, id)) {
    const reduction = partOf(core, symbol, id)
    if (reduction === undefined) return 0
    return reduction.holdSide === 'long' ? reduction.keptLots : -reduction.keptLots
  }
  const target = isTrading(core) ? core.book.targets.get(pairOf(id, symbol)) : undefined
  if (target === undefined || core.exits === undefined) return target
  return boundTarget(exitStateOf(core, id, symbol), target, holdingOf(core.book, id, symbol))
}

function planPlaces(
  core: Core,
  symbol: string,
  { id, orders }: StrategyOrders,
  plan: InstrumentPlan,
): void {
  for (const order of orders) {
    if (order.terms.purpose !== 'place') continue
    if (core.book.withdrawn.has(order.terms.clientOid) || isTakenAway(core, symbol, id))
      dismiss(order, plan)
    else if (order.state === 'queued') queueAgain(core, order, plan)
  }
  if (!isTrading(core) || isFlattening(core, symbol, id)) return
  for (const place of placesOf(core.book, id, symbol)) {
    if (!hasOpenOrder(core, place)) addCandidates(core, [{ intent: place }], plan)
  }
}

function isTakenAway(core: Core, symbol: string, id: StrategyId): boolean {
  const { stop } = core.run
  return (
    isKilling(core) ||
    isFlattening(core, symbol, id) ||
    (stop !== undefined && stop.policy !== 'leave')
  )
}

/** The next order of a key waits until its last one has ended. */
function hasOpenOrder({ book }: Core, { strategyId, key, symbol }: OrderIntent): boolean {
  const last = book.keys.get(pairKey(strategyId, key))
  return last !== undefined && (book.open.get(symbol)?.has(last.clientOid) ?? false)
}

function queueAgain(core: Core, order: Order, plan: InstrumentPlan): void {
  const { terms } = order
  if (!isTrading(core) || core.now > terms.deadlineAt) plan.stale.add(order)
  else addCandidates(core, [{ intent: intentOf(terms), resendOf: terms.clientOid }], plan)
}

function dismiss(order: Order, plan: InstrumentPlan): void {
  if (!canEnd(order)) return
  if (order.state === 'queued') plan.stale.add(order)
  else plan.unwanted.add(order)
}

/**
 * An opening order without a stop of its own gets the one that its strategy keeps at the exchange.
 */
function withStopAtExchange(core: Core, candidate: OrderCandidate): OrderCandidate {
  const { intent, resendOf } = candidate
  const { strategyId, symbol, action, lots, ticks, force, stopLossTicks } = intent
  const share = exitRulesOf(core, strategyId)?.stopAtExchange
  const isPlain = resendOf === undefined && !isClosing(action) && stopLossTicks === undefined
  if (share === undefined || !isPlain) return candidate
  const side = tradesAs(action) === 'buy' ? 'long' : 'short'
  const opposite = side === 'long' ? 'shortLots' : 'longLots'
  const isHedge = core.settings.positionMode === 'hedge_mode'
  if (!isHedge && lots <= holdingOf(core.book, strategyId, symbol)[opposite]) return candidate
  const { bid, ask } = marketOf(core, symbol)
  const touch = nearestStep(specOf(core, symbol).tick, side === 'long' ? ask : bid)
  // A resting order fills at its own price, any other near the best one.
  const from = ticks === undefined || force === 'ioc' || force === 'fok' ? touch : ticks
  const level = stopTicks(side, from, -share)
  return level > 0 ? { ...candidate, intent: { ...intent, stopLossTicks: level } } : candidate
}

/**
 * These denials depend neither on other instruments nor on time. So they last until something
 * recorded changes, a new snapshot comes, or data become too old.
 */
const LASTING_CODES: ReadonlySet<DenialCode> = new Set([
  'TRADING_REDUCING',
  'TRADING_HALTED',
  'ENTRY_PAUSED',
  'POSITION_UNEXPLAINED',
  'INSTRUMENT_STATE',
  'DATA_MISSING',
  'DATA_STALE',
  'ACCOUNT_STALE',
  'SIZE_BELOW_MINIMUM',
  'NOTIONAL_BELOW_MINIMUM',
  'ORDER_SIZE_LIMIT',
  'ORDER_NOTIONAL_LIMIT',
  'PRICE_COLLAR',
  'POSITION_LIMIT',
  'POSITION_NOTIONAL_LIMIT',
  'CLOSE_EXCEEDS_POSITION',
])

export function noteLastingDenials(
  core: Core,
  symbol: string,
  denials: readonly Pick<Denial, 'code' | 'key'>[],
): void {
  if (
    isHeldForNow(core) ||
    !denials.every(({ code, key }) => LASTING_CODES.has(code) && key === undefined)
  )
    return
  noteDenied(core.changes, symbol, denialBasisOf(core, symbol))
}

export function isStillDenied(core: Core, symbol: string): boolean {
  const { denied: then, isChanged } = core.changes.notes.get(symbol) ?? {}
  if (then?.snapshot !== core.market.snapshots || isChanged || isHeldForNow(core)) return false
  const now = denialBasisOf(core, symbol)
  return then.isFresh === now.isFresh && then.isAccountFresh === now.isAccountFresh
}

function denialBasisOf(core: Core, symbol: string) {
  const { dataAgeMaxMs, accountAgeMaxMs } = core.settings.limits
  return {
    snapshot: core.market.snapshots,
    isFresh: marketOf(core, symbol).ageMs <= dataAgeMaxMs,
    isAccountFresh: accountAgeMs(core, symbol) <= accountAgeMaxMs,
  }
}

/** A restriction that no record holds, so it may end at any time. */
function isHeldForNow(core: Core): boolean {
  const { run, disputes, readings } = core
  return (
    run.spaceLowSince !== undefined ||
    run.beyondLimit.size > 0 ||
    core.names.search !== undefined ||
    core.names.suspected.size > 0 ||
    disputes.reduced.size > 0 ||
    readings.unreadable.size > 0 ||
    clockUnsynchronised(core) !== undefined
  )
}
